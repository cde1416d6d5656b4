"""The file of one rank: its share of what all ranks hold, then what it alone holds.

    share of the shared stream | description of its own state, as JSON | stream of its own state

Each of the three sections is a multiple of the alignment long, so that every byte is under a checksum.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from argosy.train.checkpoint.checksum import Checksum
from argosy.train.checkpoint.contents import WRONG, Contents, Packed, from_plain, to_plain
from argosy.train.checkpoint.layout import ALIGN, aligned, pieces, total
from argosy.train.checkpoint.leaves import CHUNK_NBYTES, Room, chunks

_BUFFER_NBYTES = 1 << 20


class Damaged(Exception):
    """A checkpoint is not whole; says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    nbytes: int
    crc: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What a rank's file must be."""

    file: str
    shared: Section
    described: Section
    own: Section

    @property
    def nbytes(self) -> int:
        return self.shared.nbytes + self.described.nbytes + self.own.nbytes


def write_part(path: Path, shared: Packed, stretch: tuple[int, int], own: Packed | None) -> Part:
    """Writes the file through to the disk. Extra memory: a buffer, and the largest tensor that has strides."""
    with path.open("xb", buffering=_BUFFER_NBYTES) as file, Checksum() as checksum:
        sections = [
            _write(file, checksum, _stream(shared, *stretch)),
            _write(file, checksum, [_description(own)]),
            _write(file, checksum, _stream(own, 0, total(own.contents.sizes)) if own else ()),
        ]
        file.flush()
        os.fsync(file.fileno())
    return Part(file=path.name, shared=sections[0], described=sections[1], own=sections[2])


def _write(file: BinaryIO, checksum: Checksum, stream: Iterable[memoryview]) -> Section:
    nbytes = 0
    for data in stream:
        checksum.add(data)
        file.write(data)
        nbytes += len(data)
    return Section(nbytes=nbytes, crc=checksum.take())


def _stream(packed: Packed, low: int, high: int) -> Iterator[memoryview]:
    for piece in pieces(packed.contents.sizes, low, high):
        if piece.leaf is None:
            yield memoryview(bytes(piece.stop - piece.start))
        else:
            yield from chunks(packed.leaves[piece.leaf], piece.start, piece.stop)


def _description(own: Packed | None) -> memoryview:
    if own is None:
        return memoryview(b"")
    text = json.dumps(to_plain(own.contents), separators=(",", ":")).encode()
    return memoryview(text.ljust(aligned(len(text))))


def read_part(path: Path, part: Part, shared: Contents, rooms: list[Room], low: int, *, with_own: bool) -> Any:
    """Fills the stretch of the shared state that begins at `low`; returns the rank's own state if it is asked for.

    Raises Damaged if a size or a checksum is not as it should be; what was filled until then is worth nothing.
    """
    if not path.is_file():
        raise Damaged(f"{part.file} is missing")
    with path.open("rb", buffering=0) as file, Checksum() as checksum:
        if (nbytes := os.fstat(file.fileno()).st_size) != part.nbytes:
            raise Damaged(f"{part.file} has {nbytes} bytes where {part.nbytes} were written")
        _read(file, checksum, part.shared, _views(shared, rooms, low, low + part.shared.nbytes), part.file)
        if not with_own or part.described.nbytes == 0:
            return None
        described = bytearray(part.described.nbytes)
        _read(file, checksum, part.described, [memoryview(described)], part.file)
        try:
            own = from_plain(json.loads(described))
            if total(own.sizes) != part.own.nbytes:
                raise ValueError(f"{total(own.sizes)} bytes where there are {part.own.nbytes}")
            own_rooms = own.rooms()
            _read(file, checksum, part.own, _views(own, own_rooms, 0, part.own.nbytes), part.file)
            return own.rebuilt(own_rooms)
        except WRONG as error:
            raise Damaged(f"{part.file} says what no rank says: {type(error).__name__}: {error}") from error


def _views(contents: Contents, rooms: list[Room], low: int, high: int) -> Iterator[memoryview]:
    for piece in pieces(contents.sizes, low, high):
        if piece.leaf is None:
            yield memoryview(bytearray(ALIGN))[: piece.stop - piece.start]
            continue
        for at in range(piece.start, piece.stop, CHUNK_NBYTES):
            yield rooms[piece.leaf].view[at : min(at + CHUNK_NBYTES, piece.stop)]


def _read(file: Any, checksum: Checksum, section: Section, views: Iterable[memoryview], name: str) -> None:
    for view in views:
        filled = 0
        while filled < len(view):
            if not (count := file.readinto(view[filled:])):
                raise Damaged(f"{name} ends too early")
            filled += count
        checksum.add(view)
    if checksum.take() != section.crc:
        raise Damaged(f"{name} has another checksum than what was written")
