from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argosy.units import format_nbytes, format_seconds, parse_nbytes


@pytest.mark.parametrize(
    ("text", "nbytes"),
    [("0", 0), ("4096", 4096), ("2GiB", 2 * 1024**3), ("500MB", 500 * 10**6), ("4G", 4 * 1024**3), (" 1.5 KiB ", 1536)],
)
def test_memory_is_read_as_people_write_it(text: str, nbytes: int) -> None:
    assert parse_nbytes(text) == nbytes


@pytest.mark.parametrize("text", ["", "lots", "-1", "1.5.2", "4 parsecs", "GiB"])
def test_what_is_no_amount_of_memory_is_refused_with_an_example_of_one(text: str) -> None:
    with pytest.raises(ValueError, match="write it like '2GiB'"):
        parse_nbytes(text)


@given(st.integers(0, 2**60))
def test_memory_that_was_written_out_reads_back_to_within_its_last_digit(nbytes: int) -> None:
    assert abs(parse_nbytes(format_nbytes(nbytes)) - nbytes) <= 0.05 * nbytes + 1


@given(st.integers(0, 2**60))
def test_a_plain_number_of_bytes_is_itself(nbytes: int) -> None:
    assert parse_nbytes(nbytes) == parse_nbytes(str(nbytes) if nbytes < 2**53 else nbytes) == nbytes


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.00025, "250 µs"),
        (0.0125, "12.5 ms"),
        (2.5, "2.5 s"),
        (75, "1 min 15 s"),
        (3599.7, "1 h 0 min"),
        (7500, "2 h 5 min"),
    ],
)
def test_times_are_written_in_the_unit_that_suits_them(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text
