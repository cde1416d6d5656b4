"""Rows of a column that lies in several pieces of memory, gathered into a batch, converted on the way.

One pass, whatever the number of pieces; other threads may run meanwhile. Each returns the first place in `ids` whose
row is not there, or -1.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.core import cgutils
from numba.extending import intrinsic

_numba: Any = numba
carray = _numba.carray


def _address_to_pointer(_typing: Any, _address: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return _numba.types.voidptr(_numba.types.uint64), generate


_pointer: Any = intrinsic(_address_to_pointer)


def _take_rows(addresses: Any, starts: Any, ids: Any, width: Any, like: Any, out: Any, at: Any) -> int:
    """Rows of `width` values of the type of `like`; piece p begins at `addresses[p]` and has rows from `starts[p]`."""
    piece = 0
    row_nbytes = width * like.itemsize
    for i in range(ids.size):
        row = ids[i]
        if row < 0 or row >= starts[-1]:
            return i
        if row < starts[piece] or row >= starts[piece + 1]:
            piece = np.searchsorted(starts, row, side="right") - 1
        begin = addresses[piece] + np.uint64((row - starts[piece]) * row_nbytes)
        values = carray(_pointer(begin), (width,), like.dtype)
        to = out[i, at : at + width]  # a slice, as an index from 0 up lets the loop become vector instructions
        for k in range(width):
            to[k] = values[k]
    return -1


def _take_bits(addresses: Any, starts: Any, ids: Any, offsets: Any, out: Any, at: Any) -> int:
    """Booleans, packed into bits; those of piece p begin at bit `offsets[p]`."""
    piece = 0
    for i in range(ids.size):
        row = ids[i]
        if row < 0 or row >= starts[-1]:
            return i
        if row < starts[piece] or row >= starts[piece + 1]:
            piece = np.searchsorted(starts, row, side="right") - 1
        bit = row - starts[piece] + offsets[piece]
        values = carray(_pointer(addresses[piece] + np.uint64(bit >> 3)), (1,), np.uint8)
        out[i, at] = (values[0] >> (bit & 7)) & 1
    return -1


_compiled = numba.njit(nogil=True, cache=True, error_model="numpy")
take_rows: Any = _compiled(_take_rows)
take_bits: Any = _compiled(_take_bits)
