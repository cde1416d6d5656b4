"""What holds for every expression on every table."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest
from frame.expressions.tables import ANY_EXPRESSION, BINARY, COLUMNS, EDGES, SCHEMA, UNARY, expressions_with_tables
from hypothesis import given, settings

from argosy.errors import FrameError, TypeMismatch
from argosy.frame.expressions.evaluate import evaluate
from argosy.frame.expressions.nodes import Expr, col, lit
from argosy.frame.expressions.types import type_of


def holds(expr: Expr, table: pa.Table) -> None:
    """The type is known before, and every row gets a value of that type, in however many chunks the table lies."""
    try:
        kind = type_of(expr, table.schema)
    except TypeMismatch:
        with pytest.raises(TypeMismatch):
            evaluate(expr, table)
        return
    for one in (table, table[:0], table.schema.empty_table()):
        try:
            result = evaluate(expr, one)
        except FrameError:  # an overflow, a text that does not parse: the type was right
            continue
        assert isinstance(result, pa.ChunkedArray)
        assert result.type == kind
        assert len(result) == one.num_rows
        result.validate(full=True)
        assert text_of(evaluate(expr, one.combine_chunks())) == text_of(result)


def text_of(column: pa.ChunkedArray) -> str:
    """In which NaN is the same as NaN, and no time is too far away for Python."""
    return str(column.combine_chunks().to_string(window=100))


@given(case=expressions_with_tables())
@settings(max_examples=100, deadline=None)
def test_the_type_is_known_before_and_every_row_gets_a_value(case: tuple[Expr, pa.Table]) -> None:
    holds(*case)


@pytest.mark.parametrize("name", COLUMNS)
def test_every_operation_gives_the_type_it_promises_on_every_type_of_column(name: str) -> None:
    for one in UNARY:
        holds(one(col(name)), EDGES)
    for other in COLUMNS:
        for two in BINARY:
            holds(two(col(name), col(other)), EDGES)


@pytest.mark.parametrize("value", [None, True, 1, -1, 2**63, 0.5, "a", b"x"])
def test_every_operation_gives_the_type_it_promises_beside_a_plain_value(value: object) -> None:
    for name in COLUMNS:
        for two in BINARY:
            holds(two(col(name), lit(value)), EDGES)
            holds(two(lit(value), col(name)), EDGES)


@given(expr=ANY_EXPRESSION)
@settings(max_examples=100, deadline=None)
def test_an_expression_survives_pickling_and_shows_itself(expr: Expr) -> None:
    again = pickle.loads(pickle.dumps(expr))
    assert again.same_as(expr)
    assert hash(again) == hash(expr)
    assert repr(again) == repr(expr)
    assert not again.same_as(expr.alias("another"))


@pytest.mark.parametrize("name", COLUMNS)
def test_a_bare_column_is_not_copied(name: str) -> None:
    table = pa.table({name: pa.nulls(3, SCHEMA.field(name).type)})
    mine = evaluate(col(name), table).chunk(0).buffers()
    own = table.column(name).chunk(0).buffers()
    assert [one and one.address for one in mine] == [one and one.address for one in own]
