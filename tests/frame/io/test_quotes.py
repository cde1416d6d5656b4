"""Quoted values that span lines."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.errors import BadFile
from argosy.frame.io.quotes import QuoteCheck, spans_lines

texts = st.lists(st.sampled_from([b'"', b"\n", b"x", b","]), max_size=30).map(b"".join)


def has_odd_line(text: bytes) -> bool:
    """Of the lines that end."""
    return any(line.count(b'"') % 2 for line in text.split(b"\n")[:-1])


@settings(max_examples=100, deadline=None)
@given(texts)
def test_a_line_with_an_odd_number_of_quotes_is_found(text: bytes) -> None:
    assert spans_lines(text) == has_odd_line(text)


@settings(max_examples=100, deadline=None)
@given(texts, st.integers(1, 5))
def test_it_is_found_however_the_stream_is_read(text: bytes, size: int) -> None:
    check = QuoteCheck(io.BytesIO(text), "x.csv")
    if has_odd_line(text):
        with pytest.raises(BadFile, match="newlines_in_values=True"):
            list(iter(lambda: check.read(size), b""))
    else:
        assert b"".join(iter(lambda: check.read(size), b"")) == text
