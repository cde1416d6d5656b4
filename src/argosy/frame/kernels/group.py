"""Number the groups: each distinct key of a bucket gets the next number."""

from __future__ import annotations

from typing import Any

import numpy as np

from argosy.frame.kernels.compile import kernel
from argosy.frame.kernels.hashing import U, slot
from argosy.frame.kernels.words import address, same


@kernel(
    "int64(uint64[::1], int64[::1], uint8[::1], int64[:, ::1], int64[:, ::1], int64, boolean, int64, "
    "int32[::1], int32[::1])"
)
def number_groups(
    codes: Any,
    offsets: Any,
    data: Any,
    starts: Any,
    counts: Any,
    total_buckets: Any,
    exact: Any,
    limit: Any,
    groups: Any,
    first_rows: Any,
) -> Any:
    """Writes the group of each row and the first row of each group; returns how many groups there are.

    `total_buckets` are those of all ranks. Gives up, with -1, when there are more groups than `limit`. `exact`: equal
    codes are equal keys; else the bytes decide.
    """
    num_sources, num_buckets = starts.shape
    size = 1024
    slots = np.empty(size, np.int32)
    num_groups = 0
    buckets = U(total_buckets)
    base = address(data)
    for bucket in range(num_buckets):
        num_rows = 0
        for source in range(num_sources):
            num_rows += counts[source, bucket]
        if num_rows == 0:
            continue
        wanted = 1024
        shift = U(22)
        while wanted < min(2 * num_rows, 1 << 16):
            wanted *= 2
            shift -= U(1)
        if wanted > slots.size:
            slots = np.empty(wanted, np.int32)
        size = wanted
        slots[:size] = -1
        mask = U(size - 1)
        first_group = num_groups
        for source in range(num_sources):
            start = starts[source, bucket]
            for row in range(start, start + counts[source, bucket]):
                code = codes[row]
                at = slot(code, buckets, shift)
                while True:
                    group = slots[at]
                    if group < 0:
                        if num_groups >= limit:
                            return -1
                        slots[at] = num_groups
                        first_rows[num_groups] = row
                        groups[row] = num_groups
                        num_groups += 1
                        if (num_groups - first_group) * 2 > size:
                            size *= 4
                            shift -= U(2)
                            if size > slots.size:
                                slots = np.empty(size, np.int32)
                            slots[:size] = -1
                            mask = U(size - 1)
                            for known in range(first_group, num_groups):
                                at = slot(codes[first_rows[known]], buckets, shift)
                                while slots[at] >= 0:
                                    at = (at + U(1)) & mask
                                slots[at] = known
                        break
                    first = first_rows[group]
                    equal = codes[first] == code
                    if equal and not exact:
                        length = offsets[row + 1] - offsets[row]
                        equal = offsets[first + 1] - offsets[first] == length and same(
                            base + offsets[row], base + offsets[first], length
                        )
                    if equal:
                        groups[row] = group
                        break
                    at = (at + U(1)) & mask
    return num_groups
