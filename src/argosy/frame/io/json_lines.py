"""Lines of JSON as a table, and which line it was that could not be."""

from __future__ import annotations

import json as text_json
from typing import Any

import pyarrow as pa
from pyarrow import json


def parse(block: bytes, schema: pa.Schema | None, strict: bool = True) -> pa.Table:
    """Whole lines as a table of this schema, or of what they have when None. `strict` allows no other fields."""
    other = "infer" if schema is None else "error" if strict else "ignore"
    return json.read_json(
        pa.BufferReader(block),
        json.ReadOptions(use_threads=False, block_size=len(block) + 1),
        json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=other),
    )


def explain(block: bytes, num_lines_before: int, schema: pa.Schema, strict: bool) -> str:
    """Why these lines cannot be parsed: the number of the first bad line, its column and what is wrong there."""
    lines = block.splitlines(keepends=True)
    good, bad = 0, len(lines)
    while bad - good > 1:
        middle = (good + bad) // 2
        if _fault(b"".join(lines[good:middle]), schema, strict) is None:
            good = middle
        else:
            bad = middle
    line = lines[good]
    said = (_fault(line, schema, strict) or "").split(" in row ")[0]
    where = f"line {num_lines_before + good + 1:,}"
    fields = _object(line)
    if fields is None:
        return f"{where} is not one JSON object: {said}"
    for field in schema:
        if _fault(line, pa.schema([field]), strict=False) is not None:
            hint = f"; say column_types={{{field.name!r}: ...}} if the column is of another type"
            return f"{where}, column {field.name!r} does not fit its type {field.type}: {said}{hint}"
    new = ", ".join(repr(name) for name in fields if name not in schema.names) or "one within another"
    return f"{where} has a field that the first lines do not have: {new}; say its type in column_types"


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = text_json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _fault(block: bytes, schema: pa.Schema, strict: bool) -> str | None:
    try:
        if not block.isspace():
            parse(block, schema, strict)
    except pa.ArrowInvalid as error:
        return str(error)
    return None
