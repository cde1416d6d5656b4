"""Real ranks for tests: processes with a gloo group, forked from a process that has loaded torch."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import cloudpickle

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["torch.distributed", "torch.utils.data", "argosy.shuffle.partial_exchange"])


class RankFailed(Exception):
    pass


def on_ranks(num_ranks: int, action: Callable[..., Any], *args: Any, may_die: bool = False) -> list[Any]:
    """What `action(rank, num_ranks, *args)` returns on each rank. With `may_die` a rank that was killed gives None."""
    cloudpickle.register_pickle_by_value(sys.modules[action.__module__])  # ranks cannot import tests
    call = cloudpickle.dumps((action, args))
    with tempfile.TemporaryDirectory() as folder:
        pipes, processes = [], []
        for rank in range(num_ranks):
            ours, theirs = _forks.Pipe(duplex=False)
            process = _forks.Process(target=_rank, args=(theirs, rank, num_ranks, folder, call))
            process.start()
            theirs.close()
            pipes.append(ours)
            processes.append(process)
        try:
            return [_result(pipe, rank, may_die) for rank, pipe in enumerate(pipes)]
        finally:
            for process in processes:
                _end(process)


def _end(process: Any) -> None:
    """With all that it started: a loader's worker outlives a rank that was killed where a fork server made it."""
    for ended in (process.kill, partial(os.killpg, process.pid, signal.SIGKILL)):
        with suppress(ProcessLookupError):  # it had no time to found a group, or nobody is left in it
            ended()
    process.join()


def _result(pipe: Connection, rank: int, may_die: bool) -> Any:
    if not wait([pipe], timeout=50):
        raise RankFailed(f"rank {rank} did not end in 50 s")
    try:
        kind, value = pipe.recv()
    except EOFError:
        if may_die:
            return None
        raise RankFailed(f"rank {rank} died") from None
    if kind == "failed":
        raise RankFailed(f"rank {rank}:\n{value}")
    return value


def _rank(pipe: Connection, rank: int, num_ranks: int, folder: str, call: bytes) -> None:
    import torch
    import torch.distributed as dist

    os.setpgid(0, 0)
    torch.set_num_threads(1)
    try:
        action, args = cloudpickle.loads(call)
        if num_ranks > 1:
            file = Path(folder) / "store"
            dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=num_ranks)
        pipe.send(("returned", action(rank, num_ranks, *args)))
    except BaseException:
        pipe.send(("failed", traceback.format_exc()))
    pipe.close()
    os._exit(0)
