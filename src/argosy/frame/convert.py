"""Frames of tables that are in this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

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
    table = pa.Table.from_pandas(data, preserve_index=index)
    return from_arrow(table.replace_schema_metadata(None))


@declared(PURE)
def from_pydict(columns: Mapping[str, Any], schema: pa.Schema | None = None) -> DataFrame:
    """The frame of lists, NumPy arrays or Arrow arrays, one for each name. Later changes to them are not seen."""
    for name, values in columns.items():
        if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
            raise TypeError(f"from_pydict() takes a list or an array for each name, but {name!r} is {values!r}")
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"from_pydict() needs columns of one length, not {lengths}")
    try:
        table = pa.Table.from_pydict({name: _own(values) for name, values in columns.items()}, schema=schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise TypeMismatch(f"from_pydict() cannot make a column of these values: {error}; cast them first") from error
    return from_arrow(table)


def _own(values: Any) -> Any:
    """Arrow would take numbers where they lie, and the frame would change with the array."""
    lent = isinstance(values, np.ndarray) and values.flags.writeable and values.dtype.kind in "iufmM"
    return values.copy() if lent else values
