"""Arguments, judged where they are given."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argosy import arguments
from argosy.arguments import flag, number, one_of, path, show, text, whole


class Mute:
    """Cannot say what it is."""

    def __repr__(self) -> str:
        raise ZeroDivisionError

    __index__ = __float__ = __str__ = __fspath__ = __repr__


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), np.array(3)])
def test_numbers_of_numpy_are_whole_and_come_out_as_plain_ones(value: Any) -> None:
    assert type(whole("ranks", value)) is int
    assert whole("ranks", value) == 3


@pytest.mark.parametrize("value", [2.0, 1.5, "2", True, None, np.bool_(True), math.nan, Decimal(2), [2], b"2", Mute()])
def test_what_is_no_whole_number_is_a_type_error_that_names_it(value: Any) -> None:
    with pytest.raises(TypeError) as caught:
        whole("ranks", value, least=1)
    assert str(caught.value) == f"ranks must be a whole number of at least 1, not {show(value)}"


def test_ranges_are_said_as_people_say_them() -> None:
    for wrong, words in [
        ({"least": 1}, "of at least 1"),
        ({"most": -1}, "of at most -1"),
        ({"least": 1, "most": 2}, "from 1 to 2"),
    ]:
        with pytest.raises(ValueError, match=f"n must be a whole number {words}, not 0"):
            whole("n", 0, **wrong)
    with pytest.raises(ValueError, match=r"t must be a number above 0, not -0\.5"):
        number("t", -0.5, above=0)
    with pytest.raises(ValueError, match="t must be a number above 0 and at most 1, not 2"):
        number("t", 2, above=0, most=1)


@pytest.mark.parametrize("value", [1, 1.0, np.float32(1), np.int8(1), Fraction(1)])
def test_numbers_of_all_kinds_are_numbers(value: Any) -> None:
    assert type(number("lr", value)) is float
    assert number("lr", value) == 1.0


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, np.float64("nan")])
def test_what_is_no_finite_number_is_a_value_error(value: Any) -> None:
    with pytest.raises(ValueError, match="lr must be a number"):
        number("lr", value)


def test_infinity_is_a_number_where_it_means_something() -> None:
    assert number("timeout", math.inf, infinite=True) == math.inf
    with pytest.raises(ValueError, match="nan"):
        number("timeout", math.nan, infinite=True)


def test_flags_are_true_or_false() -> None:
    assert flag("keep", True) is flag("keep", np.bool_(True)) is True
    for value in (1, 0, None, "yes", Mute()):
        with pytest.raises(TypeError, match="keep must be True or False, not"):
            flag("keep", value)


def test_paths_are_strings_or_paths_without_null_characters() -> None:
    assert path("folder", Path("a") / "b") == path("folder", "a/b") == "a/b"
    for wrong, kind in [(3, TypeError), (b"a", TypeError), (None, TypeError), ("", ValueError), ("a\0b", ValueError)]:
        with pytest.raises(kind, match="folder must be a path"):
            path("folder", wrong)


def test_one_of_a_few_words() -> None:
    assert one_of("how", "left", ("left", "right")) == "left"
    for wrong, kind in [("lift", ValueError), (3, TypeError), (np.zeros(3), TypeError), (["left"], TypeError)]:
        with pytest.raises(kind, match="how must be 'left' or 'right', not"):
            one_of("how", wrong, ("left", "right"))


JUNK = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.complex_numbers()
    | st.lists(st.integers()) | st.builds(object) | st.just(10**5000) | st.just("x" * 10**6)
    | st.sampled_from([np.zeros(3), np.float32("nan"), np.int64(2), Path("x"), Ellipsis, int, Decimal("nan")])
)  # fmt: skip


@given(JUNK, st.sampled_from([whole, number, flag, text, path]))
def test_whatever_comes_is_plain_python_or_an_error_that_names_the_argument(value: Any, judge: Any) -> None:
    said = ""
    try:
        plain = judge("the_name", value)
    except (TypeError, ValueError) as error:
        said = str(error)
    if said:
        assert said.startswith("the_name must be ")
        assert len(said) < 300
    else:
        assert type(plain) in (int, float, bool, str)
        assert plain == (str(value) if isinstance(value, Path) else value)


@given(JUNK)
def test_anything_can_be_shown_in_a_few_words(value: Any) -> None:
    assert len(arguments.show(value)) <= 200


def test_also_what_cannot_say_what_it_is() -> None:
    assert "Mute" in arguments.show(Mute())
