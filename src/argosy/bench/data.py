"""The tables of a case: every side makes them by itself, and gets the same."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from argosy.bench.cases import Case

UNIQUE = 0.9
"""Keys are drawn below this share of the number of rows."""
PREFIX = b"user_"
_DIGITS = 8


def tables_of(case: Case, num_rows: int) -> tuple[pa.Table, pa.Table | None]:
    """The left table, and the right one where the case has one."""
    left = _table(case, num_rows, "a", seed=1)
    return left, _table(case, num_rows, "b", seed=2) if case.kind == "join" else None


def user_names(numbers: NDArray[np.int64]) -> pa.Array:
    """`user_%08d` of each number, which must have no more digits than that."""
    if len(numbers) and int(numbers.max()) >= 10**_DIGITS:
        raise ValueError(
            f"string keys have {_DIGITS} digits, which is too few for {int(numbers.max()):,}; use fewer rows"
        )
    width = len(PREFIX) + _DIGITS
    text = np.empty((len(numbers), width), np.uint8)
    text[:, : len(PREFIX)] = np.frombuffer(PREFIX, np.uint8)
    rest = numbers.copy()
    for column in range(width - 1, len(PREFIX) - 1, -1):
        rest, digit = np.divmod(rest, 10)
        text[:, column] = digit + ord("0")
    offsets = np.arange(0, (len(numbers) + 1) * width, width, dtype=np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    names = pa.Array.from_buffers(pa.large_string(), len(numbers), buffers)
    return names.cast(pa.string()) if offsets[-1] < 2**31 else names


def _table(case: Case, num_rows: int, payload: str, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    top = max(int(UNIQUE * num_rows), 1)
    numbers, values = rng.integers(0, top, num_rows), rng.integers(0, top, num_rows)
    missing = rng.random(num_rows) < case.null_share if case.null_share else None
    keys = user_names(numbers) if case.strings else pa.array(numbers, mask=missing)
    return pa.table({"k": keys, payload: pa.array(values)})
