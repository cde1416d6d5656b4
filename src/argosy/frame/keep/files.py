"""Where columns go on disk, and how many may."""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path

from argosy.errors import NoTier, TierFull
from argosy.memory.tiers.disk import Disk

_PART = 4
"""Columns on disk, of which each takes two open files, may be one in so many of those that this process may open."""


def disk_at(folder: Path) -> Disk:
    """`$ARGOSY_SPILL` where that is set; else the folder, or where that is in memory, the usual places on a disk."""
    named = os.environ.get("ARGOSY_SPILL")
    place = Path(named) if named else folder
    with contextlib.suppress(OSError):  # the tier says why it cannot be used
        place.mkdir(parents=True, exist_ok=True)
    disk = Disk(place)
    if named:
        return disk
    try:
        disk.check()
    except NoTier:
        return Disk()
    return disk


def require_files(num_columns: int) -> None:
    """Raises `TierFull` if another column beside so many would take too many of this process's open files."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and num_columns >= most // _PART:
        raise TierFull(
            f"{num_columns} columns are on disk, and each keeps two files open, of which this process may have {most}; "
            "persist fewer columns, or allow more with `ulimit -n`"
        )
