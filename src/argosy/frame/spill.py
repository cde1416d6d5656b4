"""Rows on disk: blocks of Arrow IPC, each with a checksum, in a file that vanishes with this process."""

from __future__ import annotations

import os
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from argosy.errors import BadFile, DiskFull, disk_is_full
from argosy.units import format_nbytes

_BLOCK_NBYTES = 4 << 20


class _Block(NamedTuple):
    at: int
    nbytes: int
    checksum: int
    first_row: int
    num_rows: int


class Spool:
    """Tables of one schema, appended and read again by row. The file has no name, so nothing is left after a crash."""

    def __init__(self, folder: Path, schema: pa.Schema, block_nbytes: int = _BLOCK_NBYTES) -> None:
        """`block_nbytes`: what is read at least; whoever reads short ranges wants small blocks."""
        self.schema = schema
        self.num_rows = 0
        self.nbytes = 0
        """In memory."""
        self._folder = folder
        self._block_nbytes = block_nbytes
        self._blocks: list[_Block] = []
        self._end = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = tempfile.TemporaryFile(dir=folder, prefix="spill-", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise self._say(error) from error
        weakref.finalize(self, self._file.close)  # also when an error leaves it half used

    def append(self, table: pa.Table) -> None:
        if table.num_rows == 0:
            return
        rows_per_block = max(1, int(self._block_nbytes * table.num_rows / max(table.nbytes, 1)))
        for start in range(0, table.num_rows, rows_per_block):
            self._append(table.slice(start, rows_per_block))
        self.nbytes += table.nbytes

    def read(self, start: int = 0, stop: int | None = None) -> pa.Table:
        """Rows `start` to `stop`."""
        return pa.concat_tables([self.schema.empty_table(), *self.blocks(start, stop)])

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[pa.Table]:
        """The same, a few megabytes at a time."""
        stop = self.num_rows if stop is None else stop
        firsts = [block.first_row for block in self._blocks]
        index = max(int(np.searchsorted(firsts, start, "right")) - 1, 0)
        for block in self._blocks[index:]:
            if block.first_row >= stop:
                return
            skip = max(start - block.first_row, 0)
            table = self._load(block).slice(skip, min(stop - block.first_row, block.num_rows) - skip)
            if table.num_rows:
                yield table

    def close(self) -> None:
        self._file.close()
        self._blocks = []

    def _append(self, table: pa.Table) -> None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        block = sink.getvalue()
        try:
            view = memoryview(block)
            done = 0
            while done < len(view):
                done += os.pwrite(self._file.fileno(), view[done:], self._end + done)
        except OSError as error:
            raise self._say(error) from error
        self._blocks.append(_Block(self._end, len(view), zlib.crc32(view), self.num_rows, table.num_rows))
        self._end += len(view)
        self.num_rows += table.num_rows

    def _load(self, block: _Block) -> pa.Table:
        data = bytearray(block.nbytes)
        done = os.preadv(self._file.fileno(), [data], block.at)
        if done != block.nbytes or zlib.crc32(data) != block.checksum:
            raise BadFile(str(self._folder), f"{block.nbytes} spilled bytes did not come back as they were written")
        return pa.ipc.open_stream(pa.py_buffer(data)).read_all()

    def _say(self, error: OSError) -> Exception:
        if disk_is_full(error):
            return DiskFull(
                str(self._folder), f"spilling rows (ARGOSY_SPILL names the folder) after {format_nbytes(self._end)}"
            )
        return BadFile(str(self._folder), f"rows cannot be spilled there: {error.strerror}")
