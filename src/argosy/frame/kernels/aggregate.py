"""Fold the values of each group. Rows of a group lie close together, so the accumulators stay in cache.

An empty `valid` means that all values are there. `groups` is the number of each row's group.
"""

from __future__ import annotations

from typing import Any

from argosy.frame.kernels.compile import kernel
from argosy.frame.kernels.hashing import U


@kernel("void(int32[::1], uint8[::1], int64[::1])")
def count_valid(groups: Any, valid: Any, counts: Any) -> None:
    if valid.size == 0:
        for i in range(groups.size):
            counts[groups[i]] += 1
    else:
        for i in range(groups.size):
            counts[groups[i]] += valid[i]


@kernel(
    "void(int64[::1], int32[::1], uint8[::1], int64[::1])", "void(float64[::1], int32[::1], uint8[::1], float64[::1])"
)
def add(values: Any, groups: Any, valid: Any, sums: Any) -> None:
    if valid.size == 0:
        for i in range(groups.size):
            sums[groups[i]] += values[i]
    else:
        for i in range(groups.size):
            if valid[i] != 0:
                sums[groups[i]] += values[i]


@kernel("void(int64[::1], int32[::1], uint8[::1], boolean, uint64[::1], int64[::1])")
def add_wide(values: Any, groups: Any, valid: Any, unsigned: Any, low: Any, high: Any) -> None:
    """Sums in 128 bits, as a lower and an upper half; `unsigned` values are read as such."""
    for i in range(groups.size):
        if valid.size > 0 and valid[i] == 0:
            continue
        group = groups[i]
        value = U(values[i])
        total = low[group] + value
        if total < value:
            high[group] += 1
        low[group] = total
        if values[i] < 0 and not unsigned:
            high[group] -= 1


@kernel("void(uint64[::1], int64[::1], int32[::1], uint64[::1], int64[::1])")
def add_wide_sums(low_values: Any, high_values: Any, groups: Any, low: Any, high: Any) -> None:
    """Sums of 128 bits, added up."""
    for i in range(groups.size):
        group = groups[i]
        total = low[group] + low_values[i]
        if total < low_values[i]:
            high[group] += 1
        low[group] = total
        high[group] += high_values[i]


@kernel("void(uint64[::1], int32[::1], uint8[::1], boolean, int32[::1])")
def best_rows(codes: Any, groups: Any, valid: Any, largest: Any, rows: Any) -> None:
    """The row with the smallest or largest code of each group; `rows` comes in as -1."""
    for i in range(groups.size):
        if valid.size > 0 and valid[i] == 0:
            continue
        group = groups[i]
        row = rows[group]
        if row < 0 or (codes[i] > codes[row] if largest else codes[i] < codes[row]):
            rows[group] = i


@kernel("void(float64[::1], int32[::1], uint8[::1], float64[::1], float64[::1], float64[::1])")
def add_distances(values: Any, groups: Any, valid: Any, means: Any, distances: Any, squares: Any) -> None:
    """Distances from each group's mean, and their squares."""
    for i in range(groups.size):
        if valid.size > 0 and valid[i] == 0:
            continue
        group = groups[i]
        distance = values[i] - means[group]
        distances[group] += distance
        squares[group] += distance * distance


@kernel("void(int32[::1], int32[::1])")
def last_rows(groups: Any, rows: Any) -> None:
    """The last row of each group."""
    for i in range(groups.size):
        rows[groups[i]] = i
