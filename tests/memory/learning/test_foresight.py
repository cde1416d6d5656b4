"""Networks that correct what is expected, and how far they are believed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from argosy.memory.learning.families import TAUGHT
from argosy.memory.learning.forecast import HORIZON_WINDOWS
from argosy.memory.learning.foresight import (
    INPUTS,
    NETWORKS,
    SHAPES,
    SPANS,
    TRUST,
    Foresight,
    Trust,
    corrected,
    means,
    spread,
)  # fmt: skip
from argosy.memory.learning.lessons import Lessons, foretold, teach
from argosy.memory.learning.phases import Case, case
from argosy.memory.learning.policy import typical_of
from argosy.memory.learning.weights import load
from argosy.memory.planning.policy import Observation


def said_of(one: Case, foresight: Foresight) -> tuple[np.ndarray, np.ndarray]:
    """What was expected of the next window before each, and what it was: [windows, objects]."""
    return np.array([ahead[0] for ahead in foreseen(one, foresight)]), one.costs.slow


def foreseen(one: Case, foresight: Foresight) -> list[np.ndarray]:
    """All that was expected, before each window."""
    sizes, none = np.asarray(one.costs.sizes), np.zeros(len(one.costs.sizes), dtype=np.bool_)
    told, names = [], one.costs.windows
    for step, name in enumerate(names):
        seen = Observation(
            step=step,
            window_name=names[step - 1] if step else "",
            sizes=sizes,
            resident=none,
            recent=one.costs.slow[step - 1] if step else np.zeros(len(sizes)),
            capacity=one.capacity,
            moves=one.moves,
            next_name=name,
        )
        told.append(foresight(seen))
    return told


def zeros() -> dict[str, np.ndarray]:
    return {name: np.zeros(shape, dtype=np.float32) for name, shape in SHAPES.items()}


def test_spans_are_the_whole_horizon_and_their_means_are_kept_by_what_is_told() -> None:
    assert [first for first, _ in SPANS] == [0, *(end for _, end in SPANS[:-1])]
    assert SPANS[-1][1] == HORIZON_WINDOWS
    expected = np.random.default_rng(0).exponential(1.0, (HORIZON_WINDOWS, 3))
    expected[:, 2] = 0.0
    told = np.random.default_rng(1).exponential(1.0, (3, len(SPANS)))
    found = spread(told, means(expected), expected)
    assert means(found) == pytest.approx(told)
    first, end = SPANS[-1]
    assert found[first:end, 0] / found[first, 0] == pytest.approx(expected[first:end, 0] / expected[first, 0])


def test_the_networks_give_the_same_in_torch_and_in_numpy_also_beside_empty_places() -> None:
    torch.manual_seed(0)
    weights = {name: torch.randn(shape) * 0.2 for name, shape in SHAPES.items()}
    inputs, mean = torch.randn(2, 6, INPUTS), torch.rand(2, 6, len(SPANS))
    real = torch.arange(6)[None, :] < torch.tensor([6, 4])[:, None]
    each = [foretold({name: of[k] for name, of in weights.items()}, inputs, mean, real) for k in range(NETWORKS)]
    in_torch = torch.stack(each).mean(dim=0).numpy()
    plain = {name: weight.numpy() for name, weight in weights.items()}
    for run, count in enumerate([6, 4]):
        some = (block[run, :count].numpy().astype(np.float64) for block in (inputs, mean))
        assert corrected(plain, *some) == pytest.approx(in_torch[run, :count], rel=1e-3)


def test_what_was_taught_is_found_again_when_it_is_used() -> None:
    lessons = Lessons()
    for seed in range(4):
        lessons.add(case("epochs", seed, windows=60, objects=7), costs_are_known=seed % 2 == 0)
    inputs, expected, came = lessons.tensors()
    weights = teach(lessons, updates=150, seed=0)
    assert {name: array.shape for name, array in weights.items()} == SHAPES
    known, untaught = ~came.isnan().numpy(), zeros()
    off = []
    for each in (untaught, weights):
        told = np.stack(
            [
                corrected(each, seen[:7].numpy().astype(np.float64), mean[:7].numpy().astype(np.float64))
                for seen, mean in zip(inputs, expected, strict=True)
            ]
        )
        apart = (told - came[:, :7].numpy())[known[:, :7]]
        off.append(float((apart**2).mean()))
    assert off[1] < 0.9 * off[0]
    again = teach(lessons, updates=150, seed=0)
    assert all((weights[name] == again[name]).all() for name in weights)


def test_lessons_do_not_know_what_comes_after_the_end() -> None:
    lessons = Lessons()
    one = case("periodic", 1, windows=50, objects=6)
    lessons.add(one, costs_are_known=False)
    _, _, came = (of.numpy() for of in lessons.tensors())
    assert np.isnan(came[:, 6:]).all()
    assert not np.isnan(came[:, :6, 0]).any()
    assert np.isnan(came[3:, :6, -1]).all()
    assert not np.isnan(came[:3, :6, -1]).any()
    per_byte = one.moves.fetch_seconds_per_byte + one.moves.evict_seconds_per_byte
    trip = np.asarray(one.costs.sizes) * per_byte
    assert came[4, :6, 2] == pytest.approx(one.costs.slow[6:8].mean(axis=0) / trip, rel=1e-5)


def test_on_families_that_taught_with_other_seeds_the_shipped_networks_foresee_better_than_the_mixture() -> None:
    shipped, of_mixture, of_networks = load(), 0.0, 0.0
    for family in TAUGHT:
        one = case(family, 77, windows=100, objects=8)
        for weights in (zeros(), shipped):
            told, came = said_of(one, Foresight(weights, typical_of(one.costs)))
            apart = float(np.sqrt(((told - came) ** 2).mean()) / came.mean())
            of_mixture += apart * (weights is not shipped)
            of_networks += apart * (weights is shipped)
    assert of_networks < 0.98 * of_mixture


@pytest.mark.parametrize("first", [0.0, TRUST])
def test_trust_goes_to_whoever_is_right(first: float) -> None:
    share, right, wrong = np.full(2, 0.5), np.ones((HORIZON_WINDOWS, 2)), np.full((HORIZON_WINDOWS, 2), 4.0)
    for one, other in ((right, wrong), (wrong, right)):
        trust = Trust(first, 2)
        assert trust.blend(one, other) == pytest.approx(one + first * (other - one))
        off = []
        for _ in range(300):
            trust.see(np.ones(2), share)
            off.append(float(np.abs(trust.blend(one, other) - right).max()))
        assert off[-1] < 0.25 * (wrong - right).max()
        assert off[-1] <= off[50] <= off[0] + 1e-9


def test_nothing_is_expected_after_the_end_of_a_run_whose_length_is_known() -> None:
    one = case("requests", 5, windows=60, objects=6)
    shorter = typical_of(case("requests", 5, windows=55, objects=6).costs)
    for known, lengths in (
        (typical_of(one.costs), [min(60 - step, HORIZON_WINDOWS) for step in range(60)]),
        (shorter, [min(55 - step, HORIZON_WINDOWS) for step in range(55)] + [HORIZON_WINDOWS] * 5),
        (None, [HORIZON_WINDOWS] * 60),
    ):
        assert [len(ahead) for ahead in foreseen(one, Foresight(zeros(), known))] == lengths


def test_networks_must_earn_trust_where_nothing_is_known_of_a_run() -> None:
    one = case("requests", 5, windows=3, objects=6)
    untaught, taught = (said_of(one, Foresight(weights))[0] for weights in (zeros(), load()))
    assert (untaught[0] == taught[0]).all()
    assert (taught[0] == 0).all()
    known = said_of(one, Foresight(load(), typical_of(one.costs)))[0]
    assert (known[0] > 0).all()


def test_a_run_begins_anew() -> None:
    one, other = case("trees", 0, windows=20, objects=6), case("sweeps", 1, windows=20, objects=9)
    foresight = Foresight(load())
    first, _ = said_of(one, foresight)
    said_of(other, foresight)
    again, _ = said_of(one, foresight)
    assert (first == again).all()
