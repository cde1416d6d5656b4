"""Small costs to plan for, drawn by Hypothesis, and plans found by trying everything."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from hypothesis import strategies as st

from argosy.memory.costs import Costs
from argosy.memory.moves import Moves
from argosy.memory.placement import Slow
from argosy.memory.planning.exhaustive import bits
from argosy.memory.planning.simulate import price


@dataclass(frozen=True, kw_only=True)
class Estimated:
    """All that a plan needs of an estimator."""

    costs: Costs
    moves: Moves | None
    fast: str = "ram"
    slow: str = "disk"
    law: str = "hinge"


def make_costs(
    slow: list[list[float]],
    sizes: list[int],
    *,
    order: list[int] | None = None,
    base: list[float] | None = None,
    floor: list[float] | None = None,
) -> Costs:
    num_windows = len(slow)
    return Costs(
        objects=tuple("abcdefghijklmnopqrstuvwxyz"[: len(sizes)]),
        sizes=tuple(sizes),
        windows=tuple(f"w{i}" for i in range(num_windows)),
        order=tuple(order if order is not None else range(num_windows)),
        floor=np.array(floor if floor is not None else [-np.inf] * num_windows, dtype=np.float64),
        base=np.array(base if base is not None else [0.0] * num_windows, dtype=np.float64),
        slow=np.array(slow, dtype=np.float64).reshape(num_windows, len(sizes)),
    )


seconds = st.floats(0, 10).map(lambda value: round(value, 3))


@st.composite
def small_costs(draw: st.DrawFn, *, most_objects: int = 6, most_windows: int = 4, most_steps: int = 6) -> Costs:
    """With and without floors; some objects cost nothing somewhere, some are better off in slow memory."""
    num_objects = draw(st.integers(1, most_objects))
    num_windows = draw(st.integers(1, most_windows))
    cost = st.one_of(st.just(0.0), seconds, seconds, st.floats(-1, 0).map(lambda value: round(value, 3)))
    slow = draw(
        st.lists(st.lists(cost, min_size=num_objects, max_size=num_objects), min_size=num_windows, max_size=num_windows)
    )
    has_floors = draw(st.booleans())
    extra = draw(st.lists(st.integers(0, num_windows - 1), max_size=max(most_steps - num_windows, 0)))
    return make_costs(
        slow,
        draw(st.lists(st.integers(0, 100), min_size=num_objects, max_size=num_objects)),
        order=draw(st.permutations([*range(num_windows), *extra])),
        base=draw(st.lists(seconds, min_size=num_windows, max_size=num_windows)),
        floor=draw(st.lists(st.floats(0, 30), min_size=num_windows, max_size=num_windows)) if has_floors else None,
    )


rates = st.sampled_from([0.0, 0.001, 0.01, 0.1])
moves = st.builds(lambda fetch, evict: Moves(fetch_seconds_per_byte=fetch, evict_seconds_per_byte=evict), rates, rates)
capacities = st.integers(0, 300)


def best_by_trying(costs: Costs, moves: Moves, capacity: int, start: Slow | None) -> float:
    """The least seconds of all schedules that keep the capacity."""
    rows = bits(np.arange(2 ** len(costs.objects)), len(costs.objects))
    fitting = [row for row in rows if ~row @ np.array(costs.sizes) <= capacity]
    return min(
        price(costs, moves, np.array(schedule), start=start).seconds
        for schedule in product(fitting, repeat=len(costs.order))
    )
