"""Columns of one frame in the order of another, for operations that put their rows together."""

from __future__ import annotations

import pyarrow as pa

from argosy.errors import SchemaMismatch
from argosy.frame.expressions.nodes import col
from argosy.frame.plan import Operation, Project


def aligned(method: str, other: Operation, schema: pa.Schema) -> Operation:
    """The other frame with its columns in the order of the schema; they must have the same names and types."""
    missing = [name for name in schema.names if name not in other.schema.names]
    extra = [name for name in other.schema.names if name not in schema.names]
    if missing or extra:
        said = [f"the second has no {', '.join(map(repr, missing))}"] if missing else []
        said += [f"the first has no {', '.join(map(repr, extra))}"] if extra else []
        raise SchemaMismatch(
            f"{method}() needs frames with the same columns, but {' and '.join(said)}; select or rename columns first"
        )
    for name in schema.names:
        ours, theirs = schema.field(name).type, other.schema.field(name).type
        if not ours.equals(theirs):
            raise SchemaMismatch(
                f"{method}() needs the same types, but column {name!r} is {ours} in the first frame and {theirs} in "
                f'the second; cast it first: with_columns({name}=col("{name}").cast("{ours}"))'
            )
    if schema.names == other.schema.names:
        return other
    return Project(input=other, columns=tuple((name, col(name)) for name in schema.names))
