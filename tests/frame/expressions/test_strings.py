"""Functions of strings against Python's own, on any text."""

from __future__ import annotations

import datetime
import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argosy.errors import FrameError, TypeMismatch
from argosy.frame.expressions.evaluate import evaluate
from argosy.frame.expressions.nodes import Expr, col, lit

TEXT = st.text("aàb漢😀 ,.1", max_size=6)
KINDS = st.sampled_from([pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())])


def value_of(expr: Expr, text: str | None, kind: pa.DataType | None = None) -> object:
    return evaluate(expr, pa.table({"s": pa.array([text], kind or pa.string())}))[0].as_py()


@given(text=TEXT, part=st.text("aàb, ", min_size=1, max_size=2), kind=KINDS)
def test_texts_are_searched_and_replaced_as_in_python(text: str, part: str, kind: pa.DataType) -> None:
    s = col("s").str
    assert value_of(s.contains(part), text, kind) == (part in text)
    assert value_of(s.starts_with(part), text, kind) == text.startswith(part)
    assert value_of(s.ends_with(part), text, kind) == text.endswith(part)
    assert value_of(s.replace(part, "é"), text, kind) == text.replace(part, "é")
    assert value_of(s.split(part), text, kind) == text.split(part)
    assert value_of(s.strip(part), text, kind) == text.strip(part)
    assert value_of(s.strip(), text, kind) == text.strip()
    assert value_of(s.upper(), text, kind) == text.upper()
    assert value_of(s.lower(), text, kind) == text.lower()
    assert value_of(s.len_chars(), text, kind) == len(text)
    assert value_of(s.concat(part, col("s")), text, kind) == text + part + text
    assert value_of(col("s") + part, text, kind) == text + part
    assert value_of(part + col("s"), text, kind) == part + text


@given(text=TEXT, offset=st.integers(-8, 8), length=st.none() | st.integers(0, 8))
def test_a_slice_is_so_many_characters_from_the_offset_on(text: str, offset: int, length: int | None) -> None:
    assert value_of(col("s").str.slice(offset, length), text) == text[offset:][:length]


@given(text=TEXT)
def test_patterns_are_regular_expressions_where_asked(text: str) -> None:
    assert value_of(col("s").str.contains("[àb]a?", literal=False), text) == bool(re.search("[àb]a?", text))
    assert value_of(col("s").str.replace("[àb]", "-", literal=False), text) == re.sub("[àb]", "-", text)
    assert value_of(col("s").str.contains("."), text) == ("." in text)


@given(a=TEXT, b=TEXT)
def test_texts_are_ordered_by_their_characters(a: str, b: str) -> None:
    assert value_of(col("s") < b, a) == (a < b)
    assert value_of(col("s") == b, a, pa.dictionary(pa.int8(), pa.string())) == (a == b)
    assert value_of(col("s").is_in([b, "x"]), a) == (a in (b, "x"))


@given(day=st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1)))
def test_dates_and_numbers_are_read_from_text(day: datetime.date) -> None:
    assert value_of(col("s").str.to_date(), day.isoformat()) == day
    assert value_of(col("s").str.to_date("%d.%m.%Y"), day.strftime("%d.%m.%Y")) == day
    moment = datetime.datetime(day.year, day.month, day.day, 3, 4, 5)
    assert value_of(col("s").str.to_datetime("%Y-%m-%d %H:%M:%S"), str(moment)) == moment
    assert value_of(col("s").str.to_integer(), f" -{day.year} ") == -day.year


def test_null_stays_null() -> None:
    s = col("s").str
    for expr in (s.upper(), s.contains("a"), s.split(","), s.len_chars(), s.concat("x"), s.to_date(), s.to_integer()):
        assert value_of(expr, None) is None
        assert value_of(expr, None, pa.null()) is None


def test_a_text_that_does_not_parse_is_an_error_that_names_it() -> None:
    with pytest.raises(FrameError, match=r"to_date.*'soon'"):
        value_of(col("s").str.to_date(), "soon")
    with pytest.raises(FrameError, match=r"cast\('int64'\).*'1.5'"):
        value_of(col("s").str.to_integer(), "1.5")


def test_numbers_have_no_text_functions_and_the_error_says_what_to_do() -> None:
    with pytest.raises(TypeMismatch, match=r"this needs strings, but got int64; cast it with .cast\('string'\)"):
        evaluate(lit(1).str.upper(), pa.table({"s": ["x"]}))
    with pytest.raises(TypeMismatch, match=r'col\("s"\) \+ 1: \+ has no meaning for string and int64'):
        value_of(col("s") + 1, "x")


def test_empty_patterns_are_refused() -> None:
    with pytest.raises(ValueError, match="empty pattern"):
        col("s").str.replace("", "x")
    with pytest.raises(ValueError, match="empty separator"):
        col("s").str.split("")
    with pytest.raises(ValueError, match="at least 0"):
        col("s").str.slice(0, -1)
