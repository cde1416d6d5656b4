"""Ranks of a script in `work/`: plain processes with a gloo group, and what each of them answered."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from children import HERE, Child, ChildFailed, child
from work.rank import ANSWER, FOLDER, NUM_RANKS, RANK


def on_ranks(num_ranks: int, script: str, **told: Any) -> list[Any]:
    """What each rank answered; all of them must come to a good end. `told` are the arguments of the script's `main`."""
    statuses, answers, words = _run(num_ranks, script, told, stop_at_failure=True)
    if any(statuses):
        said = "\n".join(f"rank {rank}: {words[rank]}" for rank in range(num_ranks) if statuses[rank])
        raise ChildFailed(f"{script} on {num_ranks} ranks ended with {statuses}\n{said}")
    return answers


def until_all_end(num_ranks: int, script: str, **told: Any) -> list[int]:
    """The exit status of each rank, where some may be killed."""
    return _run(num_ranks, script, told, stop_at_failure=False)[0]


def _run(
    num_ranks: int, script: str, told: dict[str, Any], *, stop_at_failure: bool, limit_seconds: float = 900
) -> tuple[list[int], list[Any], list[str]]:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        command = [sys.executable, str(HERE / "work" / f"{script}.py"), json.dumps(told)]
        ranks = []
        for rank in range(num_ranks):
            extra = {FOLDER: folder, RANK: str(rank), NUM_RANKS: str(num_ranks)}
            ranks.append(stack.enter_context(child(command, extra=extra)))
        statuses = _wait(ranks, stop_at_failure, limit_seconds)
        answers = [_answer(Path(folder) / f"{ANSWER}{rank}") for rank in range(num_ranks)]
        return statuses, answers, [one.last_words() for one in ranks]


def _wait(ranks: Sequence[Child], stop_at_failure: bool, limit_seconds: float) -> list[int]:
    """Of a rank that was not waited for, as another one had failed, the status is 0."""
    deadline = time.monotonic() + limit_seconds
    while True:
        statuses = [one.process.poll() for one in ranks]
        if None not in statuses or (stop_at_failure and any(statuses)):
            return [status or 0 for status in statuses]
        if time.monotonic() > deadline:
            words = "\n".join(one.last_words() for one in ranks)
            raise ChildFailed(f"no end after {limit_seconds:.0f} s, statuses {statuses}\n{words}")
        time.sleep(0.02)


def _answer(path: Path) -> Any:
    return json.loads(path.read_text()) if path.exists() else None
