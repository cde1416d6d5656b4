"""Lines of `valgrind --tool=lackey --trace-mem=yes`, read as they stream out.

    I  0401ab70,3       an instruction was fetched: skipped
     L 1ffefffe7c,8     8 bytes were read
     S 1fff000768,8     written
     M 04a4f010,4       read, changed and written

A program of a second makes hundreds of millions of them, so a block of bytes becomes arrays in one compiled pass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

READ, WRITE, BOTH = 1, 2, 3


class Accesses(NamedTuple):
    addresses: NDArray[np.int64]
    sizes: NDArray[np.int64]
    kinds: NDArray[np.int8]
    """READ, WRITE or BOTH."""
    consumed: int
    """Bytes of the block up to the end of its last whole line; what is left goes before the next block."""
    lines: int


def parse(block: bytes | bytearray | memoryview) -> Accesses:
    """The accesses to data in a block of whole lines and perhaps the beginning of one more. Other lines are skipped."""
    text = np.frombuffer(block, np.uint8)
    room = len(text) // 6 + 1  # the shortest access is ` L 0,1` and the end of its line
    addresses, sizes, kinds = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int8)
    count, consumed, lines = _parse(text, addresses, sizes, kinds)
    return Accesses(addresses[:count], sizes[:count], kinds[:count], consumed, lines)


@njit(cache=True, nogil=True)
def _parse(
    text: NDArray[np.uint8], addresses: NDArray[np.int64], sizes: NDArray[np.int64], kinds: NDArray[np.int8]
) -> tuple[int, int, int]:
    end = len(text)
    while end > 0 and text[end - 1] != 10:
        end -= 1
    at = count = lines = 0
    while at < end:
        lines += 1
        kind = 0
        if text[at] == 32 and at + 3 < end and text[at + 2] == 32:
            letter = text[at + 1]
            kind = 1 if letter == 76 else 2 if letter == 83 else 3 if letter == 77 else 0
        if kind:
            at += 3
            address = 0
            first = at
            while True:
                digit = text[at]
                if 48 <= digit <= 57:
                    address = address * 16 + (digit - 48)
                elif 97 <= digit <= 102:
                    address = address * 16 + (digit - 87)
                elif 65 <= digit <= 70:
                    address = address * 16 + (digit - 55)
                else:
                    break
                at += 1
            if text[at] == 44 and at > first:
                at += 1
                first = at
                size = 0
                while 48 <= text[at] <= 57:
                    size = size * 10 + (text[at] - 48)
                    at += 1
                if text[at] == 10 and at > first:
                    addresses[count] = address
                    sizes[count] = size
                    kinds[count] = kind
                    count += 1
        while text[at] != 10:
            at += 1
        at += 1
    return count, end, lines
