"""What all sources of files share: hive columns, the filter, the size of the tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa
from pyarrow import fs

from argosy.errors import UnknownColumn
from argosy.frame.expressions.columns import columns_of
from argosy.frame.expressions.evaluate import evaluate
from argosy.frame.io.find import Kind
from argosy.frame.io.prune import prune_by_keys
from argosy.frame.io.source import Piece, Source
from argosy.frame.layout import laid_out

if TYPE_CHECKING:
    from argosy.frame.expressions.nodes import Expr


@dataclass(frozen=True, kw_only=True)
class FileSource(Source):
    """A format has to say how the columns of one piece are scanned; the rest is here."""

    kind: ClassVar[Kind]
    filesystem: fs.FileSystem = field(hash=False)
    key_names: tuple[str, ...] = ()
    """Columns that are not in the files but in the names of their folders."""
    first_path: str
    num_files: int
    num_rows: int | None
    """None where only reading could tell."""

    @abstractmethod
    def scan(self, piece: Piece, columns: list[str], batch_nbytes: int) -> Iterator[pa.Table]:
        """All rows of a piece with these columns of the file, in any order; a table may have more columns."""

    def describe(self) -> str:
        more = "" if self.num_files == 1 else f" and {self.num_files - 1:,} more"
        pieces = "1 piece" if len(self.pieces) == 1 else f"{len(self.pieces):,} pieces"
        rows = "" if self.num_rows is None else f", {self.num_rows:,} rows"
        return f"{self.kind.name} {self.first_path}{more}, {pieces}{rows}"

    def prune(self, predicate: Expr | None) -> tuple[Piece, ...]:
        if predicate is None or not self.key_names:
            return self.pieces
        return prune_by_keys(self.pieces, predicate, self.schema)

    def read(
        self, piece: Piece, columns: Sequence[str] | None, predicate: Expr | None, batch_nbytes: int
    ) -> Iterator[pa.Table]:
        names = self.schema.names if columns is None else list(columns)
        filtered = [] if predicate is None else sorted(columns_of(predicate))
        needed = list(dict.fromkeys([*names, *filtered]))
        for name in needed:
            if name not in self.schema.names:
                raise UnknownColumn(name, self.schema.names)
        in_file = [name for name in needed if name not in self.key_names]
        keys = [(name, value) for name, value in piece.keys if name in needed]
        schema = pa.schema([self.schema.field(name) for name in names])
        for scanned in self.scan(piece, in_file, batch_nbytes):
            table = _as_promised(laid_out(scanned.select(in_file)), self.schema)
            for name, value in keys:
                table = table.append_column(name, pa.repeat(_scalar(value, self.schema, name), table.num_rows))
            if predicate is not None:
                table = table.filter(evaluate(predicate, table))
            if table.num_rows:
                table = table.select(names)
                yield from in_slices(table if table.schema.equals(schema) else table.cast(schema), batch_nbytes)


def _as_promised(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A reader may know more of a type than the footer says, such as that its bytes are a UUID."""
    wanted = pa.schema([schema.field(name) for name in table.column_names])
    return table if table.schema.types == wanted.types else table.cast(wanted)


def _scalar(value: object, schema: pa.Schema, name: str) -> pa.Scalar:
    return pa.scalar(value, schema.field(name).type)


def in_slices(table: pa.Table, batch_nbytes: int) -> Iterator[pa.Table]:
    """The table in slices of about `batch_nbytes`, over the same memory."""
    num_slices = max(1, min(-(-table.nbytes // batch_nbytes), table.num_rows))
    length = -(-table.num_rows // num_slices)
    for start in range(0, table.num_rows, length):
        yield table.slice(start, length)
