"""The Gymnasium environment: a real one, whose rewards are minus the predicted time."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.memory.learning.environment import PlacementEnv
from argosy.memory.learning.families import TAUGHT
from argosy.memory.learning.phases import case
from argosy.memory.planning.simulate import price


def env_of(family: str = "periodic", seed: int = 0, *, windows: int = 12, objects: int = 6) -> PlacementEnv:
    one = case(family, seed, windows=windows, objects=objects)
    return PlacementEnv(one.costs, one.moves, one.capacity)


def test_gymnasium_finds_nothing_wrong_with_it() -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*infinity.*")  # features have no bounds, and need none
        check_env(env_of(), skip_render_check=True)


@given(st.sampled_from(sorted(TAUGHT)), st.integers(0, 50))
@settings(max_examples=25, deadline=None)
def test_the_rewards_of_any_actions_add_up_to_minus_the_predicted_time(family: str, seed: int) -> None:
    one = case(family, seed, windows=10, objects=6)
    env = PlacementEnv(one.costs, one.moves, one.capacity)
    rng = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    total, rows, ended, action = 0.0, [], False, env.none
    while not ended:
        # One swap before a window: of several, a later one may undo an earlier one, and both are paid for.
        action = int(rng.choice(np.flatnonzero(info["mask"]))) if action == env.none else env.none
        _, reward, ended, _, info = env.step(action)
        total += reward
        if action == env.none:
            rows.append(~env.last.resident)
            assert int(env.last.sizes[env.last.resident].sum()) <= one.capacity
    start = np.ones(6, dtype=np.bool_)
    assert -total == pytest.approx(price(one.costs, one.moves, np.array(rows), start=start).seconds)


def test_a_window_is_cheaper_with_its_objects_fast_and_the_reward_says_so() -> None:
    one = case("periodic", 3, windows=6, objects=6)
    env = PlacementEnv(one.costs, one.moves, one.costs.nbytes)
    env.reset()
    slow_reward = env.step(env.none)[1]
    env.reset()
    moved = sum(env.step(each)[1] for each in range(6))
    fast_reward = env.step(env.none)[1]
    assert moved == pytest.approx(-one.moves.seconds(one.costs.nbytes, 0))
    assert slow_reward < fast_reward < 0


def test_asking_for_what_is_there_already_is_none() -> None:
    env = env_of()
    _, info = env.reset()
    first = int(np.flatnonzero(info["mask"][:-1])[0])
    env.step(first)
    before = env.last.step
    _, _, _, _, info = env.step(first)
    assert env.last.step == before + 1
    assert info["mask"].shape == (7,)
