"""Types before anything is computed, and errors that say what to do."""

from __future__ import annotations

import pyarrow as pa
import pytest

from argosy.errors import TypeMismatch, UnknownColumn
from argosy.frame.expressions import Expr, col, lit, when
from argosy.frame.expressions.types import type_of

SCHEMA = pa.schema(
    {
        "small": pa.int8(),
        "wide": pa.int64(),
        "size": pa.uint32(),
        "real": pa.float64(),
        "name": pa.string(),
        "ok": pa.bool_(),
    }
)


@pytest.mark.parametrize(
    ("expr", "kind"),
    [
        (col("small") + col("wide"), pa.int64()),
        (col("small") + col("size"), pa.int64()),
        (col("small") + 1, pa.int8()),
        (col("small") * 1.5, pa.float64()),
        (col("small") / col("small"), pa.float64()),
        (col("small") // 2, pa.int8()),
        (col("wide") ** 2, pa.int64()),
        (col("wide") ** col("wide"), pa.float64()),
        (col("wide") > col("real"), pa.bool_()),
        (col("small").fill_null(0), pa.int8()),
        (when(col("ok")).then(1).otherwise(0.5), pa.float64()),
        (when(col("ok")).then(col("small")).otherwise(0), pa.int8()),
        (when(col("ok")).then("x"), pa.string()),
        (col("name").str.len_chars(), pa.int64()),
        (-col("size"), pa.int64()),
        (lit(None), pa.null()),
    ],
)
def test_the_type_follows_from_the_types_of_the_columns(expr: Expr, kind: pa.DataType) -> None:
    assert type_of(expr, SCHEMA) == kind


def test_an_unknown_column_gets_its_nearest_name() -> None:
    with pytest.raises(UnknownColumn, match="no column 'nmae', did you mean 'name'"):
        type_of(col("nmae").str.upper(), SCHEMA)


@pytest.mark.parametrize(
    ("expr", "words"),
    [
        (col("name") > 1, r'col\("name"\) > 1: string and int64 cannot be compared; cast'),
        (col("ok") + 1, r"\+ has no meaning for bool and int64; cast truth values to int64"),
        (col("wide") & col("ok"), r"this needs truth values, but got int64 and bool; compare"),
        (col("name").fill_null(0), r"string and int64 have no type in common"),
        (when(col("wide")).then(1), r'the condition col\("wide"\) is int64, not bool'),
        (when(col("ok")).then(1).otherwise("x"), r"int64 and string have no type in common; cast them"),
        (col("name").sqrt(), r"this needs a number, but got string"),
        (col("ok").cast("date"), r"there is no cast from bool to date32"),
        (col("name").is_in([1, 2]), r"string and int64 cannot be compared"),
        (col("wide").sum() + 1, r"one value of many rows; compute it with group_by"),
    ],
)
def test_what_has_no_meaning_is_refused_with_a_way_out(expr: Expr, words: str) -> None:
    with pytest.raises(TypeMismatch, match=words):
        type_of(expr, SCHEMA)
