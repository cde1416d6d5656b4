"""Student's t against printed tables, and what the test of equivalence says."""

from __future__ import annotations

import math
import random
from statistics import NormalDist

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from argosy.bench.locality.equivalence import LEVEL, incomplete_beta, t_quantile, t_tail, tost
from argosy.errors import TooFewSeeds


@pytest.mark.parametrize(
    ("share", "freedom", "t"),
    [
        (0.95, 1, 6.314),
        (0.95, 2, 2.920),
        (0.95, 4, 2.132),
        (0.95, 9, 1.833),
        (0.975, 4, 2.776),
        (0.975, 30, 2.042),
        (0.99, 19, 2.539),
        (0.995, 7, 3.499),
        (0.999, 3, 10.215),
        (0.05, 4, -2.132),
    ],
)
def test_quantiles_are_those_of_the_tables(share: float, freedom: int, t: float) -> None:
    assert t_quantile(share, freedom) == pytest.approx(t, abs=6e-4)


@settings(max_examples=50, deadline=None)
@given(st.floats(-30, 30))
def test_with_one_and_two_degrees_of_freedom_the_tail_has_a_formula(t: float) -> None:
    assert t_tail(t, 1) == pytest.approx(0.5 - math.atan(t) / math.pi, abs=1e-12)
    assert t_tail(t, 2) == pytest.approx(0.5 - t / (2 * math.sqrt(2 + t * t)), abs=1e-12)


@settings(max_examples=40, deadline=None)
@example(5e-05)
@given(st.floats(-6, 6))
def test_with_very_many_degrees_of_freedom_it_is_the_normal_distribution(t: float) -> None:
    assert t_tail(t, 1e7) == pytest.approx(1 - NormalDist().cdf(t), abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.3, 50), st.floats(0.3, 50), st.floats(0.001, 0.999))
def test_the_incomplete_beta_function_is_a_distribution_and_has_a_mirror(a: float, b: float, x: float) -> None:
    value = incomplete_beta(a, b, x)
    assert 0 <= value <= 1 + 1e-12
    assert value <= incomplete_beta(a, b, min(1.0, x + 0.01)) + 1e-12
    assert value == pytest.approx(1 - incomplete_beta(b, a, 1 - x), abs=1e-10)
    assert incomplete_beta(a, 1, x) == pytest.approx(x**a, abs=1e-10)


DIFFERENCES = st.lists(st.floats(-3, 3), min_size=2, max_size=12)


@settings(max_examples=60, deadline=None)
@given(DIFFERENCES, st.floats(0.1, 2))
def test_equivalent_is_exactly_an_interval_inside_the_margin(differences: list[float], margin: float) -> None:
    found = tost(differences, margin)
    room = margin - max(abs(found.low), abs(found.high))
    if abs(room) > 1e-6:
        assert (found.p < LEVEL) == (room > 0) == (found.verdict == "equivalent")
    assert found.low <= found.mean <= found.high


@settings(max_examples=40, deadline=None)
@given(DIFFERENCES)
def test_what_is_worse_one_way_is_better_the_other_way(differences: list[float]) -> None:
    there, back = tost(differences, 0.5), tost([-one for one in differences], 0.5)
    mirrored = {"worse": "better", "better": "worse"}
    assert back.verdict == mirrored.get(there.verdict, there.verdict)


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        ([0.1, -0.1, 0.05, 0.0, -0.05], "equivalent"),
        ([-0.3, -0.32, -0.28, -0.31, -0.29], "equivalent"),  # worse, but by less than matters
        ([-5.0, -4.0, -6.0], "worse"),
        ([2.0, 2.1, 1.9], "better"),
        ([-3.0, 3.0], "open"),
        ([0.0, 0.0], "equivalent"),
        ([-0.6, -0.6], "worse"),
    ],
)
def test_the_verdict(differences: list[float], verdict: str) -> None:
    assert tost(differences, 0.5).verdict == verdict


def test_ways_that_differ_by_the_margin_are_called_equivalent_in_one_case_of_twenty() -> None:
    draw = random.Random(0)
    called = sum(
        tost([draw.gauss(0.5, 0.1) for _ in range(6)], 0.5).verdict == "equivalent" for _ in range(2000)
    )  # fmt: skip
    assert 70 <= called <= 130


def test_one_seed_is_too_few() -> None:
    with pytest.raises(TooFewSeeds, match="needs 2 of them or more, not 1"):
        tost([0.1], 0.5)
