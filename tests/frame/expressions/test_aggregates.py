"""Types of aggregates."""

from __future__ import annotations

import pyarrow as pa
import pytest

from argosy.errors import TypeMismatch, UnknownColumn
from argosy.frame.aggregates import result_type
from argosy.frame.plan import Agg

SCHEMA = pa.schema(
    {
        "i": pa.int8(),
        "u": pa.uint16(),
        "f": pa.float32(),
        "m": pa.decimal128(9, 2),
        "ok": pa.bool_(),
        "s": pa.string(),
        "k": pa.dictionary(pa.int32(), pa.string()),
        "d": pa.date32(),
        "n": pa.null(),
        "l": pa.list_(pa.int8()),
    }
)


def of(kind: str, column: str | None) -> pa.DataType:
    return result_type(Agg(name="x", kind=kind, column=column), SCHEMA)


def test_a_sum_is_as_wide_as_it_gets() -> None:
    kinds = {name: of("sum", name) for name in ("i", "u", "f", "m", "ok", "n")}
    assert kinds == {
        "i": pa.int64(),
        "u": pa.uint64(),
        "f": pa.float64(),
        "m": pa.decimal128(38, 2),
        "ok": pa.int64(),
        "n": pa.int64(),
    }


@pytest.mark.parametrize("kind", ["min", "max", "first", "last"])
def test_one_of_the_values_keeps_its_type(kind: str) -> None:
    for name in SCHEMA.names[:-1]:
        assert of(kind, name) == SCHEMA.field(name).type


def test_counts_are_whole_numbers_of_anything() -> None:
    assert of("len", None) == pa.int64()
    for kind in ("count", "len", "n_unique"):
        assert all(of(kind, name) == pa.int64() for name in SCHEMA.names)


@pytest.mark.parametrize("kind", ["mean", "var", "std", "median", "quantile"])
def test_averages_are_floats(kind: str) -> None:
    assert all(of(kind, name) == pa.float64() for name in ("i", "u", "f", "m", "ok"))


@pytest.mark.parametrize(
    ("kind", "column", "words"),
    [
        ("sum", "s", "sum of 's': string cannot be added up"),
        ("sum", "d", "cannot be added up"),
        ("mean", "d", "this needs numbers, but it is date32"),
        ("max", "l", "have no order; use first, last or count"),
        ("any", "i", "needs truth values, but it is int8; compare"),
        ("mode", "i", "no aggregate 'mode'; there are: all, any, count"),
    ],
)
def test_what_makes_no_sense_is_refused(kind: str, column: str, words: str) -> None:
    with pytest.raises(TypeMismatch, match=words):
        of(kind, column)


def test_an_unknown_column_is_named() -> None:
    with pytest.raises(UnknownColumn, match="no column 'z'"):
        of("sum", "z")
