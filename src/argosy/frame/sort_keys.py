"""Keys as codes in the order of a sort, the same on all ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from argosy.comm.ranks import Ranks
from argosy.frame.buffers import empty
from argosy.frame.flat import Binary, Fixed, Flat
from argosy.frame.kernels import sort as kernels
from argosy.frame.keys import Codes, Field, Keys, fields_of, order_codes, pack, row_keys, wide_offsets

_SIGN = np.uint64(1 << 63)
_ALL = np.uint64((1 << 64) - 1)
_NONE = np.uint64(0)


@dataclass(frozen=True, slots=True)
class SortCodes:
    """A code is a value with the bits of `flip` turned around. Rows of equal code are equal when `exact`; else their
    bytes from `skip` on decide."""

    values: Codes
    flip: np.uint64 = _NONE
    exact: bool = True
    offsets: NDArray[np.int64] | None = None
    data: NDArray[np.uint8] | None = None
    skip: int = 0


class SortOrder:
    """How the keys of a frame become codes. Making one is collective; `codes` is not."""

    def __init__(self, keys: Sequence[Flat], descending: Sequence[bool], nulls_first: bool, ranks: Ranks) -> None:
        self._descending = tuple(descending)
        self._nulls_first = nulls_first
        has_null = any(isinstance(key, Fixed | Binary) and key.valid.size > 0 for key in keys)
        some_null = any(ranks.allgather(has_null))
        first = keys[0]
        is_number = isinstance(first, Fixed) and first.values.ndim == 1
        is_text = isinstance(first, Binary) and not descending[0]
        self._direct = len(keys) == 1 and not some_null and (is_number or is_text)
        self._fields: list[Field] | None = None
        self._skip = 0
        if self._direct:
            if isinstance(first, Binary):
                self._skip = _common_prefix(wide_offsets(first), first.data, ranks)
            return
        self._fields = _agree(fields_of([keys]), ranks)
        if self._fields is None:
            rows = self._rows(keys)
            self._skip = _common_prefix(rows.offsets, rows.data, ranks)

    def codes(self, keys: Sequence[Flat]) -> SortCodes:
        first = keys[0]
        if self._direct and isinstance(first, Binary):
            return self._prefixes(wide_offsets(first), first.data)
        if self._direct and isinstance(first, Fixed):
            return _plain_codes(first, self._descending[0])
        if self._fields is not None:
            return SortCodes(pack(keys, self._fields, self._descending, self._nulls_first))
        rows = self._rows(keys)
        return self._prefixes(rows.offsets, rows.data)

    def _rows(self, keys: Sequence[Flat]) -> Keys:
        return row_keys(keys, self._descending, self._nulls_first)

    def _prefixes(self, offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> SortCodes:
        codes = empty(len(offsets) - 1, np.uint64)
        kernels.prefix_codes(offsets, data, self._skip, codes)
        return SortCodes(codes, exact=False, offsets=offsets, data=data, skip=self._skip)


def _plain_codes(key: Fixed, descending: bool) -> SortCodes:
    around = _ALL if descending else _NONE
    if key.values.dtype == np.uint64 and not pa.types.is_floating(key.type):
        return SortCodes(key.values, around if pa.types.is_unsigned_integer(key.type) else around ^ _SIGN)
    return SortCodes(order_codes(key), around)


def _agree(fields: list[Field] | None, ranks: Ranks) -> list[Field] | None:
    """Fields that hold the values of every rank; None when some rank's, or all together, do not fit."""
    everybody = ranks.allgather(fields)
    if any(one is None for one in everybody):
        return None
    merged = []
    for column in zip(*everybody, strict=True):
        present = [one for one in column if one.span >= 0]
        low = min((one.low for one in present), default=0)
        high = max((one.low + one.span for one in present), default=0)
        merged.append(Field(low, high - low))
    return merged if sum(one.bits for one in merged) <= 64 else None


def _common_prefix(offsets: NDArray[np.int64], data: NDArray[np.uint8], ranks: Ranks) -> int:
    """How many bytes all strings of all ranks begin with."""
    array = pa.Array.from_buffers(
        pa.large_binary(), len(offsets) - 1, [None, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(data)]
    )
    ends = pc.min_max(array)
    mine = [ends["min"].as_py(), ends["max"].as_py()] if len(array) else []
    strings = [one for ours in ranks.allgather(mine) for one in ours]
    if not strings:
        return 0
    first, last = min(strings), max(strings)
    return next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
