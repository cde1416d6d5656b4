"""Rows of a table that move between ranks: those that lie in the table, and those that have arrived since."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy.shuffle.holdings import Ids, Moves
from argosy.shuffle.store import Bytes
from argosy.train.data.columns import Pieces
from argosy.train.data.kernels import take_bits, take_rows
from argosy.train.data.labels import Classes
from argosy.train.data.samples import Buffers, ColumnSamples, Pair, Side


class MovingSamples:
    """This rank's rows, each in a slot: `Samples` by slot, and a `Store` for an exchange.

    A row is one of the table's or one of the memory for arrivals, which is one more piece of each column, so that one
    kernel reads both. A row that has left leaves its memory to the next that arrives; the table stays as it is. There
    is room for `len(samples)` rows and `most_arrivals` more, which is only touched as far as it is used.
    """

    def __init__(self, samples: ColumnSamples, *, most_arrivals: int) -> None:
        """`most_arrivals`: in one exchange, after which those that were sent away are forgotten."""
        num_rows = len(samples)
        room = num_rows + most_arrivals
        inputs = [_with_room(column, room) for column in samples.inputs.columns]
        labels = [_with_room(column, room) for column in samples.labels.columns]
        self._rows = replace(samples, inputs=_side(samples.inputs, inputs), labels=_side(samples.labels, labels))
        self._columns = [*inputs, *labels]
        self._where = np.arange(num_rows, dtype=np.int64)
        """The row in each slot; those from `_table_rows` on have arrived."""
        self._table_rows = num_rows
        self._free = np.empty(0, np.int64)
        self._fresh = num_rows
        """Rows from here on were never used."""
        self._arrived: list[tuple[Ids, Ids]] = []

    # What one rank learns from

    sharded = True

    @property
    def classes(self) -> Classes | None:
        return self._rows.classes

    @property
    def num_classes(self) -> int | None:
        return self._rows.num_classes

    @property
    def features(self) -> tuple[str, ...]:
        return self._rows.features

    @property
    def label(self) -> str | None:
        return self._rows.label

    @property
    def row_nbytes(self) -> int:
        return self._rows.row_nbytes

    def __len__(self) -> int:
        return len(self._where)

    def buffers(self, rows: int, *, pin: bool = False) -> Buffers:
        return self._rows.buffers(rows, pin=pin)

    def batch(self, ids: Ids, into: Buffers | None = None) -> Pair:
        """Those in these slots."""
        return self._rows.batch(self._where[ids], into)

    # Where a rank keeps its samples

    @property
    def sample_nbytes(self) -> int:
        return sum(column.row_nbytes for column in self._columns)

    def sizes(self, slots: Ids) -> Ids:
        return np.full(len(slots), self.sample_nbytes, np.int64)

    def read(self, slots: Ids, sizes: Ids, into: Bytes) -> None:  # noqa: ARG002 - all rows have the same size
        rows = self._where[slots]
        for column, packed in self._by_column(len(slots), into):
            column.read(rows, packed)

    def arrive(self, slots: Ids, sizes: Ids, packed: Bytes) -> None:  # noqa: ARG002
        rows = self._taken(len(slots))
        for column, part in self._by_column(len(slots), packed):
            column.write(rows - self._table_rows, part)
        self._arrived.append((slots, rows))

    def turn(self, moves: Moves) -> None:
        left = self._where[moves.sent]
        self._free = np.concatenate([self._free, left[left >= self._table_rows]])
        self._where[moves.shifted_to] = self._where[moves.shifted]
        for slots, rows in self._arrived:
            self._where[slots] = rows
        self._arrived.clear()

    @property
    def arrivals_nbytes(self) -> int:
        """Of the memory for arrivals, as far as it was ever used."""
        return (self._fresh - self._table_rows) * self.sample_nbytes

    def _by_column(self, count: int, packed: Bytes) -> list[tuple[_Arrivals, Bytes]]:
        """A message has its rows column by column."""
        parts = []
        end = 0
        for column in self._columns:
            begin, end = end, end + count * column.row_nbytes
            parts.append((column, packed[begin:end].reshape(count, column.row_nbytes)))
        return parts

    def _taken(self, count: int) -> Ids:
        """Rows of memory that are free, or else fresh."""
        kept = max(0, len(self._free) - count)
        free, self._free = self._free[kept:], self._free[:kept]
        first = self._fresh
        self._fresh += count - len(free)
        return np.concatenate([free, np.arange(first, self._fresh, dtype=np.int64)])


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Arrivals:
    """A column whose last piece is memory for rows that arrive."""

    column: Pieces
    memory: Bytes
    """A row for each of them; booleans are packed into bits, as they are in the table."""
    row_nbytes: int
    """As it travels."""

    def read(self, rows: Ids, packed: Bytes) -> None:
        column = self.column
        if column.bit_offsets is not None:
            wrong = take_bits(column.addresses, column.starts, rows, column.bit_offsets, packed, 0)
        else:
            like = column.like.view(np.uint8)
            wrong = take_rows(column.addresses, column.starts, rows, self.row_nbytes, like, packed, 0)
        if wrong >= 0:
            raise IndexError(f"row {rows[wrong]} of {len(column)}")

    def write(self, rows: Ids, packed: Bytes) -> None:
        """Rows of the memory. Those around them may be read at the same time."""
        if self.column.bit_offsets is None:
            self.memory[rows] = packed
            return
        places = (rows & 7).astype(np.uint8)
        np.bitwise_and.at(self.memory, rows >> 3, ~(np.uint8(1) << places))
        np.bitwise_or.at(self.memory, rows >> 3, packed[:, 0] << places)


def _with_room(column: Any, room: int) -> _Arrivals:
    assert isinstance(column, Pieces), "columns of a table are"
    bits = column.bit_offsets
    row_nbytes = 1 if bits is not None else prod(column.shape) * column.like.itemsize
    memory: NDArray[np.uint8]
    memory = np.empty((room + 7) // 8, np.uint8) if bits is not None else np.empty((room, row_nbytes), np.uint8)
    both = replace(
        column,
        addresses=np.append(column.addresses, np.uint64(memory.ctypes.data)),
        starts=np.append(column.starts, column.starts[-1] + room),
        bit_offsets=None if bits is None else np.append(bits, 0),
        owner=(column.owner, memory),
    )
    return _Arrivals(column=both, memory=memory, row_nbytes=row_nbytes)


def _side(side: Side, columns: list[_Arrivals]) -> Side:
    return replace(side, columns=tuple(column.column for column in columns))
