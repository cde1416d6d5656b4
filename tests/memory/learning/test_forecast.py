"""What comes next, from the run's own past."""

from __future__ import annotations

import numpy as np
import pytest

from argosy.memory.learning.features import COUNT, PLANNED, Features
from argosy.memory.learning.forecast import HORIZON_WINDOWS, Forecast
from argosy.memory.moves import Moves
from argosy.memory.planning.policy import Observation

LOOP = np.array([[1.0, 0, 0, 2.0], [0, 3.0, 0, 0], [0, 1.0, 1.0, 0], [0, 0, 0, 5.0], [1.0, 1.0, 0, 0]])


def test_a_loop_is_known_after_its_first_round() -> None:
    forecast = Forecast(4)
    for at in range(7):
        forecast.see("step", LOOP[at % 5])
    expected = forecast.follow("step")
    wanted = np.array([LOOP[(7 + ahead) % 5] for ahead in range(HORIZON_WINDOWS)])
    assert expected == pytest.approx(wanted)


def test_trust_comes_with_hits_and_goes_with_misses() -> None:
    forecast = Forecast(4)
    for at in range(60):
        forecast.follow("step")
        forecast.see("step", LOOP[at % 5])
    trusted = forecast.hit_rate
    assert trusted > 0.9
    rng = np.random.default_rng(0)
    for _ in range(40):
        forecast.follow("step")
        forecast.see("step", rng.permutation([9.0, 0, 0, 0]))
    assert forecast.hit_rate < trusted - 0.2


def test_what_never_came_before_is_expected_to_stay() -> None:
    forecast = Forecast(2)
    forecast.see("a", np.array([1.0, 0.0]))
    forecast.see("b", np.array([0.0, 7.0]))
    expected = forecast.follow("c")
    assert forecast.match_length == 0
    assert (expected == [0.0, 7.0]).all()


def test_the_name_of_the_next_window_tells_which_of_two_futures_comes() -> None:
    forecast = Forecast(3)
    fork, left, right = np.eye(3)
    for name, cost in [("fork", fork), ("left", left), ("fork", fork), ("right", right), ("fork", fork)]:
        forecast.see(name, cost)
    assert forecast.follow("left")[0] == pytest.approx(left)
    assert forecast.follow("right")[0] == pytest.approx(right)
    assert forecast.match_length >= 2
    assert 0 < forecast.follow()[0, 1] < 1


def observation(step: int, recent: np.ndarray, *, sizes: np.ndarray, scale: float = 1.0) -> Observation:
    return Observation(
        step=step,
        window_name="step",
        sizes=sizes,
        resident=np.zeros(len(sizes), dtype=np.bool_),
        recent=recent * scale,
        capacity=int(sizes.sum() // 2),
        moves=Moves(fetch_seconds_per_byte=1e-9 * scale, evict_seconds_per_byte=2e-9 * scale),
    )


def test_features_do_not_know_how_fast_the_machine_is_nor_in_which_order_the_objects_are() -> None:
    sizes = np.array([1000, 5000, 3000, 800])
    turned = np.array([2, 0, 3, 1])
    plain, faster, other = Features(4), Features(4), Features(4)
    for step in range(12):
        cost = LOOP[step % 5] * sizes * 1e-9
        seen = plain.see(observation(step + 1, cost, sizes=sizes))
        again = faster.see(observation(step + 1, cost, sizes=sizes, scale=0.01))
        moved = other.see(observation(step + 1, cost[turned], sizes=sizes[turned]))
        assert seen.shape == (4, COUNT)
        assert np.isfinite(seen).all()
        assert again == pytest.approx(seen, abs=1e-6)
        assert moved == pytest.approx(seen[turned], abs=1e-6)


def test_in_a_loop_that_it_knows_what_comes_next_is_worth_more_than_what_has_just_been() -> None:
    sizes, features = np.array([1000, 1000, 1000]), Features(3)
    for step in range(40):
        cost = np.zeros(3)
        cost[step % 3] = 6e-6
        worth = features.see(observation(step + 1, cost, sizes=sizes))[:, PLANNED]
    now = 39 % 3
    assert worth[(now + 1) % 3] > worth[(now + 2) % 3] > worth[now]


def test_a_longer_match_counts_three_times_as_much_as_one_that_is_shorter_by_a_window() -> None:
    forecast, each = Forecast(6), dict(zip("xyabzw", np.eye(6), strict=True))
    for window in "xyazybwybxy":
        forecast.follow()
        forecast.see("", each[window])
    expected = forecast.follow()
    assert forecast.match_length == 2
    assert expected[0] == pytest.approx(0.6 * each["a"] + 0.4 * each["b"])
