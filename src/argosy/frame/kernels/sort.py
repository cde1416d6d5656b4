"""Order rows by 64-bit codes: first into ranges, in the pass that also decides the rank, then each range in cache.

Codes are unsigned integers in the order of the keys. A range's rows lie in one segment for each rank they came from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from argosy.frame.kernels.compile import inline, kernel
from argosy.frame.kernels.hashing import HALF, LOWER, U

CELL_BITS = 14
"""Cells of the table that leads from a code to its range."""
_SMALL = 24


@kernel("void(uint64[::1], uint64, uint64, uint16[::1])")
def fill_cells(splitters: Any, low: Any, shift: Any, cells: Any) -> None:
    """For each cell of codes, the number of splitters that are below or at its first code."""
    at = 0
    for cell in range(cells.size):
        first = low + (U(cell) << shift)
        while at < splitters.size and splitters[at] <= first:
            at += 1
        cells[cell] = at


@kernel("void(uint64[::1], uint64, uint8[::1], uint64[::1], uint64, uint64, uint16[::1], uint16[::1], int64[::1])")
def range_ids(
    values: Any, flip: Any, valid: Any, splitters: Any, low: Any, shift: Any, cells: Any, ids: Any, num_rows: Any
) -> None:
    """The range of each row, which is the number of splitters at or below its code, and the rows of each range.

    A code is a value with the bits of `flip` turned around. Rows that are not valid go to the range past the last. An empty `valid` means that all are.
    """
    last = U(cells.size - 2)
    for i in range(values.size):
        if valid.size > 0 and valid[i] == 0:
            found = splitters.size + 1
        else:
            code = values[i] ^ flip
            cell = (code - low) >> shift if code > low else U(0)
            if cell > last:
                cell = last
            found = np.int64(cells[cell])
            stop = np.int64(cells[cell + U(1)])
            if found != stop or cell == last:
                if cell == last:
                    stop = splitters.size
                while found < stop:
                    middle = (found + stop) >> 1
                    if splitters[middle] <= code:
                        found = middle + 1
                    else:
                        stop = middle
        ids[i] = found
        num_rows[found] += 1


@inline
def _pass(codes: Any, rows: Any, to_codes: Any, to_rows: Any, n: Any, low: Any, shift: Any, heads: Any) -> None:
    heads[:] = 0
    for i in range(n):
        heads[((codes[i] - low) >> shift) & U(255)] += 1
    total = 0
    for digit in range(256):
        count = heads[digit]
        heads[digit] = total
        total += count
    for i in range(n):
        digit = ((codes[i] - low) >> shift) & U(255)
        to = heads[digit]
        heads[digit] = to + 1
        to_codes[to] = codes[i]
        to_rows[to] = rows[i]


@inline
def _radix(
    codes: Any, rows: Any, other_codes: Any, other_rows: Any, n: Any, low: Any, shift: Any, bits: Any, heads: Any
) -> Any:
    """Stable sort by `bits` bits of `code - low` from `shift` on; says whether the result is in the other arrays."""
    flipped = False
    done = 0
    while done < bits:
        if flipped:
            _pass(other_codes, other_rows, codes, rows, n, low, U(shift + done), heads)
        else:
            _pass(codes, rows, other_codes, other_rows, n, low, U(shift + done), heads)
        flipped = not flipped
        done += 8
    return flipped


@inline
def _insertion(codes: Any, rows: Any, start: Any, stop: Any) -> None:
    for i in range(start + 1, stop):
        code = codes[i]
        row = rows[i]
        j = i - 1
        while j >= start and codes[j] > code:
            codes[j + 1] = codes[j]
            rows[j + 1] = rows[j]
            j -= 1
        codes[j + 1] = code
        rows[j + 1] = row


@inline
def _packed_pass(packed: Any, to: Any, n: Any, shift: Any, heads: Any) -> None:
    heads[:] = 0
    for i in range(n):
        heads[(packed[i] >> shift) & U(255)] += 1
    total = 0
    for digit in range(256):
        count = heads[digit]
        heads[digit] = total
        total += count
    for i in range(n):
        item = packed[i]
        digit = (item >> shift) & U(255)
        to[heads[digit]] = item
        heads[digit] += 1


@inline
def _sort_long(codes: Any, rows: Any, other_codes: Any, other_rows: Any, n: Any, low: Any, bits: Any, heads: Any) -> None:
    """Codes that differ in more than 32 bits: by their upper bits, then what these leave equal by the rest."""
    wanted = 8
    while wanted < 32 and (np.int64(1) << (wanted - 6)) < n:
        wanted += 8
    shift = bits - wanted
    if _radix(codes, rows, other_codes, other_rows, n, low, shift, wanted, heads):
        codes[:n] = other_codes[:n]
        rows[:n] = other_rows[:n]
    start = 0
    while start < n:
        stop = start + 1
        top = (codes[start] - low) >> U(shift)
        while stop < n and (codes[stop] - low) >> U(shift) == top:
            stop += 1
        if stop - start <= _SMALL:
            _insertion(codes, rows, start, stop)
        elif _radix(
            codes[start:stop],
            rows[start:stop],
            other_codes[start:stop],
            other_rows[start:stop],
            stop - start,
            low,
            0,
            shift,
            heads,
        ):
            codes[start:stop] = other_codes[start:stop]
            rows[start:stop] = other_rows[start:stop]
        start = stop


@kernel(
    "void(uint64[::1], uint64, int64[:, ::1], int64[:, ::1], uint64[::1], int32[::1])",
)
def sort_ranges(values: Any, flip: Any, starts: Any, counts: Any, sorted_codes: Any, order: Any) -> None:
    """The rows of all ranges in order of their codes, stable by source and row; `order` are their numbers.

    `sorted_codes` may be empty when nobody asks for them. Row numbers are below 2**32.
    """
    num_sources, num_ranges = starts.shape
    want_codes = sorted_codes.size > 0
    heads = np.empty(256, np.int64)
    codes = np.empty(1024, np.uint64)
    other = np.empty(1024, np.uint64)
    rows = np.empty(0, np.int32)
    other_rows = np.empty(0, np.int32)
    out = 0
    for bucket in range(num_ranges):
        n = 0
        for source in range(num_sources):
            n += counts[source, bucket]
        if n == 0:
            continue
        if n > codes.size:
            codes = np.empty(n + n // 4, np.uint64)
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
        at = 0
        if bits <= 32:
            for source in range(num_sources):
                start = starts[source, bucket]
                for row in range(start, start + counts[source, bucket]):
                    codes[at] = (((values[row] ^ flip) - low) << HALF) | U(row)
                    at += 1
            done = 0
            flipped = False
            while done < bits:
                if flipped:
                    _packed_pass(other, codes, n, U(32 + done), heads)
                else:
                    _packed_pass(codes, other, n, U(32 + done), heads)
                flipped = not flipped
                done += 8
            packed = other if flipped else codes
            for i in range(n):
                order[out + i] = packed[i] & LOWER
            if want_codes:
                for i in range(n):
                    sorted_codes[out + i] = (packed[i] >> HALF) + low
        else:
            if n > rows.size:
                rows = np.empty(codes.size, np.int32)
                other_rows = np.empty(codes.size, np.int32)
            for source in range(num_sources):
                start = starts[source, bucket]
                for row in range(start, start + counts[source, bucket]):
                    codes[at] = values[row] ^ flip
                    rows[at] = row
                    at += 1
            if n <= _SMALL:
                _insertion(codes, rows, 0, n)
            else:
                _sort_long(codes, rows, other, other_rows, n, low, bits, heads)
            for i in range(n):
                order[out + i] = rows[i]
            if want_codes:
                sorted_codes[out : out + n] = codes[:n]
        out += n


@inline
def _is_less(offsets: Any, data: Any, row: Any, other: Any, skip: Any) -> Any:
    start = offsets[row] + skip
    stop = offsets[row + 1]
    other_start = offsets[other] + skip
    other_stop = offsets[other + 1]
    while start < stop and other_start < other_stop:
        if data[start] != data[other_start]:
            return data[start] < data[other_start]
        start += 1
        other_start += 1
    return other_stop - other_start > stop - start


@kernel("void(uint64[::1], int32[::1], int64[::1], uint8[::1], int64)")
def sort_ties(sorted_codes: Any, order: Any, offsets: Any, data: Any, skip: Any) -> None:
    """Put rows of equal code into the order of their strings from byte `skip` on: a stable merge sort of each run."""
    n = order.size
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
                        if i < middle and (
                            j >= right or not _is_less(offsets, data, order[start + j], order[start + i], skip)
                        ):
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
