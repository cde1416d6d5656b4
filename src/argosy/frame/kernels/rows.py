"""Several key columns as one string of bytes for each row, in the order of the rows when compared byte by byte.

Each value begins with a marker: 1 for a value, 0 or 255 for null. Numbers follow as eight bytes, upper byte first;
strings with each zero byte followed by 255, and two zero bytes at the end. A descending column has its bytes flipped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from argosy.frame.kernels.compile import kernel
from argosy.frame.kernels.hashing import U


@kernel("void(int64[::1], uint8[::1], uint8[::1], int64[::1])")
def add_string_lengths(offsets: Any, data: Any, valid: Any, lengths: Any) -> None:
    for i in range(lengths.size):
        lengths[i] += 1
        if valid.size == 0 or valid[i] != 0:
            zeros = 0
            for at in range(offsets[i], offsets[i + 1]):
                if data[at] == 0:
                    zeros += 1
            lengths[i] += offsets[i + 1] - offsets[i] + zeros + 2


@kernel("void(uint8[::1], int64, int64[::1])")
def add_number_lengths(valid: Any, width: Any, lengths: Any) -> None:
    for i in range(lengths.size):
        lengths[i] += 1
        if valid.size == 0 or valid[i] != 0:
            lengths[i] += width


@kernel("void(int64[::1], uint8[::1], uint8[::1], uint8, uint8, int64[::1], uint8[::1])")
def write_strings(offsets: Any, data: Any, valid: Any, null: Any, flip: Any, at: Any, out: Any) -> None:
    for i in range(at.size):
        to = at[i]
        if valid.size > 0 and valid[i] == 0:
            out[to] = null
            at[i] = to + 1
            continue
        out[to] = 1
        to += 1
        for k in range(offsets[i], offsets[i + 1]):
            out[to] = data[k] ^ flip
            to += 1
            if data[k] == 0:
                out[to] = np.uint8(255) ^ flip
                to += 1
        out[to] = flip
        out[to + 1] = flip
        at[i] = to + 2


@kernel("void(uint64[::1], uint8[::1], uint8, uint8, int64[::1], uint8[::1])")
def write_numbers(codes: Any, valid: Any, null: Any, flip: Any, at: Any, out: Any) -> None:
    for i in range(at.size):
        to = at[i]
        if valid.size > 0 and valid[i] == 0:
            out[to] = null
            at[i] = to + 1
            continue
        out[to] = 1
        code = codes[i]
        for k in range(8):
            out[to + 1 + k] = np.uint8((code >> U(56 - 8 * k)) & U(255)) ^ flip
        at[i] = to + 9


@kernel()
def write_wide(values: Any, valid: Any, null: Any, flip: Any, at: Any, out: Any) -> None:
    """Values of several bytes, signed, lowest byte first (decimals)."""
    width = values.shape[1]
    for i in range(at.size):
        to = at[i]
        if valid.size > 0 and valid[i] == 0:
            out[to] = null
            at[i] = to + 1
            continue
        out[to] = 1
        for k in range(width):
            byte = values[i, width - 1 - k]
            out[to + 1 + k] = (byte ^ np.uint8(128) if k == 0 else byte) ^ flip
        at[i] = to + 1 + width
