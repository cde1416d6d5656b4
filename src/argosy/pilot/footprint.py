"""How much memory processes take that is theirs: what would be free if they ended.

Files that are mapped, and so the code of libraries, do not count: the system drops their pages when it wants memory.
Pages that several processes share, after a fork or in shared memory, count for each with its share.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def at_most_nbytes(pid: int) -> int:
    """Quick: some 20 µs. Shared pages count whole. 0 when there is no such process."""
    return _sum(_read(f"/proc/{pid}/status"), (b"RssAnon", b"RssShmem", b"VmSwap"))


def fair_nbytes(pid: int) -> int:
    """Slow: a millisecond for each hundred MB or so."""
    said = _read(f"/proc/{pid}/smaps_rollup")
    if b"Pss_Anon" not in said:  # an old system, or one that does not tell
        return at_most_nbytes(pid)
    return _sum(said, (b"Pss_Anon", b"Pss_Shmem", b"SwapPss"))


def descendants(pid: int, since: int = 0) -> list[int]:
    """Processes below this one that were started since then."""
    found: list[int] = []
    todo = [pid]
    while todo:
        above = todo.pop()
        for thread in _threads(above):
            below = [int(word) for word in _read(f"{thread}/children").split()]
            todo += below
            found += below
    return [below for below in found if _started(below) >= since]


def clock() -> int:
    """Now, in the clock in which the system says when a process was started."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS)


def _threads(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []


def _started(pid: int) -> int:
    said = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return int(said[19]) if len(said) > 19 else -1


def _sum(text: bytes, names: tuple[bytes, ...]) -> int:
    """Of lines like `RssAnon:   1234 kB`."""
    total = 0
    for line in text.splitlines():
        name, _, rest = line.partition(b":")
        if name in names:
            total += int(rest.split()[0]) * 1024
    return total


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""  # it has ended, or the system does not tell
