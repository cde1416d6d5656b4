"""Teaching a learner on runs made up from a seed. The families of `phases.HELD_OUT` are never looked at here."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from argosy.memory.learning.dqn import Dqn
from argosy.memory.learning.environment import PlacementEnv
from argosy.memory.learning.lessons import Lessons, teach
from argosy.memory.learning.phases import TAUGHT, case
from argosy.memory.learning.tabular import Tabular
from argosy.memory.learning.weights import save

UPDATES = 9_000
UPDATES_PER_RUN = 40
FIRST_RUNS = 15
EXPLORE = 0.05
FIRST_SEED = 100_000
"""Runs that are taught have seeds from here on, those that are judged have smaller ones."""


def train(
    out: str | Path,
    *,
    updates: int | None = None,
    minutes: float | None = None,
    seed: int = 0,
    report: Callable[[str], object] = print,
) -> None:
    """Writes the weights of the networks and the table of the baseline to `out`.

    Deep Q-learning and the table come first; the networks that foresee are then taught on the same runs, with half as
    many updates each. Without `updates` there are as many as for the shipped ones. The same seed and number of updates
    give the same weights on one machine; `minutes` may end it earlier, half of them for each. Raises `ValueError` if
    the time was over before anything was learnt.
    """
    updates = UPDATES if updates is None else updates
    began = time.monotonic()
    learner, baseline, lessons = Dqn(seed=seed, updates=updates), Tabular(), Lessons()
    families, runs, done, loss = list(TAUGHT), 0, 0, 0.0
    while done < updates and (minutes is None or time.monotonic() - began < 30.0 * minutes):
        if runs < FIRST_RUNS + done // UPDATES_PER_RUN:
            taught = case(families[runs % len(families)], FIRST_SEED + 1_000_000 * seed + runs)
            costs_are_known = runs // len(families) % 2 == 1
            env = PlacementEnv(
                taught.costs, taught.moves, taught.capacity, worth=learner.worth, costs_are_known=costs_are_known
            )
            learner.live(env, explore=EXPLORE)
            lessons.add(taught, costs_are_known=costs_are_known)
            runs += 1
            continue
        loss += 0.01 * (learner.update() - loss)
        baseline.learn(learner.replay.draw(learner.rng, 64))
        done += 1
        if done % 1000 == 0:
            report(f"{done} updates, {runs} runs, {time.monotonic() - began:.0f} s: loss {loss:.4f}")
    if done == 0:
        raise ValueError(f"{minutes} minutes were over before the first update; give it more")
    deadline = None if minutes is None else began + 60.0 * minutes
    foresight = teach(lessons, updates=updates // 2, seed=seed, deadline=deadline)
    report(f"networks that foresee, {time.monotonic() - began:.0f} s")
    save(out, **learner.weights(), **foresight, table=baseline.table)
