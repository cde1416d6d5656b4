"""CSV files, in pieces of whole lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import csv, fs

from argosy import arguments
from argosy.errors import BadFile, SchemaMismatch, UnknownColumn
from argosy.frame.io.csv_types import unify
from argosy.frame.io.faults import reading
from argosy.frame.io.files import FileSource
from argosy.frame.io.find import FoundFile, Kind, PathLike, find
from argosy.frame.io.lines import (
    FIRST_NBYTES,
    endings,
    first_lines,
    is_compressed,
    num_lines_before,
    open_lines,
    ranges,
)
from argosy.frame.io.options import column_types_of, delimiter_of, null_values_of
from argosy.frame.io.quotes import QuoteCheck, spans_lines
from argosy.frame.io.schemas import plain, typed_keys, with_keys
from argosy.frame.io.source import Piece, Source

CSV = Kind(name="CSV", endings=endings(".csv", ".tsv"))
NUM_THREADS = 16
_WHAT = "CSV"
_BLOCK_NBYTES = (1 << 20, 16 << 20)
_IN_COLUMN = re.compile(r"In CSV column #(\d+): (?:Row #(\d+): )?(?:CSV conversion error to )?(.*)", re.DOTALL)
_IN_ROW = re.compile(r"CSV parse error: Row #(\d+): (.*)", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialect:
    """How the files are written."""

    delimiter: str
    header: bool
    null_values: tuple[str, ...]


def csv_source(
    paths: PathLike | Sequence[PathLike],
    *,
    delimiter: str = ",",
    header: bool = True,
    column_types: Mapping[str, pa.DataType | str] | None = None,
    null_values: Sequence[str] = ("",),
    newlines_in_values: bool = False,
    filesystem: Any = None,
) -> Source:
    """All rows of these files, as one table.

    Types are inferred from the first MiB of every file; `column_types` overrides them, and a later value that does not
    fit is a BadFile. Without `header` the columns are f0, f1, and so on. A quoted value is never null, so `""` is an
    empty text. A large file is cut at line ends and read by several ranks; where quoted values span lines reading
    finds that and raises, and `newlines_in_values=True` keeps such files in one piece.
    """
    dialect = Dialect(
        delimiter=delimiter_of(delimiter),
        header=arguments.flag("header", header),
        null_values=null_values_of(null_values),
    )
    asked = column_types_of(column_types)
    whole = arguments.flag("newlines_in_values", newlines_in_values)
    found = find(paths, CSV, filesystem)
    with ThreadPoolExecutor(NUM_THREADS) as pool:
        looks = list(pool.map(lambda file: _look(file, found.filesystem, dialect), found.files))
    types = _unified(looks, asked)
    keys, values = typed_keys(found.files)
    pieces = [
        piece
        for look, own_keys in zip(looks, values, strict=True)
        if not look.is_empty
        for piece in _pieces(look, own_keys, whole=whole)
    ]
    return CsvSource(
        schema=with_keys(pa.schema(list(types.items())), keys),
        pieces=tuple(pieces),
        filesystem=found.filesystem,
        key_names=tuple(field.name for field in keys),
        first_path=found.files[0].path,
        num_files=len(found.files),
        num_rows=None,
        dialect=dialect,
    )


@dataclass(frozen=True, kw_only=True)
class CsvSource(FileSource):
    kind = CSV
    dialect: Dialect

    def scan(self, piece: Piece, columns: list[str], batch_nbytes: int) -> Iterator[pa.Table]:
        names = list(piece.column_names)
        wanted = columns or names[:1]
        types = {name: self.schema.field(name).type for name in wanted}
        block_nbytes = min(max(batch_nbytes, _BLOCK_NBYTES[0]), _BLOCK_NBYTES[1])
        with reading(piece.path, _WHAT):
            stream = open_lines(self.filesystem, piece.path, piece.start, piece.stop)
            if stream is None:
                return
            cut = piece.start > 0 or piece.stop < self.filesystem.get_file_info(piece.path).size
            try:
                yield from _tables(
                    QuoteCheck(stream, piece.path) if cut else stream,
                    self.dialect,
                    names=None if self.dialect.header and piece.start == 0 else names,
                    num_columns=len(names),
                    newlines_in_values=not cut,
                    block_nbytes=block_nbytes,
                    include=wanted,
                    types=types,
                )
            except pa.ArrowInvalid as error:
                raise BadFile(piece.path, self._explain(str(error), piece)) from error

    def _explain(self, said: str, piece: Piece) -> str:
        """What pyarrow found wrong, with the line in the file and the name of the column where it tells them."""
        if match := _IN_COLUMN.fullmatch(said):
            column, row, what = match.groups()
            name = piece.column_names[int(column)]
            hint = f"; say column_types={{{name!r}: ...}} if the column is of another type"
            return f"{self._line(row, piece)}column {name!r} does not fit its type: {what}{hint}"
        if match := _IN_ROW.fullmatch(said):
            row, what = match.groups()
            return f"{self._line(row, piece)}{what[:300]}"
        return f"cannot be read as {_WHAT}: {said[:300]}"

    def _line(self, row: str | None, piece: Piece) -> str:
        if row is None:
            return ""
        return f"line {num_lines_before(self.filesystem, piece.path, piece.start) + int(row):,}, "


@dataclass(frozen=True, kw_only=True, slots=True)
class _Look:
    """What the first block of a file tells."""

    file: FoundFile
    schema: pa.Schema
    nbytes_by_column: tuple[int, ...]
    """Of the block as a table, which had `text_nbytes` as text."""
    text_nbytes: int
    spans_lines: bool
    is_empty: bool
    """No rows at all: the header was the whole file."""


def _look(file: FoundFile, filesystem: fs.FileSystem, dialect: Dialect) -> _Look:
    if file.nbytes == 0:
        raise BadFile(file.path, "the file is empty: 0 bytes, not even a header")
    with reading(file.path, _WHAT):
        text = first_lines(filesystem, file.path).removesuffix(b"\n") + b"\n"  # pyarrow sees no columns in "1,2"
        options: dict[str, Any] = {"names": None, "newlines_in_values": True, "block_nbytes": len(text) + 1}
        reader = _open(pa.BufferReader(text), dialect, num_columns=2, **options)
        if len(reader.schema) == 1:
            reader = _open(pa.BufferReader(text), dialect, num_columns=1, **options)
        schema = plain(reader.schema, file.path)
        table = reader.read_all()
    return _Look(
        file=file,
        schema=schema,
        nbytes_by_column=tuple(column.nbytes for column in table.columns),
        text_nbytes=len(text),
        spans_lines=spans_lines(text),
        is_empty=table.num_rows == 0 and len(text) < FIRST_NBYTES,
    )


def _unified(looks: Sequence[_Look], asked: Mapping[str, pa.DataType]) -> dict[str, pa.DataType]:
    first = looks[0]
    for look in looks:
        for one, other in ((first, look), (look, first)):
            missing = [name for name in one.schema.names if name not in other.schema.names]
            if missing:
                raise SchemaMismatch(
                    f"{other.file.path} has no column {missing[0]!r}, but {one.file.path} has; read them apart"
                )
    for name in asked:
        if name not in first.schema.names:
            raise UnknownColumn(name, first.schema.names)
    types = {name: unify(look.schema.field(name).type for look in looks) for name in first.schema.names}
    return {**types, **asked}


def _pieces(look: _Look, keys: tuple[tuple[str, Any], ...], whole: bool) -> Iterator[Piece]:
    file = look.file
    one_piece = whole or look.spans_lines or is_compressed(file.path)
    for start, stop in [(0, file.nbytes)] if one_piece else ranges(file.nbytes):
        share = (stop - start) * (4 if is_compressed(file.path) else 1) / max(1, look.text_nbytes)
        nbytes = tuple(int(share * nbytes) for nbytes in look.nbytes_by_column)
        yield Piece(
            path=file.path,
            start=start,
            stop=stop,
            num_rows=None,
            nbytes=sum(nbytes),
            column_names=tuple(look.schema.names),
            column_nbytes=nbytes,
            keys=keys,
        )


def _tables(stream: Any, dialect: Dialect, **options: Any) -> Iterator[pa.Table]:
    with _open(stream, dialect, **options) as reader:
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _open(
    stream: Any,
    dialect: Dialect,
    *,
    names: list[str] | None,
    num_columns: int,
    newlines_in_values: bool,
    block_nbytes: int,
    include: list[str] | None = None,
    types: dict[str, pa.DataType] | None = None,
) -> csv.CSVStreamingReader:
    # Without threads pyarrow tells the row of a bad value; a stream is no slower to read that way.
    return csv.open_csv(
        stream,
        csv.ReadOptions(
            use_threads=False,
            block_size=block_nbytes,
            column_names=names,
            autogenerate_column_names=names is None and not dialect.header,
        ),
        csv.ParseOptions(
            delimiter=dialect.delimiter,
            newlines_in_values=newlines_in_values,
            ignore_empty_lines=num_columns > 1,  # an empty line is a null where there is but one column
        ),
        csv.ConvertOptions(
            null_values=list(dialect.null_values),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            include_columns=include,
            column_types=types,
        ),
    )
