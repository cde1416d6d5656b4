"""One column of a persisted frame on this rank: Arrow values over memory of its own, in RAM or in a mapped file."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import pyarrow as pa

from argosy.memory.tiers.ram import Ram
from argosy.memory.tiers.tier import Block, Tier

Parts: TypeAlias = Callable[[], Iterable[pa.Table]]
"""The rows of one column, part by part; may be asked for again."""
Range: TypeAlias = tuple[int, int]
"""Addresses, from and to."""


class Column:
    """Values that others took stay valid when the column moves or is gone: they hold the memory that they lie in."""

    def __init__(self, field: pa.Field, values: pa.ChunkedArray, block: Block | None = None, tier: str = "ram") -> None:
        """Without a block the values lie where they were made, in RAM."""
        self.field = field
        self.nbytes = int(values.nbytes)
        self.uses = 0
        """Operations that read it so far."""
        self.stays = False
        """The other tier had no room for it once, and it is not moved any more."""
        self._hold(values, block, tier)

    def _hold(self, values: pa.ChunkedArray, block: Block | None, tier: str) -> None:
        self.values = values
        self.tier = tier
        self._block = block
        self._free = None if block is None else weakref.finalize(self, block.free)

    @property
    def on_disk(self) -> bool:
        return self.tier == "disk"

    @property
    def nbytes_in_ram(self) -> int:
        return 0 if self.on_disk else self.nbytes

    @property
    def mapped(self) -> list[Range]:
        """The addresses of its file, where it has one."""
        if not self.on_disk or self._block is None:
            return []
        start = self._block.open().ctypes.data
        return [(start, start + self._block.nbytes)]

    def move(self, tier: Tier) -> None:
        """Raises `TierFull` where there is no room: the column stays as it was."""
        free = self._free
        values, block = stow(self.field, lambda: [pa.table([self.values], schema=pa.schema([self.field]))], tier)
        self._hold(values, block, tier.name)
        if free is not None:
            free()

    def rest(self) -> None:
        """Drop the pages of a column on disk; they come back when they are read."""
        if self.on_disk and self._block is not None:
            self._block.rest(written=False)


def stow(field: pa.Field, parts: Parts, tier: Tier) -> tuple[pa.ChunkedArray, Block]:
    """The column copied into the tier, as an Arrow stream that is read where it lies. Chunks stay as they are, and so
    do their dictionaries. Cost: no more memory than one part beside the block."""
    schema = pa.schema([field])
    counted = pa.MockOutputStream()
    _write(counted, schema, parts())
    block = tier.hold(int(counted.size()))
    try:
        _write(pa.FixedSizeBufferWriter(pa.py_buffer(block.open())), schema, parts())
        values = pa.ipc.open_stream(pa.py_buffer(block.open())).read_all().column(0)
        block.rest(written=True)
        return values, block
    except BaseException:
        block.free()
        raise


def _write(sink: pa.NativeFile, schema: pa.Schema, parts: Iterable[pa.Table]) -> None:
    with pa.ipc.new_stream(sink, schema) as writer:
        for part in parts:
            writer.write_table(part)


def in_ram(field: pa.Field, values: pa.ChunkedArray, mapped: Sequence[Range]) -> pa.ChunkedArray:
    """The values; a copy of them in RAM where they may lie at one of these addresses, which are those of files."""
    if not _lies_in(values, mapped):
        return values
    copied, _ = stow(field, lambda: [pa.table([values], schema=pa.schema([field]))], Ram())
    return copied


def _lies_in(values: pa.ChunkedArray, ranges: Sequence[Range]) -> bool:
    """Dictionaries are not looked into: they may."""
    if not ranges:
        return False
    if _has_dictionary(values.type):
        return True
    return any(start <= at < stop for at in _addresses(values) for start, stop in ranges)


def _addresses(values: pa.ChunkedArray) -> Iterator[int]:
    return (buffer.address for chunk in values.chunks for buffer in chunk.buffers() if buffer is not None)


def _has_dictionary(kind: pa.DataType) -> bool:
    inside = [kind.field(at).type for at in range(kind.num_fields)]
    return bool(pa.types.is_dictionary(kind)) or any(map(_has_dictionary, inside))
