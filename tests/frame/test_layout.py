"""Every layout that Arrow has for the same values becomes the one that frames work on, and the values stay."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import argosy
from argosy import col
from argosy.errors import TypeMismatch
from argosy.frame.layout import laid_out, plain_layout

VIEW = pa.string_view()
TEXTS = ["a", None, "a text that is too long for a view", ""]
LAYOUTS: list[tuple[pa.DataType, list[Any]]] = [
    (VIEW, TEXTS),
    (pa.binary_view(), [b"a", None, b"bytes that are too long for a view", b""]),
    (pa.list_(VIEW), [["a", None], None, [], TEXTS]),
    (pa.large_list(VIEW), [["a", None], None, [], TEXTS]),
    (pa.list_(VIEW, 2), [["a", "b"], None, ["c", None], ["", ""]]),
    (pa.list_view(pa.int64()), [[1], None, [2, None, 3], []]),
    (pa.large_list_view(VIEW), [["a"], None, TEXTS, []]),
    (pa.struct([("x", VIEW), ("y", pa.int8())]), [{"x": "a", "y": None}, None, {"x": None, "y": 2}]),
    (pa.map_(VIEW, pa.list_(VIEW)), [[("a", ["b"])], None, [], [("c", None), ("d", [None])]]),
    (
        pa.struct([("x", pa.list_(pa.struct([("z", pa.list_view(VIEW))])))]),
        [{"x": [{"z": ["a"]}, None]}, {"x": None}, None],
    ),
]


def columns() -> list[pa.Array]:
    words = pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 1], pa.uint32()), pa.array(["a", "b"], VIEW))
    runs = pc.run_end_encode(pa.array(["a", "a", None, "b"]))
    lists = pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 1], pa.int8()), pa.array([["a"], []], pa.list_(VIEW)))
    return [words, runs, lists, *(pa.array(values, kind) for kind, values in LAYOUTS)]


@pytest.mark.parametrize("column", columns(), ids=lambda one: str(one.type))
def test_the_values_stay_in_slices_and_chunks(column: pa.Array) -> None:
    for part in (column, column.slice(1), column.slice(1, 1), column.slice(0, 0)):
        table = pa.table({"x": pa.chunked_array([part, column], column.type)})
        found = laid_out(table)
        found.validate(full=True)
        assert found.column("x").type == plain_layout(column.type)
        assert found.column("x").to_pylist() == table.column("x").to_pylist()
        assert laid_out(found) is found


def test_an_extension_type_is_the_type_that_it_is_stored_as() -> None:
    stored = pa.array([b"0123456789abcdef", None], pa.binary(16))
    truth = pa.array([0, 5], pa.int8())
    table = pa.table(
        {
            "u": pa.ExtensionArray.from_storage(pa.uuid(), stored),
            "b": pa.ExtensionArray.from_storage(pa.bool8(), truth),
            "j": pa.ExtensionArray.from_storage(pa.json_(), pa.array(["1", None])),
        }
    )
    frame = argosy.from_arrow(table)
    assert frame.schema.types == [pa.binary(16), pa.bool_(), pa.string()]
    assert frame.group_by("u").agg(n=col("j").count()).sort("u").collect().column("n").to_pylist() == [1, 0]
    assert frame.collect().column("b").to_pylist() == [False, True]


def test_dictionaries_of_small_indices_have_room_for_the_values_of_other_tables() -> None:
    first, second = ([f"{word} {number}" for number in range(100)] for word in ("a", "b"))
    frames = [
        argosy.from_arrow(
            pa.table({"x": pa.array(values).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string()))})
        )
        for values in (first, second)
    ]
    together = frames[0].concat(frames[1])
    assert together.sort("x").collect().column("x").to_pylist() == sorted(first + second)
    assert col("x").cast(pa.dictionary(pa.int8(), pa.string())).to == pa.dictionary(pa.int32(), pa.string())


def test_a_type_that_no_frame_has_is_refused_at_once() -> None:
    either = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])])
    with pytest.raises(TypeMismatch, match=r"column 'x': a frame has no columns of type sparse_union.*make a column"):
        argosy.from_arrow(pa.table({"x": either}))
    with pytest.raises(TypeMismatch, match=r"repartition\(\) cannot use 'x' as a key"):
        argosy.from_pydict({"x": [[1], [2]]}).repartition("x")


@pytest.mark.parametrize("column", columns(), ids=lambda one: str(one.type))
def test_every_layout_travels_through_a_frame(column: pa.Array) -> None:
    frame = argosy.from_arrow(pa.table({"k": range(len(column)), "x": column}))
    assert frame.schema.field("x").type == plain_layout(column.type)
    moved = frame.filter(col("k") != 1).sort("k", descending=True).join(frame.select("k"), on="k").sort("k")
    values = column.to_pylist()
    assert moved.collect().column("x").to_pylist() == values[:1] + values[2:]
