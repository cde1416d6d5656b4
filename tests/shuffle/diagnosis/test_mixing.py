"""The law of retention, and the fraction that a skew needs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.errors import BadFraction, TooFewSamples
from argosy.shuffle import retention
from argosy.shuffle.diagnosis.mixing import fraction_for, skew_left

_SHARES = st.floats(0, 1)
_RANKS = st.integers(1, 4096)


@given(fraction=_SHARES, num_ranks=_RANKS, epochs=st.integers(0, 1000))
def test_retention_falls_from_1_to_the_share_of_one_rank(fraction: float, num_ranks: int, epochs: int) -> None:
    kept = retention(fraction, num_ranks, epochs)
    assert 1 / num_ranks <= kept <= 1 + 1e-12
    assert retention(fraction, num_ranks, 0) == pytest.approx(1)
    assert retention(fraction, num_ranks, epochs + 1) <= kept
    assert retention(0, num_ranks, epochs) == pytest.approx(1)
    assert retention(1, num_ranks, epochs + 1) == 1 / num_ranks


def test_retention_is_the_law() -> None:
    assert retention(0.1, 4, 3) == pytest.approx(1 / 4 + 3 / 4 * 0.9**3)


@settings(max_examples=200)
@given(skew=_SHARES, num_ranks=st.integers(2, 4096), epochs=st.integers(1, 200), tolerance=_SHARES)
def test_the_fraction_mixes_a_skew_and_a_hundredth_less_would_not(
    skew: float, num_ranks: int, epochs: int, tolerance: float
) -> None:
    fraction = fraction_for(skew, num_ranks=num_ranks, epochs=epochs, tolerance=tolerance)
    assert 0 <= fraction <= 1
    assert fraction == round(fraction, 2)
    assert skew_left(skew, fraction=fraction, epochs=epochs) <= tolerance * (1 + 1e-9)
    if fraction:
        less = max(0.0, fraction - 0.01)
        assert skew_left(skew, fraction=less, epochs=epochs) > tolerance * (1 - 1e-9)


@pytest.mark.parametrize(
    ("skew", "epochs", "tolerance", "wanted"),
    [
        (0.0, 5, 0.0, 0.0),
        (0.1, 5, 0.1, 0.0),
        (1.0, 2, 0.25, 0.5),
        (1.0, 1, 0.1, 0.9),
        (1.0, 1, 0.99, 0.01),
        (0.9, 10, 0.1, 0.2),
        (0.5, 3, 0.0, 1.0),
    ],
)
def test_a_skew_needs_so_much(skew: float, epochs: int, tolerance: float, wanted: float) -> None:
    assert fraction_for(skew, num_ranks=8, epochs=epochs, tolerance=tolerance) == wanted


def test_one_rank_needs_none() -> None:
    assert fraction_for(1.0, num_ranks=1, epochs=1, tolerance=0.0) == 0.0


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), "much", True])
def test_a_skew_or_a_tolerance_outside_0_to_1_is_refused(share: Any) -> None:
    with pytest.raises(BadFraction, match="skew"):
        fraction_for(share, num_ranks=4, epochs=5, tolerance=0.1)
    with pytest.raises(BadFraction, match="tolerance"):
        fraction_for(0.5, num_ranks=4, epochs=5, tolerance=share)
    with pytest.raises(BadFraction):
        retention(share, 4, 5)


def test_no_ranks_and_no_epochs_are_refused() -> None:
    with pytest.raises(TooFewSamples, match="num_ranks"):
        retention(0.1, 0, 3)
    with pytest.raises(TooFewSamples, match="num_ranks"):
        fraction_for(0.5, num_ranks=0, epochs=1, tolerance=0.1)
    with pytest.raises(ValueError, match="epochs must be a whole number from 1"):
        fraction_for(0.5, num_ranks=4, epochs=0, tolerance=0.1)
    with pytest.raises(ValueError, match="epochs must be a whole number from 0"):
        retention(0.1, 4, -1)
