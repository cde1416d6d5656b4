"""A file as memory: private to this process, and without a descriptor that stays open.

`mmap.mmap` holds one for each mapping, and a process may have a thousand; a user may have more large results than that.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import weakref

_FAILED = ctypes.c_void_p(-1).value


def map_file(descriptor: int, nbytes: int) -> memoryview:
    """The first bytes of the file. What is written there nobody else sees; unmapped when no view of it is left."""
    address = _libc.mmap(None, nbytes, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE, descriptor, 0)
    if address == _FAILED:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    region = (ctypes.c_ubyte * nbytes).from_address(address)
    weakref.finalize(region, _libc.munmap, address, nbytes).atexit = False  # arrays may still be in use then
    return memoryview(region).cast("B")


_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
