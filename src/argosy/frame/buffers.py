"""Arrays whose memory is used again. The first touch of fresh memory costs as much as a pass over it.

An array from `empty` is an ordinary NumPy array. When the last view of it is gone, also from within Arrow, its memory
goes back to the idle blocks, of which this process keeps a bounded amount. Where the system runs short of memory it may
take the pages of idle blocks away.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import weakref
from collections import deque
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike, NDArray

from argosy.resources.discover.memory import memory_nbytes

_SMALL_NBYTES = 1 << 20
_PAGE_NBYTES = 2 << 20
"""A huge page."""
_WASTE = 1.5
"""An idle block may be this much larger than asked for."""

_idle: deque[mmap.mmap] = deque()
_max_idle_nbytes: int | None = None


def empty(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Like `numpy.empty`."""
    kind = np.dtype(dtype)
    size = int(np.prod(shape))
    nbytes = size * kind.itemsize
    if nbytes < _SMALL_NBYTES:
        return np.empty(shape, kind)
    block = _find(nbytes) or _make(nbytes)
    lease = (ctypes.c_char * nbytes).from_buffer(block)
    weakref.finalize(lease, _give_back, block)
    return np.frombuffer(memoryview(lease), kind, size).reshape(shape)


def zeros(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    array = empty(shape, dtype)
    array.fill(0)
    return array


def idle_nbytes() -> int:
    return sum(len(block) for block in tuple(_idle))


def keep_idle(max_nbytes: int) -> None:
    """How much memory may lie idle; what is above it is freed."""
    global _max_idle_nbytes
    _max_idle_nbytes = max_nbytes
    _trim()


def give_back_unused() -> None:
    """What Arrow has freed but kept, to the system."""
    pa.default_memory_pool().release_unused()


def _find(nbytes: int) -> mmap.mmap | None:
    best: mmap.mmap | None = None
    for block in tuple(_idle):
        if nbytes <= len(block) <= nbytes * _WASTE + _PAGE_NBYTES and (best is None or len(block) < len(best)):
            best = block
    if best is not None:
        try:
            _idle.remove(best)
        except ValueError:
            return None  # another thread was faster
    return best


def _make(nbytes: int) -> mmap.mmap:
    block = mmap.mmap(-1, -(-nbytes // _PAGE_NBYTES) * _PAGE_NBYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        block.madvise(mmap.MADV_HUGEPAGE)
    return block


def _give_back(block: mmap.mmap) -> None:
    if hasattr(mmap, "MADV_FREE"):
        block.madvise(mmap.MADV_FREE)
    _idle.append(block)
    _trim()


def _trim() -> None:
    limit = _default_limit() if _max_idle_nbytes is None else _max_idle_nbytes
    while _idle and idle_nbytes() > limit:
        try:
            _idle.popleft()
        except IndexError:
            return


@lru_cache(maxsize=1)
def _default_limit() -> int:
    """A quarter of this core's share of the machine's memory."""
    return int(memory_nbytes() // (os.cpu_count() or 1) // 4)
