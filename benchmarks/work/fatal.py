"""A task that loses a rank in a collective the first time it runs, and one that must not notice."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

VICTIM = 1


def dies_once(marker: str, number: int, comm: Any) -> tuple[int, float]:
    """Its number times the sum of its ranks, and when it began; at the first attempt one rank kills itself instead.

    The marker file tells the attempts apart and holds the instant of the kill.
    """
    began = time.monotonic()
    if comm.rank == VICTIM and not Path(marker).exists():
        time.sleep(0.02)  # so that the others are inside the collective
        Path(marker).write_text(str(time.monotonic()))
        os.kill(os.getpid(), signal.SIGKILL)
    return number * int(comm.allreduce(comm.rank)), began


def carries_on(log: str, number: int, comm: Any) -> int:
    """Its number plus its ranks. Writes down that each rank started, then talks to its peer for a while."""
    line = f"{number} {comm.rank}\n".encode()
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(file, line)  # one write to a file opened for appending: lines of several ranks do not mix
    finally:
        os.close(file)
    total = 0
    for _ in range(20):
        total = int(comm.allreduce(1))
        time.sleep(0.005)
    return number + total
