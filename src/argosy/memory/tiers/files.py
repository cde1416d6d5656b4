"""Files without a name, with their place on disk reserved, and those that wait for the next object of their size."""

from __future__ import annotations

import os
import tempfile
import weakref
from pathlib import Path

SPARE_FILES = 4
"""Of each size."""


class File:
    """A file without a name, whose place on disk is reserved. It ends when nobody holds it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.close = weakref.finalize(self, os.close, number)


def reserved(nbytes: int, folder: Path) -> File:
    """At once, so that a full disk shows here and not by a signal."""
    with tempfile.TemporaryFile(dir=folder, buffering=0) as named_by_nobody:
        file = File(os.dup(named_by_nobody.fileno()))
    try:
        os.posix_fallocate(file.number, 0, max(nbytes, 1))
    except OSError:
        file.close()
        raise
    return file


class Spare:
    """Files that were freed, for the next object of their size: a move back and forth neither reserves nor gives back
    room on the disk, which is slow, and goes on in the background while others are timed."""

    def __init__(self) -> None:
        self._files: dict[int, list[File]] = {}

    def keep(self, nbytes: int, file: File) -> None:
        kept = self._files.setdefault(nbytes, [])
        if len(kept) < SPARE_FILES:
            kept.append(file)
        else:
            file.close()

    def drop(self) -> bool:
        """All of them. Were there any?"""
        files = [file for kept in self._files.values() for file in kept]
        self._files.clear()
        for file in files:
            file.close()
        return bool(files)

    def take(self, nbytes: int) -> File | None:
        kept = self._files.get(nbytes)
        return kept.pop() if kept else None
