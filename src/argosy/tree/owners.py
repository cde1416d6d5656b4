"""Whose memory a value lies in: byte ranges of it, and whether nobody else can have it under another address.

Memory that this process asked for is mapped once, so its addresses tell what shares it. A file, a segment of shared
memory or a buffer of some library may be mapped twice: two addresses, one memory. Of those nobody knows.
"""

from __future__ import annotations

import array
import gc
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

_MOST_REACHED = 4096
"""Objects and buffers that are looked at for one value."""
_OF_LIBRARIES = frozenset({("_nrt_python", "_MemInfo")})
"""Owners of memory that a library asked the process for: Numba's."""
_WITHOUT_MEMORY = (type, ModuleType, BuiltinFunctionType, CodeType, str, bytes, int, float, complex, type(None), range)

Span = tuple[int, int]
"""Addresses: the first byte, and the first one after the last."""


def root_of(value: Any) -> Any:
    """The array whose views it may be one of; the array itself if it lies in memory of something else."""
    while type(value.base) is np.ndarray:
        value = value.base
    return value


def span_of(value: Any) -> Span:
    low = high = int(value.__array_interface__["data"][0])
    for size, stride in zip(value.shape, value.strides, strict=True):
        if size == 0:
            return low, low
        if stride < 0:
            low += (size - 1) * stride
        else:
            high += (size - 1) * stride
    return low, high + int(value.itemsize)


def is_mapped_once(value: Any) -> bool:
    """An array whose memory has no second address: NumPy, Python or Numba asked for it."""
    while True:
        cls = type(value)
        if issubclass(cls, np.ndarray):
            base = np.ndarray.base.__get__(value)
            if base is None:
                return bool(np.ndarray.flags.__get__(value).owndata)
            value = base
        elif cls is memoryview:
            value = value.obj
        else:
            return cls in (bytes, bytearray, array.array) or (cls.__module__, cls.__name__) in _OF_LIBRARIES


def spans_within(value: Any) -> list[Span] | None:
    """The memory of the arrays and Arrow buffers that a value of a class of ours, or of Arrow's, holds: None when it
    cannot be told."""
    found: list[Span] = []
    try:
        found.extend(_within(value))
    except _Unknown:
        return None
    return sorted(set(found))


class _Unknown(Exception):
    pass


def _within(value: Any) -> Iterator[Span]:
    arrow = sys.modules.get("pyarrow")
    waiting, seen = [value], dict[int, Any]()  # kept, so that no id is given twice
    while waiting:
        item = waiting.pop()
        cls = type(item)
        if issubclass(cls, _WITHOUT_MEMORY) or id(item) in seen:
            continue
        seen[id(item)] = item
        if len(seen) > _MOST_REACHED:
            raise _Unknown
        module = cls.__module__
        if cls is np.ndarray:
            if item.dtype.hasobject or not is_mapped_once(item):
                raise _Unknown
            yield span_of(root_of(item))
        elif module == "pyarrow.lib" and arrow is not None:
            yield from _of_arrow(item, arrow, waiting)
        elif cls is FunctionType:
            waiting += [cell.cell_contents for cell in item.__closure__ or ()]
        elif module.startswith(("argosy.pilot", "numpy", "pathlib", "datetime", "decimal")):
            continue
        elif module.startswith("argosy.") or cls in (dict, list, tuple, set, frozenset):
            waiting += gc.get_referents(item)
        else:
            raise _Unknown


def _of_arrow(item: Any, arrow: Any, waiting: list[Any]) -> Iterator[Span]:
    name = type(item).__name__
    if name in ("Table", "RecordBatch"):
        waiting += item.columns
    elif name == "ChunkedArray":
        waiting += item.chunks
    elif isinstance(item, arrow.Array):
        for buffer in item.buffers():
            if buffer is not None and buffer.size:
                yield buffer.address, buffer.address + buffer.size
        if isinstance(item, arrow.DictionaryArray):
            waiting.append(item.dictionary)
        elif isinstance(item, arrow.ExtensionArray):
            waiting.append(item.storage)
    elif not isinstance(item, (arrow.DataType, arrow.Field, arrow.Schema, arrow.Scalar)):
        raise _Unknown
