"""Gather: the rows of these numbers, in this order; -1 stands for a row that is not there."""

from __future__ import annotations

from typing import Any

import numpy as np

from argosy.frame.kernels.compile import kernel
from argosy.frame.kernels.words import address, copy


@kernel(
    "void(uint8[::1], int32[::1], uint8[::1])",
    "void(uint32[::1], int32[::1], uint32[::1])",
    "void(uint64[::1], int32[::1], uint64[::1])",
)
def take(values: Any, rows: Any, out: Any) -> None:
    for i in range(rows.size):
        out[i] = values[rows[i]]


@kernel(
    "void(uint8[::1], int32[::1], uint8[::1])",
    "void(uint32[::1], int32[::1], uint32[::1])",
    "void(uint64[::1], int32[::1], uint64[::1])",
)
def take_or_zero(values: Any, rows: Any, out: Any) -> None:
    for i in range(rows.size):
        row = rows[i]
        out[i] = 0  # not in one expression with the value: Numba would take that for a float
        if row >= 0:
            out[i] = values[row]


@kernel()
def take_wide(values: Any, rows: Any, out: Any) -> None:
    width = values.shape[1]
    for i in range(rows.size):
        row = rows[i]
        for k in range(width):
            out[i, k] = values[row, k] if row >= 0 else 0


@kernel("int64(int64[::1], int32[::1], int64[::1])", "int64(int32[::1], int32[::1], int64[::1])")
def string_offsets(offsets: Any, rows: Any, out: Any) -> Any:
    """Offsets of the strings of these rows; returns the bytes they need."""
    total = np.int64(0)
    out[0] = 0
    for i in range(rows.size):
        row = rows[i]
        if row >= 0:
            total += offsets[row + 1] - offsets[row]
        out[i + 1] = total
    return total


@kernel(
    "void(int64[::1], uint8[::1], int32[::1], uint8[::1])",
    "void(int32[::1], uint8[::1], int32[::1], uint8[::1])",
)
def take_strings(offsets: Any, data: Any, rows: Any, out: Any) -> None:
    base = address(data)
    to = address(out)
    for i in range(rows.size):
        row = rows[i]
        if row >= 0:
            at = np.int64(offsets[row])
            length = np.int64(offsets[row + 1]) - at
            copy(base + at, to, length)
            to += length
