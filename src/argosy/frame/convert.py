"""Frames of tables that are in this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from argosy import arguments
from argosy.calls import PURE, declared
from argosy.errors import TypeMismatch
from argosy.frame.arguments import require_distinct
from argosy.frame.dataframe import DataFrame
from argosy.frame.layout import laid_out
from argosy.frame.plan import Memory

if TYPE_CHECKING:
    import pandas


@declared(PURE)
def from_arrow(data: Any) -> DataFrame:
    """The frame of a pyarrow table or batch, or of anything that hands out an Arrow stream: Polars, DuckDB, readers.

    Nothing is copied but what has another layout here, such as strings that are views (Polars). A stream is read to its
    end at once.
    """
    if isinstance(data, DataFrame):
        return data
    if isinstance(data, pa.Table):
        table = data
    elif isinstance(data, pa.RecordBatch):
        table = pa.Table.from_batches([data])
    elif hasattr(data, "__arrow_c_stream__"):
        table = _read(data)
    elif hasattr(data, "fetch_arrow_table"):
        table = data.fetch_arrow_table()
    else:
        raise TypeError(
            f"from_arrow() takes a pyarrow table or anything with __arrow_c_stream__, not {type(data).__name__}; "
            "use from_pandas or from_pydict"
        )
    require_distinct("from_arrow", table.schema.names)
    return DataFrame(Memory(table=laid_out(table)))


def _read(data: Any) -> pa.Table:
    try:
        return pa.RecordBatchReader.from_stream(data).read_all()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TypeMismatch(
            f"from_arrow() cannot read the columns of this {type(data).__name__}: {error}; a type that Arrow does not "
            "have, such as an integer of 128 bits, has to be cast first, for example to a decimal of 38 digits"
        ) from error


def from_pandas(data: pandas.DataFrame, index: bool = False) -> DataFrame:
    """The frame of a pandas frame; with `index` its index becomes columns. NaN in a column of objects becomes null."""
    if type(data).__module__.partition(".")[0] != "pandas":
        raise TypeError(f"from_pandas() takes a pandas frame, not {type(data).__name__}; use from_arrow or from_pydict")
    arguments.flag("index", index)
    if not hasattr(data, "columns"):
        raise TypeError(f"from_pandas() takes a pandas frame, not a {type(data).__name__}; make one with to_frame()")
    table = pa.Table.from_pandas(data, preserve_index=bool(index))
    return from_arrow(table.replace_schema_metadata(None))


@declared(PURE)
def from_pydict(columns: Mapping[str, Any], schema: pa.Schema | None = None) -> DataFrame:
    """The frame of lists, NumPy arrays or Arrow arrays, one for each name. Later changes to them are not seen."""
    columns = arguments.mapping("columns", columns, "a dictionary from names to lists or arrays")
    if schema is not None:
        arguments.instance("schema", schema, pa.Schema, "a pyarrow.Schema")
    lengths = {arguments.text("a name in columns", name): _length(name, values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"from_pydict() needs columns of one length, not {lengths}")
    for name, values in columns.items():
        if isinstance(values, list | tuple) or (isinstance(values, np.ndarray) and values.dtype.kind == "O"):
            arguments.shallow(f"columns[{name!r}]", values)
    try:
        table = pa.Table.from_pydict({name: _own(values) for name, values in columns.items()}, schema=schema)
    except Exception as error:  # of Arrow, or of a value that was asked for something
        said = f"{type(error).__name__}: {str(error)[:300]}"
        raise TypeMismatch(f"from_pydict() cannot make a column of these values: {said}; cast them first") from error
    return from_arrow(table)


def _length(name: str, values: Any) -> int:
    try:
        if isinstance(values, str | bytes | Mapping):
            raise TypeError
        return len(values)
    except Exception:  # a single value, an array without dimensions, or of a value's own
        said = f"{name!r} is {arguments.show(values)}"
    raise TypeError(f"from_pydict() takes a list or an array for each name, but {said}")


def _own(values: Any) -> Any:
    """Arrow would take numbers where they lie, and the frame would change with the array."""
    lent = isinstance(values, np.ndarray) and values.flags.writeable and values.dtype.kind in "iufmM"
    return values.copy() if lent else values
