"""Parquet files, in pieces of one row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from argosy.errors import BadFile, UnknownColumn
from argosy.frame.io.faults import reading
from argosy.frame.io.files import FileSource
from argosy.frame.io.find import FoundFile, Kind, PathLike, find
from argosy.frame.io.options import columns_of
from argosy.frame.io.parquet_size import column_nbytes
from argosy.frame.io.prune import INT96_UNIT, NUM_THREADS, prune_by_statistics
from argosy.frame.io.schemas import check_same, plain, typed_keys, with_keys
from argosy.frame.io.source import KeyValue, Piece, Source

if TYPE_CHECKING:
    from argosy.frame.expressions.nodes import Expr

PARQUET = Kind(name="Parquet", endings=(".parquet", ".parq", ".pq"))
_WHAT = "a Parquet file"


def parquet_source(
    paths: PathLike | Sequence[PathLike], columns: Sequence[str] | None = None, filesystem: Any = None
) -> Source:
    """All row groups of these files, as one table with these columns (all when None).

    Reads the footer of every file, 16 at a time, and no rows. Raises BadFile for a file that is missing or no Parquet,
    SchemaMismatch where two files differ in their columns.
    """
    columns = columns_of(columns)
    found = find(paths, PARQUET, filesystem)
    with ThreadPoolExecutor(NUM_THREADS) as pool:
        footers = list(pool.map(lambda file: _footer(file, found.filesystem), found.files))
    first = footers[0][1]
    for file, (_, schema) in zip(found.files, footers, strict=True):
        check_same((found.files[0].path, first), (file.path, schema))
    keys, values = typed_keys(found.files)
    schema = with_keys(first, keys)
    if columns is not None:
        for name in columns:
            if name not in schema.names:
                raise UnknownColumn(name, schema.names)
        schema = pa.schema([schema.field(name) for name in columns])
    footers_with_keys = zip(found.files, footers, values, strict=True)
    pieces = [
        piece
        for file, (footer, own), own_keys in footers_with_keys
        for piece in _pieces(file.path, footer, own, own_keys, frozenset(schema.names))
    ]
    return ParquetSource(
        schema=schema,
        pieces=tuple(pieces),
        filesystem=found.filesystem,
        key_names=tuple(field.name for field in keys),
        first_path=found.files[0].path,
        num_files=len(found.files),
        num_rows=sum(footer.num_rows for footer, _ in footers),
    )


@dataclass(frozen=True, kw_only=True)
class ParquetSource(FileSource):
    kind = PARQUET
    _last_footer: dict[str, tuple[int, pq.FileMetaData]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    """Of the file that was read last, with its size: its next row group needs it again."""

    def prune(self, predicate: Expr | None) -> tuple[Piece, ...]:
        left = super().prune(predicate)
        return left if predicate is None else prune_by_statistics(left, predicate, self.schema, self.filesystem)

    def scan(self, piece: Piece, columns: list[str], batch_nbytes: int) -> Iterator[pa.Table]:
        if piece.num_rows is None:
            raise ValueError(f"a piece of {piece.path} does not say how many rows it has; take it from `pieces`")
        row_nbytes = max(1, piece.nbytes_of(columns) // max(1, piece.num_rows))
        batch_rows = max(1024, batch_nbytes // row_nbytes)
        with reading(piece.path, _WHAT), self._open(piece.path) as file:
            groups = list(range(piece.start, piece.stop))
            if groups[-1] >= file.num_row_groups or piece.num_rows != sum(
                file.metadata.row_group(group).num_rows for group in groups
            ):
                raise BadFile(piece.path, "the file has changed since the frame was made; make the frame again")
            for batch in file.iter_batches(batch_size=batch_rows, row_groups=groups, columns=columns):
                yield pa.Table.from_batches([batch])

    def _open(self, path: str) -> pq.ParquetFile:
        stream = self.filesystem.open_input_file(path)
        size = stream.size()
        known = self._last_footer.get(path)
        footer = known[1] if known is not None and known[0] == size else None
        remote = not isinstance(self.filesystem, fs.LocalFileSystem)
        file = pq.ParquetFile(stream, metadata=footer, pre_buffer=remote, coerce_int96_timestamp_unit=INT96_UNIT)
        self._last_footer.clear()
        self._last_footer[path] = (size, file.metadata)
        return file

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last_footer": {}}


def _footer(file: FoundFile, filesystem: fs.FileSystem) -> tuple[pq.FileMetaData, pa.Schema]:
    if file.nbytes == 0:
        raise BadFile(file.path, "the file is empty: 0 bytes, not even a Parquet footer")
    with reading(file.path, _WHAT):
        footer = pq.read_metadata(file.path, filesystem=filesystem)
        return footer, plain(_arrow_schema(footer, file, filesystem), file.path)


def _arrow_schema(footer: pq.FileMetaData, file: FoundFile, filesystem: fs.FileSystem) -> pa.Schema:
    """With moments of 96 bits, as Spark and Impala write them, in a unit that has room for all of them."""
    if all(footer.schema.column(index).physical_type != "INT96" for index in range(footer.num_columns)):
        return footer.schema.to_arrow_schema()
    with filesystem.open_input_file(file.path) as stream:
        return pq.ParquetFile(stream, metadata=footer, coerce_int96_timestamp_unit=INT96_UNIT).schema_arrow


def _pieces(
    path: str, footer: pq.FileMetaData, schema: pa.Schema, keys: tuple[tuple[str, KeyValue], ...], kept: frozenset[str]
) -> Iterator[Piece]:
    for group in range(footer.num_row_groups):
        row_group = footer.row_group(group)
        if row_group.num_rows == 0:
            continue
        nbytes = column_nbytes(row_group, schema, kept)
        nbytes.update({name: 16 * row_group.num_rows for name, _ in keys if name in kept})
        yield Piece(
            path=path,
            start=group,
            stop=group + 1,
            num_rows=row_group.num_rows,
            nbytes=sum(nbytes.values()),
            column_names=tuple(nbytes),
            column_nbytes=tuple(nbytes.values()),
            keys=keys,
        )
