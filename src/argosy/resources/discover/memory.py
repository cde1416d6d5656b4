"""How much memory this process may use: of the machine, and of the control groups that hold it.

A group may have a limit, and so may each group around it: the least counts, at whichever height it is. A container or a
batch job is such a group, and the machine's own figures do not know of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

import psutil

_NO_LIMIT_V1 = 1 << 62
"""The first version writes the largest number there is, less than a page, where there is no limit."""

Read = Callable[[str], str | None]
"""The text of a file; None where there is none or it may not be read."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Of one control group."""

    nbytes: int
    used_nbytes: int
    """Without pages of files that have not been used for a while: the system drops them when memory is wanted."""

    @property
    def left_nbytes(self) -> int:
        return max(self.nbytes - self.used_nbytes, 0)


def memory_nbytes() -> int:
    """Memory of the machine, or of the control groups that hold this process, if that is less."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([total, *(limit.nbytes for limit in _limits(_groups_here(), _read))])


def available_nbytes() -> int:
    """What can be used before the machine swaps, or before a control group ends a process of its."""
    free = int(psutil.virtual_memory().available)
    return min([free, *(limit.left_nbytes for limit in _limits(_groups_here(), _read))])


def limits(read: Read) -> list[Limit]:
    """Of every control group that holds this process, those around it included; none where there is no limit."""
    return _limits(groups(read("/proc/self/cgroup") or "", read("/proc/self/mountinfo") or ""), read)


def groups(cgroup: str, mountinfo: str) -> list[tuple[PurePosixPath, int]]:
    """The folder of each group that has a say on memory, from the innermost outwards, and which version it is of."""
    return list(_groups(cgroup, mountinfo))


def _limits(groups: Iterable[tuple[PurePosixPath, int]], read: Read) -> list[Limit]:
    found = (_limit_v2(folder, read) if version == 2 else _limit_v1(folder, read) for folder, version in groups)
    return [limit for limit in found if limit is not None]


@cache
def _groups_here() -> list[tuple[PurePosixPath, int]]:
    """Once a process: a batch system puts a job into its groups before it starts it."""
    return groups(_read("/proc/self/cgroup") or "", _read("/proc/self/mountinfo") or "")


def _groups(cgroup: str, mountinfo: str) -> Iterator[tuple[PurePosixPath, int]]:
    mounts = list(_mounts(mountinfo))
    for line in cgroup.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        version = 2 if number == "0" and not controllers else 1
        if version == 1 and "memory" not in controllers.split(","):
            continue
        for mount in mounts:
            if mount.version == version:
                yield from ((folder, version) for folder in mount.up_from(PurePosixPath(path)))


@dataclass(frozen=True, slots=True)
class _Mount:
    """Where a hierarchy, or the part of it below `root`, can be read."""

    point: PurePosixPath
    root: PurePosixPath
    version: int

    def up_from(self, path: PurePosixPath) -> Iterator[PurePosixPath]:
        """A path that is not below the root is one that this container cannot see: then its top is all there is."""
        inside = path.relative_to(self.root).parts if path.is_relative_to(self.root) else ()
        inside = () if ".." in inside else inside
        for depth in range(len(inside), -1, -1):
            yield self.point.joinpath(*inside[:depth])


def _mounts(mountinfo: str) -> Iterator[_Mount]:
    """Lines are `id parent device root point options ... - kind source options`."""
    for line in mountinfo.splitlines():
        before, dash, after = line.partition(" - ")
        head, tail = before.split(), after.split()
        if not dash or len(head) < 5 or len(tail) < 2:
            continue
        root, point = (PurePosixPath(_unescaped(text)) for text in head[3:5])
        if tail[0] == "cgroup2":
            yield _Mount(point, root, 2)
        elif tail[0] == "cgroup" and "memory" in tail[-1].split(","):
            yield _Mount(point, root, 1)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(\d{3})", lambda found: chr(int(found[1], 8)), text)


def _limit_v2(folder: PurePosixPath, read: Read) -> Limit | None:
    """`memory.high` counts as well: a process above it is held up until it hardly moves."""
    texts = (read(f"{folder}/memory.max"), read(f"{folder}/memory.high"))
    amounts = [nbytes for text in texts if (nbytes := _number(text)) is not None]
    if not amounts:
        return None
    used = _used(read(f"{folder}/memory.current"), read(f"{folder}/memory.stat"), "inactive_file")
    return Limit(min(amounts), used)


def _limit_v1(folder: PurePosixPath, read: Read) -> Limit | None:
    nbytes = _number(read(f"{folder}/memory.limit_in_bytes"))
    if nbytes is None or nbytes >= _NO_LIMIT_V1:
        return None
    used = _used(read(f"{folder}/memory.usage_in_bytes"), read(f"{folder}/memory.stat"), "total_inactive_file")
    return Limit(nbytes, used)


def _used(usage: str | None, stat: str | None, droppable: str) -> int:
    amounts = dict(line.split()[:2] for line in (stat or "").splitlines() if len(line.split()) >= 2)
    return max((_number(usage) or 0) - (_number(amounts.get(droppable)) or 0), 0)


def _number(text: str | None) -> int | None:
    """None for `max`, which is no limit, for -1, which is none either, and for what is not there."""
    word = (text or "").strip()
    return int(word) if word.isdigit() else None


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
