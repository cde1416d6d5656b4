"""Order rows by 64-bit codes: first into ranges, in the pass that also decides the rank, then each range in cache.

Codes are unsigned integers in the order of the keys. A range's rows lie in one segment for each rank they came from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from argosy.frame.kernels.compile import inline, kernel
from argosy.frame.kernels.hashing import HALF, LOWER, U
from argosy.frame.kernels.words import address, is_less

CELL_BITS = 14
"""Cells of the table that leads from a code to its range."""
_SMALL = 24
"""Runs up to this length are sorted by insertion."""
_UPPER = 24
"""Bits by which long codes are sorted first; what they leave equal is sorted by the rest."""


@kernel("void(uint64[::1], uint64, uint64, uint16[::1])")
def fill_cells(splitters: Any, low: Any, shift: Any, cells: Any) -> None:
    """For each cell of codes, the number of splitters that are below or at its first code; at the end, all of them."""
    at = 0
    cells[cells.size - 1] = splitters.size
    for cell in range(cells.size - 1):
        first = low + (U(cell) << shift)
        while at < splitters.size and splitters[at] <= first:
            at += 1
        cells[cell] = at


@kernel("void(uint64[::1], uint64, uint8[::1], uint64[::1], uint64, uint64, uint16[::1], uint16[::1], int64[::1])")
def range_ids(
    values: Any, flip: Any, valid: Any, splitters: Any, low: Any, shift: Any, cells: Any, ids: Any, num_rows: Any
) -> None:
    """The range of each row, which is the number of splitters at or below its code, and the rows of each range.

    A code is a value with the bits of `flip` turned around. Rows that are not valid go to the range past the last. An
    empty `valid` means that all are.
    """
    last = U(cells.size - 2)
    for i in range(values.size):
        code = values[i] ^ flip
        cell = min((max(code, low) - low) >> shift, last)
        found = np.int64(cells[cell])
        stop = np.int64(cells[cell + U(1)])
        if stop - found > 1:
            while found < stop:
                middle = (found + stop) >> 1
                if splitters[middle] <= code:
                    found = middle + 1
                else:
                    stop = middle
        elif stop > found:
            found += 1 if splitters[found] <= code else 0
        if valid.size > 0 and valid[i] == 0:
            found = splitters.size + 1
        ids[i] = found
        num_rows[found] += 1


@inline
def _begin(heads: Any) -> None:
    """From the count of each digit to where its items begin."""
    total = 0
    for digit in range(heads.size):
        count = heads[digit]
        heads[digit] = total
        total += count


@inline
def _packed_pass(packed: Any, to: Any, n: Any, shift: Any, heads: Any) -> None:
    """By eight bits from `shift` on; `heads` are the counts of each digit."""
    _begin(heads)
    for i in range(n):
        item = packed[i]
        digit = (item >> shift) & U(255)
        to[heads[digit]] = item
        heads[digit] += 1


@inline
def _insertion(values: Any, flip: Any, packed: Any, start: Any, stop: Any) -> None:
    for i in range(start + 1, stop):
        item = packed[i]
        code = values[item & LOWER] ^ flip
        j = i - 1
        while j >= start and values[packed[j] & LOWER] ^ flip > code:
            packed[j + 1] = packed[j]
            j -= 1
        packed[j + 1] = item


@inline
def _sort_run(values: Any, flip: Any, low: Any, packed: Any, start: Any, stop: Any, bits: Any) -> None:
    """A run whose codes, counted from `low`, agree but for their last `bits` bits."""
    n = stop - start
    codes = np.empty(n, np.uint64)
    rows = np.empty(n, np.uint64)
    other_codes = np.empty(n, np.uint64)
    other_rows = np.empty(n, np.uint64)
    for i in range(n):
        rows[i] = packed[start + i]
        codes[i] = (values[rows[i] & LOWER] ^ flip) - low
    done = 0
    while done < bits:
        heads = np.zeros(256, np.int64)
        for i in range(n):
            heads[(codes[i] >> U(done)) & U(255)] += 1
        _begin(heads)
        for i in range(n):
            digit = (codes[i] >> U(done)) & U(255)
            to = heads[digit]
            heads[digit] = to + 1
            other_codes[to] = codes[i]
            other_rows[to] = rows[i]
        codes, other_codes = other_codes, codes
        rows, other_rows = other_rows, rows
        done += 8
    for i in range(n):
        packed[start + i] = rows[i]


@inline
def _sort_rest(values: Any, flip: Any, low: Any, packed: Any, n: Any, bits: Any) -> None:
    """Put rows whose upper bits are equal into the order of all their bits, of which `bits` are left."""
    start = 0
    while start < n:
        stop = start + 1
        top = packed[start] >> HALF
        while stop < n and packed[stop] >> HALF == top:
            stop += 1
        if stop - start > _SMALL:
            _sort_run(values, flip, low, packed, start, stop, bits)
        elif stop - start > 1:
            _insertion(values, flip, packed, start, stop)
        start = stop


@kernel("void(uint64[::1], uint64, int64[:, ::1], int64[:, ::1], uint64[::1], int32[::1])")
def sort_ranges(values: Any, flip: Any, starts: Any, counts: Any, sorted_codes: Any, order: Any) -> None:
    """The rows of all ranges in order of their codes, stable by source and row; `order` are their numbers.

    `sorted_codes` may be empty when nobody asks for them. Row numbers are below 2**31: a row travels through the passes
    as one word, the upper bits of its code beside its number.
    """
    num_sources, num_ranges = starts.shape
    heads = np.empty((4, 256), np.int64)
    one = np.empty(1024, np.uint64)
    other = np.empty(1024, np.uint64)
    out = 0
    for bucket in range(num_ranges):
        n = 0
        for source in range(num_sources):
            n += counts[source, bucket]
        if n == 0:
            continue
        if n > one.size:
            one = np.empty(n + n // 4, np.uint64)
            other = np.empty(n + n // 4, np.uint64)
        low = U(0xFFFFFFFFFFFFFFFF)
        high = U(0)
        for source in range(num_sources):
            start = starts[source, bucket]
            for row in range(start, start + counts[source, bucket]):
                code = values[row] ^ flip
                low = min(low, code)
                high = max(high, code)
        bits = 0
        while bits < 64 and (high - low) >> U(bits) != U(0):
            bits += 1
        kept = bits if bits <= 32 else _UPPER
        rest = bits - kept
        passes = (kept + 7) // 8
        heads[:] = 0
        at = 0
        for source in range(num_sources):
            start = starts[source, bucket]
            for row in range(start, start + counts[source, bucket]):
                upper = ((values[row] ^ flip) - low) >> U(rest)
                one[at] = (upper << HALF) | U(row)
                at += 1
                for k in range(passes):
                    heads[k, (upper >> U(8 * k)) & U(255)] += 1
        for k in range(passes):
            _packed_pass(one, other, n, U(32 + 8 * k), heads[k])
            one, other = other, one
        if rest > 0:
            _sort_rest(values, flip, low, one, n, rest)
        for i in range(n):
            order[out + i] = one[i] & LOWER
        if sorted_codes.size > 0 and rest == 0:
            for i in range(n):
                sorted_codes[out + i] = (one[i] >> HALF) + low
        elif sorted_codes.size > 0:
            for i in range(n):
                sorted_codes[out + i] = values[one[i] & LOWER] ^ flip
        out += n


@kernel("void(uint64[::1], int32[::1], int64[::1], uint8[::1], int64)")
def sort_ties(sorted_codes: Any, order: Any, offsets: Any, data: Any, skip: Any) -> None:
    """Put rows of equal code into the order of their strings from byte `skip` on: a stable merge sort of each run."""
    n = order.size
    base = address(data) + skip
    spare = np.empty(0, np.int32)
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and sorted_codes[stop] == sorted_codes[start]:
            stop += 1
        size = stop - start
        if size > 1:
            if size > spare.size:
                spare = np.empty(size, np.int32)
            width = 1
            while width < size:
                for left in range(0, size, 2 * width):
                    middle = min(left + width, size)
                    right = min(left + 2 * width, size)
                    i = left
                    j = middle
                    for k in range(left, right):
                        take_left = i < middle
                        if take_left and j < right:
                            one = order[start + j]
                            other = order[start + i]
                            take_left = not is_less(
                                base + offsets[one],
                                offsets[one + 1] - offsets[one] - skip,
                                base + offsets[other],
                                offsets[other + 1] - offsets[other] - skip,
                            )
                        if take_left:
                            spare[k] = order[start + i]
                            i += 1
                        else:
                            spare[k] = order[start + j]
                            j += 1
                order[start:stop] = spare[:size]
                width *= 2
        start = stop


@kernel("void(int64[::1], uint8[::1], int64, uint64[::1])")
def prefix_codes(offsets: Any, data: Any, skip: Any, codes: Any) -> None:
    """Eight bytes of each string from byte `skip` on, as a number in the order of the strings."""
    for i in range(codes.size):
        at = offsets[i] + skip
        stop = min(at + 8, offsets[i + 1])
        code = U(0)
        shift = U(56)
        while at < stop:
            code |= U(data[at]) << shift
            shift -= U(8)
            at += 1
        codes[i] = code
