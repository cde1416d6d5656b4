"""Compile all kernels ahead, once on a machine, on several cores, and say so."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

from argosy.frame.kernels import cache

if TYPE_CHECKING:
    from rich.progress import Progress

_MOST_WORKERS = 4
_compiling = threading.Lock()


def prepare() -> None:
    """Returns at once when they are there. Shows a progress line on a terminal, one plain line elsewhere."""
    if cache.is_ready():
        return
    with _compiling:
        if not cache.is_ready():  # now, after another thread's turn
            _compile_all()


def _compile_all() -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    num_workers = min(_MOST_WORKERS, len(os.sched_getaffinity(0)))
    console = Console(stderr=True)
    if not console.is_terminal:
        console.print("argosy: compiling its kernels, once on this machine (some ten seconds)")
    columns = (
        TextColumn("compiling kernels, once on this machine"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        command = [sys.executable, "-m", "argosy.frame.kernels", str(num_workers)]
        workers = [
            subprocess.Popen([*command, str(index)], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
            for index in range(num_workers)
        ]
        try:
            _follow(workers, progress)
        finally:
            for worker in workers:
                worker.kill()
                worker.__exit__(None, None, None)
    if any(worker.wait() for worker in workers):
        console.print("argosy: some kernels could not be compiled ahead; they will be when they are first used")
        return
    cache.set_ready()


def _follow(workers: list[subprocess.Popen[str]], progress: Progress) -> None:
    """Each worker says how many it has, then a line for each one done. The shares are about equal."""
    bars = {worker.pid: progress.add_task("", total=None, visible=index == 0) for index, worker in enumerate(workers)}
    for worker in workers:
        assert worker.stdout is not None
        total = int(worker.stdout.readline() or 0)
        progress.update(bars[worker.pid], total=total)
        for _ in worker.stdout:
            progress.advance(bars[worker.pid])
        worker.wait()
