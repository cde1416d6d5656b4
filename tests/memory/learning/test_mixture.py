"""What is expected: several ways of guessing, weighed by how well they would have guessed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.memory.learning.forecast import HORIZON_WINDOWS
from argosy.memory.learning.mixture import Mixture, least_squares
from argosy.memory.learning.typical import Typical

SAME = np.full(4, 0.25)


def after(mixture: Mixture, name: str, cost: np.ndarray, share: np.ndarray, next_name: str | None = None) -> np.ndarray:
    """What is expected once a window has ended."""
    mixture.see(name, cost, share)
    return mixture.guess(name if next_name is None else next_name)


def test_a_loop_is_expected_to_go_on() -> None:
    loop, mixture = np.eye(4), Mixture(4)
    for step in range(60):
        expected = after(mixture, f"window {step % 4}", loop[step % 4], SAME, f"window {(step + 1) % 4}")
    for ahead in range(8):
        assert expected[ahead] == pytest.approx(loop[(60 + ahead) % 4], abs=0.1)


def test_without_a_pattern_the_average_is_expected() -> None:
    rng, mixture = np.random.default_rng(0), Mixture(4)
    often = np.array([0.8, 0.4, 0.2, 0.05])
    expected = [after(mixture, "request", (rng.random(4) < often).astype(float), SAME) for _ in range(400)][-100:]
    assert np.mean(expected, axis=(0, 1)) == pytest.approx(often, abs=0.1)
    assert np.mean([np.abs(each[7] - often).max() for each in expected]) < 0.25


def test_what_has_just_been_used_and_never_soon_again_is_not_expected() -> None:
    rng, mixture, left = np.random.default_rng(0), Mixture(8), []
    for _ in range(400):
        left = left or list(rng.permutation(8))
        used = left.pop()
        expected = after(mixture, "batch", np.eye(8)[used], np.full(8, 0.2))
        if len(left) == 6:
            assert expected[0, used] < 0.16
    assert expected[-1] == pytest.approx(np.full(8, 1 / 8), abs=0.12)


def test_what_is_typical_is_expected_before_anything_was_seen() -> None:
    typical = np.array([2.0, 1.0, 0.0, 0.0])
    unknown, known = Mixture(4), Mixture(4, Typical(overall=typical, by_name={}, windows=50))
    assert not unknown.guess("a").any()
    assert known.guess("a")[0, 0] > 1.0
    odd = np.array([0.0, 0.0, 5.0, 0.0])
    assert after(unknown, "a", odd, SAME)[:, 2].min() > 4.9
    far = after(known, "a", odd, SAME)[-1]
    assert far[0] > 1.0
    assert far[2] < 2.5


def test_a_window_that_was_never_seen_is_expected_to_cost_what_its_name_typically_does() -> None:
    hot, cold = np.array([3.0, 0.0]), np.array([0.0, 1.0])
    mixture = Mixture(2, Typical(overall=(hot + cold) / 2, by_name={"hot": hot, "cold": cold}, windows=50))
    for _ in range(6):
        after(mixture, "cold", cold, np.full(2, 0.5))
    expected = mixture.guess("hot")
    assert expected[0, 0] > expected[0, 1]
    assert expected[0, 0] > 2 * mixture.guess("cold")[0, 0]


def test_a_window_that_did_not_end_is_guessed_anew() -> None:
    once, twice = Mixture(2), Mixture(2)
    for step in range(12):
        cost = np.array([step % 3, 1.0])
        twice.guess("other")
        assert twice.guess("step") == pytest.approx(once.guess("step"))
        for mixture in (once, twice):
            mixture.see("step", cost, np.full(2, 0.5))


@given(st.lists(st.lists(st.floats(0, 10), min_size=3, max_size=3), min_size=1, max_size=60), st.booleans())
@settings(max_examples=40, deadline=None)
def test_what_is_expected_is_finite_and_never_below_zero(costs: list[list[float]], known: bool) -> None:
    mixture = Mixture(
        3, Typical(overall=np.ones(3), by_name={"window 1": np.full(3, 2.0)}, windows=50) if known else None
    )
    mixture.guess("window 0")
    for step, cost in enumerate(costs):
        share = np.array([0.2, 0.5, 0.3])
        expected = after(mixture, f"window {step % 2}", np.array(cost), share, f"window {(step + 1) % 2}")
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
