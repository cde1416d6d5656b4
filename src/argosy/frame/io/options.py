"""How files are to be read or written, as a user says it, judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from argosy import arguments
from argosy.frame.expressions.type_names import data_type

_COMPRESSIONS = ("zstd", "snappy", "gzip", "brotli", "lz4", "none")


def parquet_options(compression: Any, row_group_nbytes: Any) -> dict[str, Any]:
    """For a writer of Parquet. `None` is no compression, as in pyarrow."""
    given = compression.lower() if isinstance(compression, str) else "none" if compression is None else compression
    nbytes = None if row_group_nbytes is None else arguments.whole("row_group_nbytes", row_group_nbytes, least=1)
    return {"compression": arguments.one_of("compression", given, _COMPRESSIONS), "row_group_nbytes": nbytes}


def delimiter_of(given: Any) -> str:
    """What stands between the values of a line."""
    wanted = "one character of ASCII that is neither a quote nor the end of a line"
    delimiter = arguments.text("delimiter", given, wanted)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '\0\r\n"':
        raise ValueError(f"delimiter must be {wanted}, not {arguments.show(given)}")
    return delimiter


def column_types_of(given: Any) -> dict[str, pa.DataType]:
    """By name, where the user says another type than would be inferred."""
    if given is None:
        return {}
    types = arguments.mapping("column_types", given, "a dictionary from names to types")
    return {
        arguments.text("a name in column_types", name): data_type(kind, f"column_types[{arguments.show(name)}]")
        for name, kind in types.items()
    }


def columns_of(given: Any) -> list[str] | None:
    """The columns to read, None for all."""
    wanted = "a list of names"
    return (
        None if given is None else [arguments.text("columns", one, wanted) for one in _listed("columns", given, wanted)]
    )


def null_values_of(given: Any) -> tuple[str, ...]:
    """The texts that stand for null."""
    wanted = "a list of texts"
    return tuple(arguments.text("null_values", one, wanted) for one in _listed("null_values", given, wanted))


def _listed(name: str, given: Any, wanted: str) -> Sequence[Any]:
    return arguments.items(name, given, wanted)
