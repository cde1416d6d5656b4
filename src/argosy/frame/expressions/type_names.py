"""Types as users name them: an Arrow type, a Python type, or a word."""

from __future__ import annotations

import datetime
from contextlib import suppress
from typing import Any, TypeAlias

import pyarrow as pa

from argosy import arguments
from argosy.errors import TypeMismatch
from argosy.frame.layout import plain_layout

TypeLike: TypeAlias = Any  # pa.DataType | type | str; pyarrow has no types of its own to check against

_OF_PYTHON = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    bytes: pa.binary(),
    datetime.date: pa.date32(),
    datetime.datetime: pa.timestamp("us"),
    datetime.timedelta: pa.duration("us"),
    datetime.time: pa.time64("us"),
}
_OF_WORD = {
    "str": pa.string(),
    "int": pa.int64(),
    "float": pa.float64(),
    "boolean": pa.bool_(),
    "bytes": pa.binary(),
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
    "timestamp": pa.timestamp("us"),
    "duration": pa.duration("us"),
    "category": pa.dictionary(pa.int32(), pa.string()),
}


def data_type(like: TypeLike, name: str = "") -> pa.DataType:
    """The Arrow type that is meant. `name`: of the argument that says so, for an error."""
    if isinstance(like, pa.DataType):
        return plain_layout(like)
    if isinstance(like, type) and like in _OF_PYTHON:
        return _OF_PYTHON[like]
    if isinstance(like, str):
        if like in _OF_WORD:
            return _OF_WORD[like]
        with suppress(ValueError):
            return plain_layout(pa.type_for_alias(like))
    raise TypeMismatch(
        f"{f'{name}: ' if name else ''}{arguments.show(like)} does not name a type; "
        "use a pyarrow type such as pa.decimal128(10, 2), a Python type such as int, "
        "or a name such as 'int64', 'string' or 'timestamp[us]'"
    )
