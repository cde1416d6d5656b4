"""What each object is worth in fast memory when the future is known: the best schedule, relaxed by a price on capacity.

With a price on the whole fast memory in each window the objects no longer compete, and each has its own best schedule,
found backwards in time (s is the object's size over the capacity):

    J[slow, t] = cost[t]      + min(J[slow, t+1], J[fast, t+1] + fetch)
    J[fast, t] = price[t] * s + min(J[fast, t+1], J[slow, t+1] + evict)

An object is worth J[slow, t] - J[fast, t] in window t. Prices are raised where the objects ask for more than
there is and lowered where they ask for less. The sum of the objects' best, less all prices, is never above the best
schedule of all: a bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from argosy.memory.costs import Costs
from argosy.memory.moves import Moves

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Prices:
    """Those of a run: settled again before each window, beginning with what was settled before the last one."""

    def __init__(self) -> None:
        self.now = np.zeros(1)

    def settle(self, cost: Floats, share: Floats, fetch: Floats, evict: Floats, resident: Bools, rounds: int) -> Floats:
        """The worths, [windows, n], for what the windows to come cost; `share` is of the capacity."""
        step = 0.3 * float(cost.sum()) / (max(float(share.sum()), 1e-30) * len(cost))
        before = one_on(self.now, len(cost))
        self.now, worth, _, _ = settle_prices(cost, share, fetch, evict, resident, before, step, rounds)
        return worth


def one_on(made: NDArray[Any], windows: int) -> NDArray[Any]:
    """What was made before the last window, without that one, for so many windows: the last lasts."""
    return made[np.minimum(np.arange(1, windows + 1), len(made) - 1)]


@njit(cache=True, nogil=True)
def settle_prices(
    cost: Floats,
    share: Floats,
    fetch: Floats,
    evict: Floats,
    resident: Bools,
    price: Floats,
    step: float,
    rounds: int,
) -> tuple[Floats, Floats, float, Floats]:
    """`rounds` steps from these prices. Returns the prices, [windows, n] the worths under them, and the best bound
    that was met with its prices, for a run that begins with these objects fast."""
    windows, objects = cost.shape
    togo = np.zeros((2, windows + 1, objects))
    price, best_price = price.copy(), price.copy()
    best = -np.inf
    asked = np.empty(windows)
    for turn in range(rounds + 1):
        bound = -price.sum()
        asked[:] = 0.0
        for o in range(objects):
            for t in range(windows - 1, -1, -1):
                is_slow, is_fast = togo[0, t + 1, o], togo[1, t + 1, o]
                togo[0, t, o] = cost[t, o] + min(is_slow, is_fast + fetch[o])
                togo[1, t, o] = price[t] * share[o] + min(is_fast, is_slow + evict[o])
            into, out = (0.0, evict[o]) if resident[o] else (fetch[o], 0.0)
            bound += min(togo[0, 0, o] + out, togo[1, 0, o] + into)
            fast = resident[o]
            for t in range(windows):
                paid = -evict[o] if fast else fetch[o]
                fast = togo[1, t, o] + paid < togo[0, t, o]
                if fast:
                    asked[t] += share[o]
        if bound > best:
            best = bound
            best_price[:] = price
        if turn < rounds:
            for t in range(windows):
                price[t] = max(price[t] + step / (1.0 + turn / 4.0) * (asked[t] - 1.0), 0.0)
    return price, togo[0, :windows] - togo[1, :windows], best, best_price


def bound_seconds(costs: Costs, moves: Moves, capacity: int, *, rounds: int = 400) -> float:
    """No schedule that begins with everything slow takes less, whatever it knows.

    Floors are left out, which only lowers the bound. Cost: `rounds` passes over [occurrences, objects], compiled.
    """
    timeline = costs.per_occurrence()
    sizes = np.asarray(costs.sizes, dtype=np.float64)
    share = sizes / capacity
    price = np.zeros(len(timeline.windows))
    step = 4.0 * float(timeline.slow.sum()) / max(float(share.sum()) * len(price), 1e-30)
    best = 0.0
    for _ in range(4):
        _, _, best, price = settle_prices(
            timeline.slow,
            share,
            sizes * moves.fetch_seconds_per_byte,
            sizes * moves.evict_seconds_per_byte,
            np.zeros(len(sizes), dtype=np.bool_),
            price,
            step,
            rounds // 4,
        )
        step /= 3.0
    return best + float(timeline.base.sum())
