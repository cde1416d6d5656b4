"""A mistake is told at the call that makes it, with what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import argosy
from argosy import DataFrame, col, count
from argosy.errors import FrameError, SchemaMismatch, TypeMismatch, UnknownColumn
from argosy.frame.join_keys import common_type

FRAME = argosy.from_pydict({"price": [1, 2], "name": ["a", "b"], "tags": [["x"], []]})
OTHER = argosy.from_pydict({"price": ["1", "2"], "n": [1.0, 2.0]})


@pytest.mark.parametrize(
    "call",
    [
        lambda frame: frame.select("prize"),
        lambda frame: frame.select(col("prize") + 1),
        lambda frame: frame.with_columns(x=col("prize")),
        lambda frame: frame.filter(col("prize") > 1),
        lambda frame: frame.drop("prize"),
        lambda frame: frame.rename({"prize": "x"}),
        lambda frame: frame.sort("prize"),
        lambda frame: frame.sort(-col("prize")),
        lambda frame: frame.group_by("prize"),
        lambda frame: frame.group_by("name").agg(x=col("prize").sum()),
        lambda frame: frame.unique("prize"),
        lambda frame: frame.repartition("prize"),
        lambda frame: frame.join(frame, on="prize"),
        lambda frame: frame["prize"],
    ],
)
def test_an_unknown_column_names_the_nearest_one_at_the_call(call: Callable[[DataFrame], Any]) -> None:
    with pytest.raises(UnknownColumn, match=r"there is no column 'prize', did you mean 'price'\?"):
        call(FRAME)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda frame: frame.join(OTHER, on="price"), "'price', which is int64, with 'price', which is string"),
        (lambda frame: frame.join(OTHER, left_on="price", right_on="n"), 'n=col("n").cast("int64")'),
        (lambda frame: frame.join(frame, on="tags"), "cannot use 'tags' as a key"),
        (lambda frame: frame.sort("tags"), "cannot use 'tags' as a key"),
        (lambda frame: frame.group_by("tags"), "cannot use 'tags' as a key"),
        (lambda frame: frame.unique(), "cannot use 'tags' as a key"),
        (lambda frame: frame.union(frame), "cannot use 'tags' as a key"),
        (lambda frame: frame.filter(col("price")), "true or false"),
        (lambda frame: frame.filter(col("price").sum() > 1), "group_by().agg()"),
        (lambda frame: frame.with_columns(x=count()), "group_by().agg()"),
        (lambda frame: frame.with_columns(x=col("name") * 2), "name"),
        (lambda frame: frame.group_by("name").agg(x=col("price")), "aggregate"),
    ],
)
def test_types_that_do_not_fit_are_told_at_the_call(call: Callable[[DataFrame], Any], says: str) -> None:
    with pytest.raises(TypeMismatch, match=re.escape(says)):
        call(FRAME)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda frame: frame.select("price", price=col("price") + 1), "2 columns called 'price'"),
        (lambda frame: frame.rename({"price": "name"}), "2 columns called 'name'"),
        (lambda frame: frame.group_by("name").agg(name=count()), "2 columns called 'name'"),
        (lambda frame: frame.join(frame, on="name", how="outer"), "how must be 'inner' or 'left' or 'right'"),
        (lambda frame: frame.join(frame, on="name", algorithm="magic"), "algorithm must be 'auto' or 'hash'"),
        (lambda frame: frame.join(frame), 'on="k"'),
        (lambda frame: frame.join(frame, on="name", left_on="name"), "not both"),
        (lambda frame: frame.join(frame, left_on=["name", "price"], right_on="name"), "2 and 1"),
        (lambda frame: frame.join(frame, on=["name", "name"]), "name each once"),
        (lambda frame: frame.join(frame, on="name", how="cross"), "takes no keys"),
        (lambda frame: frame.join(frame, on="name", suffix=""), "suffix"),
        (lambda frame: frame.sort(), "needs a column"),
        (lambda frame: frame.sort("name", "price", descending=[True]), "2 keys"),
        (lambda frame: frame.head(-1), "0 or more"),
        (lambda frame: frame.tail(-1), "0 or more"),
        (lambda frame: frame.slice(0, -1), "0 or more"),
        (lambda frame: frame.sample(), "either n"),
        (lambda frame: frame.sample(n=1, fraction=0.5), "either n"),
        (lambda frame: frame.sample(fraction=1.5), "from 0 to 1"),
        (lambda frame: frame.repartition([]), "column to go by"),
    ],
)
def test_a_wrong_value_is_told_at_the_call(call: Callable[[DataFrame], Any], says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        call(FRAME)


@pytest.mark.parametrize(
    "call",
    [
        lambda frame: frame.select(1),
        lambda frame: frame.filter(),
        lambda frame: frame.filter(True),
        lambda frame: frame.drop(1),
        lambda frame: frame.head(1.5),
        lambda frame: frame.slice("a"),
        lambda frame: frame.shuffle("a"),
        lambda frame: frame.join(pa.table({"name": ["a"]}), on="name"),
        lambda frame: frame.concat(pa.table({"name": ["a"]})),
        lambda frame: argosy.from_arrow([1, 2]),
        lambda frame: list(frame),
    ],
)
def test_a_value_of_the_wrong_kind_is_a_type_error(call: Callable[[DataFrame], Any]) -> None:
    with pytest.raises(TypeError):
        call(FRAME)


def test_frames_that_do_not_match_name_the_column() -> None:
    one = argosy.from_pydict({"a": [1], "b": [1]})
    with pytest.raises(SchemaMismatch, match="the second has no 'b' and the first has no 'c'"):
        one.concat(argosy.from_pydict({"a": [1], "c": [1]}))
    with pytest.raises(SchemaMismatch, match="column 'b' is int64 in the first frame and double in the second"):
        one.union(argosy.from_pydict({"a": [1], "b": [1.0]}))


def test_an_expression_without_a_name_asks_for_one() -> None:
    with pytest.raises(FrameError, match="alias"):
        FRAME.select(col("price") + col("price").cast("int64") + col("name").str.len_chars())


def test_a_plan_that_is_too_deep_says_so() -> None:
    frame = FRAME
    for _ in range(1000):
        frame = frame.filter(col("price") > 0).head(10)
    with pytest.raises(FrameError, match="persist"):
        frame.explain()


def test_a_table_with_two_columns_of_one_name_is_refused() -> None:
    with pytest.raises(ValueError, match="2 columns called 'a'"):
        argosy.from_arrow(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]))


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        (pa.int32(), pa.int64(), pa.int64()),
        (pa.uint8(), pa.int8(), pa.int16()),
        (pa.uint32(), pa.int16(), pa.int64()),
        (pa.uint64(), pa.int64(), None),
        (pa.uint64(), pa.uint8(), pa.uint64()),
        (pa.float32(), pa.float64(), pa.float64()),
        (pa.int64(), pa.float64(), None),
        (pa.string(), pa.large_string(), pa.large_string()),
        (pa.dictionary(pa.int32(), pa.string()), pa.string(), pa.string()),
        (pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int16(), pa.string()), pa.string()),
        (pa.null(), pa.date32(), pa.date32()),
        (pa.timestamp("s"), pa.timestamp("us"), pa.timestamp("us")),
        (pa.timestamp("s"), pa.timestamp("us", "UTC"), None),
        (pa.string(), pa.int64(), None),
    ],
)
def test_keys_are_compared_in_the_type_that_holds_both(
    one: pa.DataType, other: pa.DataType, common: pa.DataType | None
) -> None:
    assert common_type(one, other) == common
    assert common_type(other, one) == common
