"""Large cargo between the processes of one machine: files, in memory where there is room, written once and mapped.

A socket encrypts and copies what goes through it, at some 0.2 GB/s; a file in memory takes one copy in and none out.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from argosy.pilot import private
from argosy.pilot.mapping import map_file

LARGE_NBYTES = 128 * 1024
"""From here on a file costs less than the socket."""
_MAPPED_NBYTES = 1024 * 1024
"""Smaller files are read: a process may have some 65,000 mappings."""
_ALIGNMENT = 64
"""What kernels over Arrow's buffers like best."""


class Box(NamedTuple):
    """A packed value in a file: what pickle made of it, and behind that the buffers it left out."""

    path: str
    lengths: tuple[int, ...]

    def open(self) -> list[memoryview]:
        """Its parts. They outlive the file, and what is written to them nobody else sees."""
        *starts, end = _offsets(self.lengths)
        descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            if (there := os.fstat(descriptor).st_size) < end:  # to touch a mapping beyond the end kills a process
                raise OSError(f"{self.path} ends after {there} of {end} bytes")
            whole = map_file(descriptor, end) if end >= _MAPPED_NBYTES else _read(descriptor, end)
        finally:
            os.close(descriptor)
        return [whole[start : start + length] for start, length in zip(starts, self.lengths, strict=True)]


class Parcel:
    """A box that belongs to this process: its file goes when nobody holds the parcel any more."""

    __slots__ = ("_creator", "_parts", "box")

    def __init__(self, box: Box) -> None:
        self.box = box
        self._parts: list[memoryview] | None = None
        self._creator = os.getpid()

    def open(self) -> list[memoryview]:
        """Its parts, always the same ones. Once it was opened the file may go, as it does when the pilot ends."""
        if self._parts is None:
            self._parts = self.box.open()
        return self._parts

    def __del__(self) -> None:
        if os.getpid() == self._creator:  # not in the child of a fork
            Path(self.box.path).unlink(missing_ok=True)


def receive(payload: bytes | Box) -> bytes | Parcel:
    """What came from another process. A box is ours from now on, and opened at once: its file goes with the pilot."""
    if not isinstance(payload, Box):
        return payload
    parcel = Parcel(payload)
    with contextlib.suppress(OSError):  # whoever unpacks it finds the same, and can say whose value is lost
        parcel.open()
    return parcel


def label(packed: bytes | Parcel) -> bytes | Box:
    """What is sent to another process, which may open it as long as the parcel is held."""
    return packed.box if isinstance(packed, Parcel) else packed


class Shelf:
    """Folders that the user's process and its ranks share."""

    def __init__(self, folders: Sequence[str | Path]) -> None:
        self.folders = [Path(folder) for folder in folders]

    def put(self, parts: Sequence[bytes | memoryview]) -> Box | None:
        """The parts in a file, or None when there is no room for them. Somebody must make a `Parcel` of it."""
        lengths = tuple(len(part) for part in parts)
        *starts, end = _offsets(lengths)
        for folder in self.folders:
            try:
                if free_nbytes(folder) < 2 * end:  # others want some of it too
                    continue
                descriptor = os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600)  # gone if we die
                try:
                    for start, part in zip(starts, parts, strict=True):
                        _write(descriptor, part, start)
                    os.truncate(descriptor, end)
                    path = folder / uuid.uuid4().hex
                    # Any folder's descriptor will do: with one, Python follows the link that leads to our file.
                    os.link(f"/proc/self/fd/{descriptor}", path, src_dir_fd=descriptor)
                finally:
                    os.close(descriptor)
            except OSError:
                continue  # it is full, or its file system cannot do this
            return Box(str(path), lengths)
        return None


def make_folders(places: Sequence[Path]) -> list[Path]:
    """One in each of these folders on this machine, the best first."""
    if not hasattr(os, "O_TMPFILE"):
        return []
    made = [place / "cargo" for place in places]
    for folder in made:
        private.make_folder(folder)
    return made


def _offsets(lengths: Sequence[int]) -> Iterator[int]:
    """Where each part starts, and where the last one ends."""
    offset = end = 0
    for length in lengths:
        yield offset
        end = offset + length
        offset = -(-end // _ALIGNMENT) * _ALIGNMENT
    yield end


def free_nbytes(folder: Path) -> int:
    there = os.statvfs(folder)
    return there.f_bavail * there.f_frsize


def _write(descriptor: int, part: bytes | memoryview, offset: int) -> None:
    view = memoryview(part)
    while len(view):
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written


def _read(descriptor: int, nbytes: int) -> memoryview:
    into = memoryview(bytearray(nbytes))
    read = 0
    while read < nbytes:
        got = os.readv(descriptor, [into[read:]])
        if got == 0:
            raise OSError(f"the file ends after {read} of {nbytes} bytes")
        read += got
    return into
