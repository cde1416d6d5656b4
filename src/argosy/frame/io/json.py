"""Newline-delimited JSON, one object a line, in pieces of whole lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import fs

from argosy.errors import BadFile, SchemaMismatch
from argosy.frame.io.faults import reading
from argosy.frame.io.files import FileSource
from argosy.frame.io.find import FoundFile, Kind, PathLike, find
from argosy.frame.io.json_lines import explain, parse
from argosy.frame.io.lines import blocks, endings, first_lines, is_compressed, num_lines_before, open_lines, ranges
from argosy.frame.io.options import column_types_of
from argosy.frame.io.schemas import plain, typed_keys, with_keys
from argosy.frame.io.source import Piece, Source

JSON = Kind(name="JSON", endings=endings(".jsonl", ".ndjson", ".json"))
NUM_THREADS = 16
_WHAT = "newline-delimited JSON"
_BLOCK_NBYTES = (1 << 20, 16 << 20)


def json_source(
    paths: PathLike | Sequence[PathLike],
    *,
    column_types: Mapping[str, pa.DataType | str] | None = None,
    filesystem: Any = None,
) -> Source:
    """All rows of these files, as one table.

    Types are inferred from the first MiB of every file; `column_types` overrides and adds to them. A field that an
    object does not have is null. A later field that is new, or a value that does not fit, is a BadFile where all
    columns are read; where some are, the others are not looked at.
    """
    asked = column_types_of(column_types)
    found = find(paths, JSON, filesystem)
    with ThreadPoolExecutor(NUM_THREADS) as pool:
        looks = list(pool.map(lambda file: _look(file, found.filesystem), found.files))
    schema = _unified(found.files, [schema for schema, _ in looks], asked)
    keys, values = typed_keys(found.files)
    pieces = [
        Piece(path=file.path, start=start, stop=stop, num_rows=None, nbytes=int((stop - start) * growth), keys=own_keys)
        for file, (_, growth), own_keys in zip(found.files, looks, values, strict=True)
        for start, stop in ([(0, file.nbytes)] if is_compressed(file.path) else ranges(file.nbytes))
    ]
    return JsonSource(
        schema=with_keys(schema, keys),
        pieces=tuple(pieces),
        filesystem=found.filesystem,
        key_names=tuple(field.name for field in keys),
        first_path=found.files[0].path,
        num_files=len(found.files),
        num_rows=None,
        file_schema=schema,
    )


@dataclass(frozen=True, kw_only=True)
class JsonSource(FileSource):
    kind = JSON
    file_schema: pa.Schema

    def scan(self, piece: Piece, columns: list[str], batch_nbytes: int) -> Iterator[pa.Table]:
        wanted = pa.schema([self.file_schema.field(name) for name in columns or self.file_schema.names[:1]])
        strict = len(wanted) == len(self.file_schema)
        num_lines = 0
        block_nbytes = min(max(batch_nbytes, _BLOCK_NBYTES[0]), _BLOCK_NBYTES[1])
        with reading(piece.path, _WHAT):
            stream = open_lines(self.filesystem, piece.path, piece.start, piece.stop)
            if stream is None:
                return
            for block in blocks(stream, block_nbytes):
                if not block.isspace():
                    try:
                        yield parse(block, wanted, strict=strict)
                    except pa.ArrowInvalid as error:
                        before = num_lines_before(self.filesystem, piece.path, piece.start) + num_lines
                        raise BadFile(piece.path, explain(block, before, wanted, strict=strict)) from error
                num_lines += block.count(b"\n")


def _look(file: FoundFile, filesystem: fs.FileSystem) -> tuple[pa.Schema, float]:
    """The schema of the first block, and how many bytes of table a byte of the file makes."""
    if file.nbytes == 0:
        raise BadFile(file.path, "the file is empty: 0 bytes, not one JSON object")
    with reading(file.path, _WHAT):
        text = first_lines(filesystem, file.path)
        if text.lstrip()[:1] == b"[":
            raise BadFile(file.path, "is one JSON array; write one object a line, without brackets and commas between")
        table = parse(text, None)
    growth = table.nbytes / max(1, len(text)) * (4 if is_compressed(file.path) else 1)
    return plain(table.schema, file.path), growth


def _unified(files: Sequence[FoundFile], schemas: Sequence[pa.Schema], given: Mapping[str, pa.DataType]) -> pa.Schema:
    fields: dict[str, tuple[pa.Field, str]] = {}
    for file, schema in zip(files, schemas, strict=True):
        for field in schema:
            if field.name in given:
                continue
            known, where = fields.get(field.name, (field, file.path))
            try:
                both = pa.unify_schemas([pa.schema([known]), pa.schema([field])], promote_options="permissive")
            except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
                raise SchemaMismatch(
                    f"column {field.name!r} is {field.type} in {file.path}, but {known.type} in {where}; "
                    f"say column_types={{{field.name!r}: ...}}"
                ) from error
            fields[field.name] = (both.field(0), where)
    inferred = [pa.field(name, _settled(field.type)) for name, (field, _) in fields.items()]
    schema = pa.schema([*inferred, *(pa.field(name, kind) for name, kind in given.items())])
    if not schema.names:
        raise BadFile(files[0].path, "has no object with a field in its first lines")
    return schema


def _settled(kind: pa.DataType) -> pa.DataType:
    """A type that later values fit in too: seconds may get fractions; text where no object had a value."""
    if pa.types.is_timestamp(kind) and kind.unit == "s":
        return pa.timestamp("us", kind.tz)
    return pa.string() if pa.types.is_null(kind) else kind
