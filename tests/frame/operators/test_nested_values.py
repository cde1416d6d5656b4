"""Distinct values of lists, structs and maps are counted as Python would tell them apart."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import argosy
from argosy import col

NAN = float("nan")


@pytest.mark.parametrize(
    ("kind", "values", "counts"),
    [
        (pa.list_(pa.int64()), [[1], [1], [2], [2, None], None, [None]], [1, 3]),
        (pa.large_list(pa.float64()), [[1.0, NAN], [1.0, NAN], [0.0], [-0.0], None], [1, 1]),
        (pa.list_(pa.int64(), 2), [[1, 2], [1, 2], None, [1, 3], [1, None]], [1, 2]),
        (pa.list_view(pa.string()), [["a"], ["a", ""], [], None, [None]], [2, 2]),
        (pa.map_(pa.string(), pa.int64()), [[("a", 1)], [("a", 1)], [], [("a", None)], None], [1, 2]),
        (pa.struct([("x", pa.int8())]), [{"x": 1}, {"x": 1}, {"x": None}, None, {"x": 2}], [1, 2]),
        (pa.list_(pa.list_(pa.int64())), [[[1], [2]], [[1, 2]], [[]], [], [None]], [2, 3]),
        (
            pa.struct([("x", pa.list_(pa.dictionary(pa.int8(), pa.string())))]),
            [{"x": ["a"]}, {"x": ["a"]}, {"x": ["b"]}, None, {"x": None}],
            [1, 2],
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("first", [0, 2])
def test_distinct_nested_values(kind: pa.DataType, values: list[Any], counts: list[int], first: int) -> None:
    """Also where the table is a slice of a longer one."""
    groups = [0, 0, 1, 1, 1, 1][: len(values)]
    before = [values[1]] * first
    table = pa.table({"g": [7] * first + groups, "x": pa.array(before + values, kind)}).slice(first)
    found = argosy.from_arrow(table).group_by("g").agg(n=col("x").n_unique()).sort("g").collect()
    assert found.column("n").to_pylist() == counts


def test_a_semi_join_compares_a_dictionary_with_plain_values_and_keeps_it() -> None:
    encoded = pa.array([1, 2, None, 2]).dictionary_encode()
    left = argosy.from_arrow(pa.table({"k": encoded, "v": [0, 1, 2, 3]}))
    right = argosy.from_arrow(pa.table({"k": pa.array([2, 5], pa.int32())}))
    kept = left.join(right, on="k", how="semi").collect()
    assert kept.schema.field("k").type == encoded.type
    assert sorted(kept.column("v").to_pylist()) == [1, 3]
    assert sorted(left.join(right, on="k", how="anti").collect().column("v").to_pylist()) == [0, 2]


@pytest.mark.parametrize("kind", [pa.decimal32(7, 2), pa.decimal64(12, 2), pa.decimal128(20, 2), pa.decimal256(50, 2)])
def test_decimals_of_every_width_are_found_among_values(kind: pa.DataType) -> None:
    frame = argosy.from_arrow(pa.table({"x": pa.array([1, 2, None], pa.int64()).cast(pa.decimal128(38, 2)).cast(kind)}))
    assert frame.filter(col("x").is_in([2, 7])).collect().num_rows == 1


@pytest.mark.parametrize(
    "values", [pa.timestamp("ms"), pa.decimal128(20, 2), pa.duration("s"), pa.large_string()], ids=str
)
def test_a_whole_frame_without_rows_has_no_first_value_of_a_dictionary(values: pa.DataType) -> None:
    nothing = argosy.from_arrow(pa.table({"a": pa.nulls(0, pa.dictionary(pa.int32(), values))}))
    found = nothing.group_by().agg(first=col("a").first(), most=col("a").max(), n=col("a").count()).collect()
    assert found.to_pylist() == [{"first": None, "most": None, "n": 0}]
