"""Teaching a learner on runs made up from a seed. The families of `HELD_OUT` are never looked at here."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from argosy.memory.learning.dqn import Dqn
from argosy.memory.learning.environment import PlacementEnv
from argosy.memory.learning.families import BROAD, SCENES
from argosy.memory.learning.lessons import Lessons, teach
from argosy.memory.learning.phases import Case, case
from argosy.memory.learning.tabular import Tabular
from argosy.memory.learning.weights import save

UPDATES = 9_000
UPDATES_PER_RUN = 40
FIRST_RUNS = 15
LESSON_RUNS = 3_600
"""For as many updates as `UPDATES`: runs to learn to foresee from. They cost a tenth of a second each."""
EXPLORE = 0.05
FIRST_SEED = 100_000
"""Runs that are taught have seeds from here on, those that are judged have smaller ones."""

Report = Callable[[str], object]
Weights = Mapping[str, NDArray[np.float32]]


def train(
    out: str | Path,
    *,
    updates: int | None = None,
    minutes: float | None = None,
    seed: int = 0,
    report: Report = print,
) -> None:
    """Writes the weights of the networks and the table of the baseline to `out`.

    Deep Q-learning and the table come first; then the networks that foresee are taught, on more runs, with half as many
    updates each. Without `updates` there are as many as for the shipped ones. The same seed and number of updates
    give the same weights on one machine; `minutes` may end it earlier: a third for Q-learning, a third for runs to
    foresee, and the rest for the networks. Raises `ValueError` if the time was over before anything was learnt.
    """
    updates = UPDATES if updates is None else updates
    began = time.monotonic()

    def until(share: float) -> float | None:
        return None if minutes is None else began + 60.0 * minutes * share

    worths = _learn_worths(updates, seed, until(1 / 3), report)
    if worths is None:
        raise ValueError(f"{minutes} minutes were over before the first update; give it more")
    lessons = _take_lessons(max(LESSON_RUNS * updates // UPDATES, FIRST_RUNS), seed, until(2 / 3))
    report(f"runs to foresee, {time.monotonic() - began:.0f} s")
    foresight = teach(lessons, updates=updates // 2, seed=seed, deadline=until(1.0))
    report(f"networks that foresee, {time.monotonic() - began:.0f} s")
    save(out, **worths, **foresight)


def _learn_worths(updates: int, seed: int, deadline: float | None, report: Report) -> Weights | None:
    """Deep Q-learning and the table, from the same runs; none if the time was over before the first update."""
    began = time.monotonic()
    learner, baseline = Dqn(seed=seed, updates=updates), Tabular()
    runs, done, loss = 0, 0, 0.0
    while done < updates and not _is_over(deadline):
        if runs < FIRST_RUNS + done // UPDATES_PER_RUN:
            taught, costs_are_known = _lesson(seed, runs)
            env = PlacementEnv(
                taught.costs, taught.moves, taught.capacity, worth=learner.worth, costs_are_known=costs_are_known
            )
            learner.live(env, explore=EXPLORE)
            runs += 1
            continue
        loss += 0.01 * (learner.update() - loss)
        baseline.learn(learner.replay.draw(learner.rng, 64))
        done += 1
        if done % 1000 == 0:
            report(f"{done} updates, {runs} runs, {time.monotonic() - began:.0f} s: loss {loss:.4f}")
    return {**learner.weights(), "table": baseline.table} if done else None


def _take_lessons(runs: int, seed: int, deadline: float | None) -> Lessons:
    """Some at least, or nothing is known to scale by."""
    lessons = Lessons()
    for number in range(runs):
        if number >= FIRST_RUNS and _is_over(deadline):
            break
        run, costs_are_known = _lesson(seed, number)
        lessons.add(run, costs_are_known=costs_are_known)
    return lessons


def _lesson(seed: int, number: int) -> tuple[Case, bool]:
    """A run, and whether its costs are known: every other one of a family. Scenes and broad families take turns."""
    families = list(BROAD if number % 2 else SCENES)
    turn, which = divmod(number // 2, len(families))
    return case(families[which], FIRST_SEED + 1_000_000 * seed + number), turn % 2 == 1


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() > deadline
