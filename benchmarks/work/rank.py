"""One rank of a benchmark of `shuffle`: its group, what it was told, and its answer."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER, RANK, NUM_RANKS = "ARGOSY_RANKS_FOLDER", "RANK", "WORLD_SIZE"
ANSWER = "answer-"


def run(main: Callable[..., Any]) -> None:
    """`main(rank, num_ranks, ...)` in a gloo group, with one thread; what it returns is the answer."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    folder, rank, num_ranks = Path(os.environ[FOLDER]), int(os.environ[RANK]), int(os.environ[NUM_RANKS])
    dist.init_process_group("gloo", init_method=f"file://{folder / 'group'}", rank=rank, world_size=num_ranks)
    answer = main(rank, num_ranks, **json.loads(sys.argv[1]))
    (folder / f"{ANSWER}{rank}").write_text(json.dumps(answer))
    dist.destroy_process_group()
