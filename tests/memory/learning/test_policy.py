"""What is shipped: the learnt policy on runs of families that it was not taught on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from argosy.memory.learning import foresight, learned_policy, network
from argosy.memory.learning.families import HELD_OUT, TAUGHT
from argosy.memory.learning.gap import ratios
from argosy.memory.learning.judge import WITH_COSTS, judge, table
from argosy.memory.learning.phases import case
from argosy.memory.learning.policy import Primed, q_policy, typical_of
from argosy.memory.learning.weights import load, save
from argosy.memory.planning.online import Hysteresis
from argosy.memory.planning.policy import Policy
from argosy.memory.planning.simulate import simulate


def test_on_families_it_never_saw_it_beats_greedy_in_the_mean_and_is_never_much_worse() -> None:
    judged = [judge(case(family, seed, windows=80, objects=8)) for family in HELD_OUT for seed in range(3)]
    over_greedy = [one.ratio("learned", "hysteresis") for one in judged]
    over_belady = [one.ratio("learned", "belady") for one in judged]
    assert float(np.mean(over_greedy)) < 0.96
    assert np.mean(np.array(over_greedy) > 1.05) < 0.2
    assert float(np.mean(over_belady)) < 1.28
    assert sum(one.seconds["learned"] for one in judged) < sum(one.seconds["tabular"] for one in judged)
    assert all(one.seconds["bound"] <= 1.000001 * min(one.seconds.values()) for one in judged)
    assert table(judged).count("\n") == 2 + len(HELD_OUT)


def test_with_costs_it_is_better_than_without_and_than_greedy_with_the_same_costs() -> None:
    judged = [judge(case(family, seed, windows=80, objects=8)) for family in HELD_OUT for seed in range(2)]
    seconds = {who: sum(one.ratio(who, "belady") for one in judged) for who in judged[0].seconds}
    assert seconds["learned with costs"] < 0.98 * seconds["learned"]
    assert seconds["learned with costs"] < 0.97 * seconds["hysteresis with costs"]
    assert max(one.ratio("learned with costs", "hysteresis with costs") for one in judged) < 1.1
    assert "| learned with costs / hysteresis with costs: mean |" in table(
        judged, who=WITH_COSTS, to="hysteresis with costs"
    )


def test_what_is_typical_is_the_mean_window_of_all_and_of_each_name_whatever_the_order() -> None:
    one = case("periodic", 0, windows=30, objects=7)
    names = np.array(one.costs.windows)
    order = np.random.default_rng(0).permutation(30)
    dealt_anew = replace(
        one.costs, slow=one.costs.slow[order], base=one.costs.base[order], windows=tuple(names[order].tolist())
    )
    found, again = typical_of(one.costs), typical_of(dealt_anew)
    assert found.overall == pytest.approx(one.costs.slow.mean(axis=0))
    assert again.overall == pytest.approx(found.overall)
    assert set(found.by_name) == set(names.tolist())
    for name, cost in found.by_name.items():
        assert cost == pytest.approx(one.costs.slow[names == name].mean(axis=0))
        assert again.by_name[name] == pytest.approx(cost)


def test_greedy_that_has_seen_a_typical_window_places_for_it_at_once() -> None:
    one = case("requests", 0, windows=30, objects=7)
    known = typical_of(one.costs)
    often = replace(known, overall=50 * known.overall)
    blind = simulate(one.costs, one.moves, one.capacity, Hysteresis()).placements
    rows = simulate(one.costs, one.moves, one.capacity, Primed(Hysteresis(), often)).placements
    assert blind[0].all()
    assert not rows[0].all()
    assert known.overall[~rows[0]].sum() > known.overall[rows[0]].sum()


@pytest.mark.parametrize("family", ["periodic", "requests", "sweeps"])
def test_whoever_is_told_more_of_the_future_needs_less_time(family: str) -> None:
    found = [ratios(case(family, seed, windows=60, objects=8)) for seed in range(2)]
    mean = {name: float(np.mean([each[name] for each in found])) for name in found[0]}
    assert mean["plan, told all"] < mean["plan, told 4"] + 0.02 < mean["plan, told 0"] + 0.04
    assert mean["plan, told all, from the best placement"] < mean["plan, told all"]
    assert mean["plan, told all"] < 1.1


def test_families_that_teach_and_families_that_judge_have_nothing_in_common() -> None:
    assert not set(TAUGHT) & set(HELD_OUT)
    assert not set(TAUGHT.values()) & set(HELD_OUT.values())


def test_a_case_is_the_same_each_time_and_fits_its_largest_object() -> None:
    for family in (*TAUGHT, *HELD_OUT):
        one, again = case(family, 7), case(family, 7)
        assert (one.costs.slow == again.costs.slow).all()
        assert max(one.costs.sizes) <= one.capacity < one.costs.nbytes * 1.0001
        assert (case(family, 8).costs.slow.shape != one.costs.slow.shape) or (
            case(family, 8).costs.slow != one.costs.slow
        ).any()
    with pytest.raises(ValueError, match="there is no family 'none'"):
        case("none", 0)


def test_a_policy_begins_anew_with_each_run() -> None:
    one, other = case("periodic", 1, windows=40, objects=8), case("bursts", 2, windows=40, objects=11)
    policy = learned_policy()
    first = simulate(one.costs, one.moves, one.capacity, policy).seconds
    simulate(other.costs, other.moves, other.capacity, policy)
    assert simulate(one.costs, one.moves, one.capacity, policy).seconds == first


def test_all_is_compiled_when_a_policy_is_made_and_nothing_in_the_windows_of_a_run() -> None:
    code = """
import sys
from numba.core.dispatcher import Dispatcher
from argosy.memory.learning.phases import case
from argosy.memory.learning.policy import learned_policy

def compiled():
    modules = [module for name, module in sys.modules.items() if name.startswith("argosy.memory")]
    kernels = {of for module in modules for of in vars(module).values() if isinstance(of, Dispatcher)}
    return {(kernel.py_func.__qualname__, kernel.__module__): len(kernel.signatures) for kernel in kernels}

one = case("turns", 1, windows=30, objects=5)
policies = learned_policy(), learned_policy(costs=one.costs)
before = compiled()
from argosy.memory.planning.simulate import simulate
for policy in policies:
    simulate(one.costs, one.moves, one.capacity, policy)
assert sum(before.values()) > 10, before
assert compiled() == before, (before, compiled())
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=55, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("make", "shapes", "name"), [(learned_policy, foresight.SHAPES, "foresee W1"), (q_policy, network.SHAPES, "W1")]
)
def test_weights_of_another_network_are_refused(
    tmp_path: Path, make: Callable[[Path], Policy], shapes: Mapping[str, object], name: str
) -> None:
    weights = load()
    assert set(shapes) < set(weights)
    save(tmp_path / "odd.npz", **{**weights, name: weights[name][:-1]})
    with pytest.raises(ValueError, match=f"{name} is"):
        make(tmp_path / "odd.npz")
    save(tmp_path / "less.npz", **{other: array for other, array in weights.items() if other != name})
    with pytest.raises(ValueError, match=f"{name} is nothing"):
        make(tmp_path / "less.npz")


def test_deciding_needs_neither_torch_nor_gymnasium_and_what_does_says_how_to_get_them() -> None:
    code = (
        "import sys; sys.modules['torch'] = None; sys.modules['gymnasium'] = None\n"
        "from argosy.memory.learning import learned_policy\n"
        "from argosy.memory.learning.phases import case\n"
        "from argosy.memory.planning.simulate import simulate\n"
        "one = case('periodic', 1, windows=20, objects=6)\n"
        "print(simulate(one.costs, one.moves, one.capacity, learned_policy()).seconds > 0)\n"
        "try: from argosy.memory.learning import PlacementEnv\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=False)
    assert done.stdout.startswith("True\n"), done.stderr
    assert "PlacementEnv needs gymnasium; install it: pip install 'argosy[memory]'" in done.stdout
