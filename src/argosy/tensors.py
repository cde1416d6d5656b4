"""Columns as tensors, over the same memory where the type allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from argosy.errors import TypeMismatch

if TYPE_CHECKING:
    import torch


def tensors(table: pa.Table) -> dict[str, torch.Tensor]:
    """One tensor for each column. Numbers are not copied where the column is one chunk; do not write to them.

    Booleans are copied, since Arrow packs them into bits. Lists of fixed size become rows of a matrix.
    """
    return {name: _tensor(name, table.column(name)) for name in table.column_names}


def _tensor(name: str, column: pa.ChunkedArray) -> torch.Tensor:
    kind = column.type
    if column.null_count:
        raise TypeMismatch(
            f"column {name!r} has {column.null_count} nulls, which a tensor cannot hold; "
            f'fill them first: with_columns({name}=col("{name}").fill_null(0)), or filter them out'
        )
    array = column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks or [pa.array([], kind)])
    if pt.is_fixed_size_list(kind):
        return _tensor(name, pa.chunked_array([array.flatten()])).reshape(len(array), kind.list_size)
    return _flat(name, array)


def _flat(name: str, array: pa.Array) -> torch.Tensor:
    import torch

    kind = array.type
    if pt.is_boolean(kind):
        return torch.from_numpy(array.to_numpy(zero_copy_only=False))
    if not (pt.is_integer(kind) or pt.is_floating(kind)):
        raise TypeMismatch(
            f"column {name!r} is {kind}, which has no tensor; "
            "cast it to a number, or leave it out: to_torch(columns=[...])"
        )
    if len(array) == 0:
        return torch.from_numpy(np.empty(0, kind.to_pandas_dtype()))
    return torch.from_dlpack(array)
