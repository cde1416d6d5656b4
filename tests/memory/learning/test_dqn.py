"""Learning: the obvious is learnt quickly, and the networks in torch and in NumPy are one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from argosy.memory.costs import Costs
from argosy.memory.learning import foresight, training
from argosy.memory.learning.dqn import DISCOUNT, Dqn, forward
from argosy.memory.learning.environment import PlacementEnv
from argosy.memory.learning.features import COUNT, NAMES
from argosy.memory.learning.network import SHAPES, worth_of
from argosy.memory.learning.policy import by_network
from argosy.memory.learning.tabular import STATES, Tabular, state_of
from argosy.memory.learning.weights import load
from argosy.memory.moves import Moves
from argosy.memory.planning.simulate import simulate

MOVES = Moves(fetch_seconds_per_byte=1.0, evict_seconds_per_byte=1.0)


def two_objects(windows: int = 30) -> Costs:
    """The second one costs ten times the first, always, and there is room for one of them."""
    return Costs(
        objects=("cold", "hot"),
        sizes=(1, 1),
        windows=("step",) * windows,
        order=tuple(range(windows)),
        floor=np.full(windows, -np.inf),
        base=np.full(windows, 0.1),
        slow=np.tile([0.2, 2.0], (windows, 1)),
    )


def taught(updates: int, *, spoil: float = 0.0) -> Dqn:
    learner = Dqn(seed=1, updates=updates, batch_windows=16)
    with torch.no_grad():
        learner._weights["b3"] += spoil
    for _ in range(4):
        learner.live(PlacementEnv(two_objects(), MOVES, 1, worth=learner.worth), explore=0.3)
    for _ in range(updates):
        learner.update()
    return learner


def test_an_object_that_is_always_hot_comes_in_once_and_stays() -> None:
    run = simulate(two_objects(), MOVES, 1, by_network(taught(150).weights()))
    assert run.placements[3:].tolist() == [[True, False]] * 27
    assert run.migration_seconds == 1.0


def test_a_network_that_begins_with_worthless_objects_learns_better() -> None:
    spoiled = simulate(two_objects(), MOVES, 1, by_network(taught(0, spoil=-9.0).weights()))
    learnt = simulate(two_objects(), MOVES, 1, by_network(taught(400, spoil=-9.0).weights()))
    assert spoiled.migration_seconds == 0.0
    assert learnt.seconds < 0.5 * spoiled.seconds


def test_what_is_always_needed_is_worth_its_next_use_and_the_fetch_that_would_follow() -> None:
    learner = taught(300)
    seen = learner.replay.draw(np.random.default_rng(0), 64)
    worth = worth_of(learner.weights(), seen.before[:, :2].astype(np.float64))
    in_round_trips = 2.0 / 2.0 + DISCOUNT * 1.0 / 2.0
    assert worth[:, 1].mean() == pytest.approx(in_round_trips, abs=0.2)
    seen_before = seen.before[:, 0, NAMES.index("how young the run is")] < 1.0
    assert seen_before.sum() > 32
    assert (worth[:, 1] > worth[:, 0])[seen_before].all()


def test_the_network_gives_the_same_in_torch_and_in_numpy_also_beside_empty_places() -> None:
    torch.manual_seed(0)
    weights = {name: torch.randn(shape) * 0.3 for name, shape in SHAPES.items()}
    block = torch.randn(3, 7, COUNT)
    real = torch.arange(7)[None, :] < torch.tensor([7, 4, 1])[:, None]
    in_torch = forward(weights, block, real).numpy()
    plain = {name: weight.numpy() for name, weight in weights.items()}
    for run, count in enumerate([7, 4, 1]):
        alone = worth_of(plain, block[run, :count].numpy().astype(np.float64))
        assert alone == pytest.approx(in_torch[run, :count], abs=1e-3)


def test_the_network_does_not_mind_the_order_of_the_objects() -> None:
    rng = np.random.default_rng(0)
    weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()}
    features, turned = rng.normal(size=(6, COUNT)), rng.permutation(6)
    assert worth_of(weights, features[turned]) == pytest.approx(worth_of(weights, features)[turned])


def test_the_table_learns_that_the_hot_object_is_worth_more() -> None:
    learner, table = taught(0), Tabular(rate=0.005)
    for _ in range(400):
        table.learn(learner.replay.draw(np.random.default_rng(0), 64))
    later = learner.replay.draw(np.random.default_rng(1), 64).before[:, :2]
    later = later[later[:, 0, NAMES.index("how young the run is")] < 0.9]
    cold, hot = state_of(later).T
    worth = table.table[:, 0] - table.table[:, 1]
    assert len(later) > 32
    assert (worth[hot] > worth[cold] + 0.5).all()


def test_every_state_of_the_table_can_be_told() -> None:
    rng = np.random.default_rng(0)
    states = state_of(rng.uniform(0.0, 3.0, (20_000, COUNT)))
    assert states.min() >= 0
    assert states.max() < STATES


def test_training_from_a_seed_gives_the_same_weights_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "FIRST_RUNS", 2)
    for name in ("one.npz", "two.npz"):
        training.train(tmp_path / name, updates=2, seed=5, report=lambda line: None)
    first, second = load(tmp_path / "one.npz"), load(tmp_path / "two.npz")
    assert set(first) == {*SHAPES, *foresight.SHAPES, "table"}
    assert all((first[name] == second[name]).all() for name in first)


def test_no_time_to_learn_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="before the first update"):
        training.train(tmp_path / "none.npz", updates=3, minutes=0.0)
