"""Where a scan takes its rows from: a schema, and pieces that any rank can read on its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from argosy.frame.expressions.nodes import Expr

KeyValue = int | str | None
"""The value of a hive key: what stands behind `year=` in the name of a folder."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """Rows of one file that one rank reads: the unit in which files are shared out.

    `start` and `stop` count row groups (Parquet), record batches (Arrow IPC files) or bytes (CSV, JSON); the piece goes
    up to `stop`, which is not part of it.
    """

    path: str
    start: int
    stop: int
    num_rows: int | None
    """None where only reading the piece could tell."""
    nbytes: int
    """Estimate of what all its columns take as an Arrow table."""
    column_names: tuple[str, ...] = ()
    column_nbytes: tuple[int, ...] = ()
    """The estimate for each of `column_names`; both are empty where a file does not tell."""
    keys: tuple[tuple[str, KeyValue], ...] = ()
    """The hive keys of the folders that the file lies in."""

    def nbytes_of(self, columns: Iterable[str] | None) -> int:
        """The estimate for these columns alone; for all when None. Without estimates by column it is that of all."""
        if columns is None or not self.column_names:
            return self.nbytes
        wanted = set(columns)
        pairs = zip(self.column_names, self.column_nbytes, strict=True)
        return sum(nbytes for name, nbytes in pairs if name in wanted)


@dataclass(frozen=True, kw_only=True)
class Source(ABC):
    """Files as one table in pieces. It travels to the ranks by pickle; nothing is open in it."""

    schema: pa.Schema
    pieces: tuple[Piece, ...]
    """In the order of the rows: by file, then by place in the file."""

    @abstractmethod
    def describe(self) -> str:
        """A few words for `explain`."""

    @abstractmethod
    def read(
        self, piece: Piece, columns: Sequence[str] | None, predicate: Expr | None, batch_nbytes: int
    ) -> Iterator[pa.Table]:
        """The rows of a piece for which the predicate is true, as tables of about `batch_nbytes` at most.

        Each has exactly these columns in this order (all of `schema` when None), also when the predicate needs others.
        A piece without rows may yield no table at all.
        """

    @abstractmethod
    def prune(self, predicate: Expr | None) -> tuple[Piece, ...]:
        """The pieces that may hold rows for which the predicate is true, in order; `read` still has to filter."""
