"""Text whose first many bytes are alike comes out in order: over ranks, through the disk, with other keys, and matched
in a join that sorts."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from frame.operators.laws import PLENTY, parts

from argosy import from_arrow

ENDS = ["", "\0", "\0\0", "a", "ab", "b", "é", "日本", "\U0010ffff", "z" * 9]
PREFIXES = ["", "p" * 7, "p" * 8, "p" * 9, "p" * 64, "p" * 700, "q" * 700]


def texts(draw: random.Random, num_rows: int) -> list[Any]:
    return [
        None if draw.random() < 0.1 else draw.choice(PREFIXES) + draw.choice(ENDS) * draw.randint(1, 2)
        for _ in range(num_rows)
    ]


def order(values: list[Any], descending: bool) -> list[Any]:
    """Nulls last either way."""
    there = sorted((one for one in values if one is not None), key=lambda one: one.encode(), reverse=descending)
    return there + [None] * (len(values) - len(there))


@pytest.mark.parametrize("num_ranks", [1, 4])
@pytest.mark.parametrize("share_nbytes", [PLENTY, 20_000])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_binary(), pa.dictionary(pa.int32(), pa.string())], ids=str)
def test_sorted_means_sorted(num_ranks: int, share_nbytes: int, kind: pa.DataType) -> None:
    draw = random.Random(num_ranks)
    values = texts(draw, 250)
    column = pa.array(values, pa.string()).cast(kind) if kind != pa.large_binary() else pa.array(values).cast(kind)
    frame = from_arrow(pa.table({"t": column, "n": [draw.randint(0, 2) for _ in values]}))
    for descending in (False, True):
        found = pa.concat_tables(parts(frame.sort("t", descending=descending).plan, num_ranks, share_nbytes))
        assert found.column("t").cast(pa.large_binary()).to_pylist() == [
            None if one is None else one.encode() for one in order(values, descending)
        ]
    both = pa.concat_tables(parts(frame.sort("n", "t").plan, num_ranks, share_nbytes))
    rows = list(zip(both.column("n").to_pylist(), both.column("t").cast(pa.large_binary()).to_pylist(), strict=True))
    assert rows == sorted(rows, key=lambda row: (row[0], row[1] is None, row[1] or b""))


@pytest.mark.parametrize("num_ranks", [1, 3])
@pytest.mark.parametrize("share_nbytes", [PLENTY, 20_000])
def test_a_join_that_sorts_matches_equal_text_only(num_ranks: int, share_nbytes: int) -> None:
    draw = random.Random(7)
    left, right = texts(draw, 150), texts(draw, 150)
    frame = from_arrow(pa.table({"t": left, "i": range(150)}))
    other = from_arrow(pa.table({"t": right, "j": range(150)}))
    joined = frame.join(other, on="t", algorithm="sort").plan
    found = pa.concat_tables(parts(joined, num_ranks, share_nbytes))
    pairs = sorted(zip(found.column("i").to_pylist(), found.column("j").to_pylist(), strict=True))
    assert pairs == [(i, j) for i in range(150) for j in range(150) if left[i] is not None and left[i] == right[j]]
