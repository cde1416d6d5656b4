"""Power iteration with a banded sparse matrix, held as four blocks of rows that change at different rates.

Each block is in compressed rows: `near.values`, `near.offsets` (column minus row, in two bytes), `near.rows` (where
each row begins) and so on. A block of rate 2 is multiplied in every second iteration only, and its part of `y` is kept
in between, as multi-rate methods do with slow components; so what a byte of the matrix costs differs by block. A row
reads `x` near its own place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argosy.memory.miniapps.compiled import Array, compiled
from argosy.memory.store import Store
from argosy.memory.workload import Workload

ITERATIONS = 3
HALF_BAND = 400
"""Columns either side of the diagonal."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A range of rows of the matrix."""

    name: str
    share: float
    """Of all rows."""
    per_row: int
    """Entries of each row."""
    rate: int
    """Multiplied in every so many iterations."""


BLOCKS = (
    Block(name="near", share=0.25, per_row=8, rate=1),
    Block(name="middle", share=0.35, per_row=12, rate=2),
    Block(name="far", share=0.25, per_row=16, rate=4),
    Block(name="edge", share=0.15, per_row=24, rate=2),
)
NBYTES_PER_ROW = 16 + sum(6 * block.share * block.per_row for block in BLOCKS)
"""x 4, y 4, where the row begins 8; of each entry its value 4, its offset 2."""

LEAST_ROWS = 32
"""So that the widest rows find a column for each of their entries."""


def make(nbytes: int, iterations: int) -> Workload:
    """Returns, from each run, the norm of each iteration's product."""
    num_rows = max(int(nbytes / NBYTES_PER_ROW), LEAST_ROWS)
    ends = [int(num_rows * share) for share in np.cumsum([block.share for block in BLOCKS])]
    ends[-1] = num_rows
    starts = [0, *ends[:-1]]
    ranges = tuple(zip(BLOCKS, starts, ends, strict=True))
    return Workload(
        name="spmv",
        objects=lambda: _objects(ranges, num_rows),
        run=lambda store: _run(store, ranges, iterations),
    )


Ranges = tuple[tuple[Block, int, int], ...]


def _objects(ranges: Ranges, num_rows: int) -> dict[str, Array]:
    random = np.random.default_rng(11)
    objects: dict[str, Array] = {}
    for block, start, end in ranges:
        size = (end - start) * block.per_row
        offsets = np.empty(size, np.int16)
        _fill_offsets(offsets, random.random(size, dtype=np.float32), start, block.per_row, num_rows)
        objects[f"{block.name}.values"] = random.random(size, dtype=np.float32) + np.float32(0.1)
        objects[f"{block.name}.offsets"] = offsets
        objects[f"{block.name}.rows"] = np.arange(end - start + 1, dtype=np.int64) * block.per_row
    return {**objects, "x": np.zeros(num_rows, np.float32), "y": np.zeros(num_rows, np.float32)}


def _run(store: Store, ranges: Ranges, iterations: int) -> tuple[float, ...]:
    with store.window("start"):
        _start(store.write("x"))
    norms = []
    for iteration in range(iterations):
        for block, start, end in ranges:
            if iteration % block.rate == 0:
                with store.window(f"multiply {block.name}"):
                    _multiply_block(store, block, start, end)
        with store.window("scale"):
            norms.append(_scale(store["y"], store.write("x")))
    return tuple(norms)


def _multiply_block(store: Store, block: Block, start: int, end: int) -> None:
    x, y = store["x"], store.write("y")
    near = min(end + HALF_BAND, len(x)) - max(start - HALF_BAND, 0)
    store.count("x", bytes_read=near * x.itemsize)
    store.count("y", bytes_written=(end - start) * y.itemsize)
    matrix = (store[f"{block.name}.{part}"] for part in ("values", "offsets", "rows"))
    _multiply(*matrix, x, y, start)


@compiled
def _fill_offsets(offsets: Array, draws: Array, start: int, per_row: int, num_rows: int) -> None:
    """In each row, one column in each of `per_row` equal parts of the band: in order, and none twice."""
    for at in range(len(offsets)):
        row = start + at // per_row
        left = max(row - HALF_BAND, 0)
        part = (min(row + HALF_BAND + 1, num_rows) - left) // per_row
        offsets[at] = left + (at % per_row) * part + int(draws[at] * part) - row


@compiled
def _start(x: Array) -> None:
    for i in range(len(x)):
        x[i] = 1.0 + 0.001 * (i % 7)


@compiled
def _multiply(values: Array, offsets: Array, rows: Array, x: Array, y: Array, start: int) -> None:
    for row in range(len(rows) - 1):
        total = 0.0
        for at in range(rows[row], rows[row + 1]):
            total += values[at] * x[start + row + offsets[at]]
        y[start + row] = total


@compiled
def _scale(y: Array, x: Array) -> float:
    """x = y over its norm, which is returned."""
    square = 0.0
    for i in range(len(y)):
        square += y[i] * y[i]
    norm = np.sqrt(square)
    for i in range(len(y)):
        x[i] = y[i] / norm
    return float(norm)
