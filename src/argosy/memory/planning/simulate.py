"""What a schedule of placements costs, and what a policy would have done: predicted, window by window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from argosy.memory.costs import Costs
from argosy.memory.moves import Moves
from argosy.memory.placement import Slow
from argosy.memory.planning.policy import Observation, Policy


@dataclass(frozen=True, kw_only=True, slots=True)
class Simulated:
    """One run, as the costs predict it."""

    seconds: float
    """Of the whole run, migration included."""
    migration_seconds: float
    placements: Slow
    """[occurrences of windows, objects]: was the object slow in it?"""


def simulate(costs: Costs, moves: Moves, capacity: int, policy: Policy, *, start: Slow | None = None) -> Simulated:
    """Run the windows in the order of time; the policy decides before each of them and sees the past and its name.

    Objects begin as the row `start` has them, everything slow if it is not given. Raises `ValueError` if the policy
    asks for more than fits. Cost: one pass over [occurrences, objects].
    """
    timeline = costs.per_occurrence()
    sizes = np.asarray(costs.sizes, dtype=np.int64)
    first = np.ones(len(sizes), dtype=np.bool_) if start is None else np.array(start, dtype=np.bool_)
    is_slow, ended, recent = first, "", np.zeros(len(sizes))
    rows = np.empty((len(timeline.windows), len(sizes)), dtype=np.bool_)
    for step, name in enumerate(timeline.windows):
        seen = Observation(
            step=step,
            window_name=ended,
            sizes=sizes,
            resident=~is_slow,
            recent=recent,
            capacity=capacity,
            moves=moves,
            next_name=name,
        )
        fast = list(policy.decide(seen))
        if (asked := int(sizes[fast].sum())) > capacity:
            raise ValueError(
                f"before window {step} ({name!r}) the policy asks for {asked} bytes of fast memory, but the capacity "
                f"is {capacity}; a policy must let objects go before it brings others in"
            )
        is_slow = np.ones(len(sizes), dtype=np.bool_)
        is_slow[fast] = False
        rows[step] = is_slow
        ended, recent = name, marginal(timeline, step, is_slow)
    return price(costs, moves, rows, start=first)


def price(costs: Costs, moves: Moves, placements: Slow, *, start: Slow | None = None) -> Simulated:
    """A schedule's seconds: `placements` has one row for each occurrence of a window in time.

    Objects begin where the first row has them; with `start` they begin there, and the way to the first row is paid.
    """
    timeline = costs.per_occurrence()
    sizes = np.asarray(costs.sizes, dtype=np.float64)
    rows = np.asarray(placements, dtype=np.bool_)
    windows = np.maximum(timeline.floor, timeline.base + (timeline.slow * rows).sum(axis=1))
    before = rows[:-1] if start is None else np.vstack([start, rows[:-1]])
    after = rows[len(rows) - len(before) :]
    migration = moves.seconds(
        float(((before & ~after) @ sizes).sum()),
        float(((~before & after) @ sizes).sum()),
    )
    return Simulated(seconds=float(windows.sum()) + migration, migration_seconds=migration, placements=rows)


def marginal(timeline: Costs, step: int, is_slow: Slow) -> NDArray[np.float64]:
    """Seconds between each object slow and the same object fast in one window, with the others as they are."""
    slow = timeline.slow[step]
    load = timeline.base[step] + slow @ is_slow
    floor = timeline.floor[step]
    difference: NDArray[np.float64] = np.maximum(floor, load + slow * ~is_slow) - np.maximum(
        floor, load - slow * is_slow
    )
    return difference
