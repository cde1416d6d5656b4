"""One schema for many files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from argosy.errors import BadFile, SchemaMismatch
from argosy.frame.io.find import FoundFile
from argosy.frame.io.source import KeyValue
from argosy.frame.layout import plain_field

_INT64 = range(-(2**63), 2**63)


def plain(schema: pa.Schema, path: str) -> pa.Schema:
    """Names and types alone, in the layout of frames. Metadata and "never null" are promises of one file only."""
    seen: set[str] = set()
    for name in schema.names:
        if name in seen:
            raise BadFile(path, f"has two columns of the name {name!r}; rename one of them")
        seen.add(name)
    return pa.schema([pa.field(field.name, plain_field(field).type) for field in schema])


def check_same(first: tuple[str, pa.Schema], other: tuple[str, pa.Schema]) -> None:
    """Raises where two files differ in their columns or types; the order of the columns may differ."""
    (first_path, first_schema), (path, schema) = first, other
    if schema.equals(first_schema):
        return
    for name in first_schema.names:
        if name not in schema.names:
            raise SchemaMismatch(f"{path} has no column {name!r}, but {first_path} has; read them apart")
        here, there = schema.field(name).type, first_schema.field(name).type
        if not here.equals(there):
            raise SchemaMismatch(
                f"column {name!r} is {here} in {path}, but {there} in {first_path}; read them apart and cast one"
            )
    for name in schema.names:
        if name not in first_schema.names:
            raise SchemaMismatch(f"{path} has a column {name!r}, but {first_path} has not; read them apart")


def typed_keys(files: Sequence[FoundFile]) -> tuple[tuple[pa.Field, ...], list[tuple[tuple[str, KeyValue], ...]]]:
    """The hive keys as fields, and the values of each file: int64 where every value is a whole number, else string."""
    names = [name for name, _ in files[0].keys]
    for file in files:
        if [name for name, _ in file.keys] != names:
            raise SchemaMismatch(
                f"{file.path} lies in folders with the keys {_listed(key for key, _ in file.keys)}, "
                f"but {files[0].path} in folders with {_listed(names)}; every file needs the same"
            )
    texts = [dict(file.keys) for file in files]
    whole = {name: all(_is_int64(values[name]) for values in texts) for name in names}
    fields = tuple(pa.field(name, pa.int64() if whole[name] else pa.string()) for name in names)
    return fields, [tuple((name, _value(values[name], whole[name])) for name in names) for values in texts]


def with_keys(schema: pa.Schema, keys: Iterable[pa.Field]) -> pa.Schema:
    """The columns of the files, then the keys. Where a file has a column of a key's name, the folder's value counts."""
    keys = list(keys)
    names = {field.name for field in keys}
    return pa.schema([*(field for field in schema if field.name not in names), *keys])


def _is_int64(text: str | None) -> bool:
    return text is None or (text.removeprefix("-").isdecimal() and text.isascii() and int(text) in _INT64)


def _value(text: str | None, whole: bool) -> KeyValue:
    return int(text) if whole and text is not None else text


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(names) or "none"
