"""What is expected: several ways of guessing, weighed by how well they would have guessed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.memory.learning.forecast import HORIZON_WINDOWS
from argosy.memory.learning.mixture import Mixture, least_squares

SAME = np.full(4, 0.25)


def test_a_loop_is_expected_to_go_on() -> None:
    loop, mixture = np.eye(4), Mixture(4)
    for step in range(60):
        expected = mixture.see(f"window {step % 4}", loop[step % 4], SAME)
    for ahead in range(8):
        assert expected[ahead] == pytest.approx(loop[(60 + ahead) % 4], abs=0.1)


def test_without_a_pattern_the_average_is_expected() -> None:
    rng, mixture = np.random.default_rng(0), Mixture(4)
    often = np.array([0.8, 0.4, 0.2, 0.05])
    expected = [mixture.see("request", (rng.random(4) < often).astype(float), SAME) for _ in range(400)][-100:]
    assert np.mean(expected, axis=(0, 1)) == pytest.approx(often, abs=0.1)
    assert np.mean([np.abs(each[7] - often).max() for each in expected]) < 0.25


def test_what_has_just_been_used_and_never_soon_again_is_not_expected() -> None:
    rng, mixture, left = np.random.default_rng(0), Mixture(8), []
    for _ in range(400):
        left = left or list(rng.permutation(8))
        used = left.pop()
        expected = mixture.see("batch", np.eye(8)[used], np.full(8, 0.2))
        if len(left) == 6:
            assert expected[0, used] < 0.16
    assert expected[-1] == pytest.approx(np.full(8, 1 / 8), abs=0.12)


def test_what_is_typical_is_expected_before_anything_was_seen() -> None:
    typical = np.array([2.0, 1.0, 0.0, 0.0])
    unknown, known = Mixture(4), Mixture(4, typical)
    odd = np.array([0.0, 0.0, 5.0, 0.0])
    assert unknown.see("a", odd, SAME)[:, 2].min() > 4.9
    far = known.see("a", odd, SAME)[-1]
    assert far[0] > 1.0
    assert far[2] < 2.5


@given(st.lists(st.lists(st.floats(0, 10), min_size=3, max_size=3), min_size=1, max_size=60), st.booleans())
@settings(max_examples=40, deadline=None)
def test_what_is_expected_is_finite_and_never_below_zero(costs: list[list[float]], known: bool) -> None:
    mixture = Mixture(3, np.ones(3) if known else None)
    for step, cost in enumerate(costs):
        expected = mixture.see(f"window {step % 2}", np.array(cost), np.array([0.2, 0.5, 0.3]))
        assert expected.shape == (HORIZON_WINDOWS, 3)
        assert np.isfinite(expected).all()
        # Adding up rounds, and so may end a hair below 0.
        assert expected.min() >= -1e-9


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_no_weights_near_by_fit_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    guesses, truth = rng.random((30, 4)), rng.random(30)
    moments, hits = guesses.T @ guesses + 0.5 * np.eye(4), guesses.T @ truth
    found = least_squares(moments, hits, np.full(4, 0.25), 400)

    def loss(weights: np.ndarray) -> float:
        return float(weights @ moments @ weights - 2 * hits @ weights)

    assert found.min() >= 0
    for _ in range(20):
        other = np.maximum(found + 0.05 * rng.normal(size=4), 0.0)
        assert loss(found) <= loss(other) + 1e-9
