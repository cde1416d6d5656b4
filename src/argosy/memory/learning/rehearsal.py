"""A schedule for the windows to come, tried out on what they are expected to cost; its first row is what is decided.

Prices on fast memory (`prices`) tell what each object would be worth in every window. Going forward in time by those
worths gives one schedule; the one that was made before the last window, and staying as it is, are two more. Each is
made better one object at a time: the best times for it to be fast where there is room for it. The best of the three is
then made better by objects that come in where others must leave for them. All of it is compiled, and takes a fraction
of a millisecond for 48 windows of 20 objects.

Sizes and the capacity are whole bytes, so that what is fast always fits; costs are seconds. [windows, objects]
throughout; True is fast.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from argosy.memory.learning.swaps import Bools, Floats, settle_one

SWEEPS = 3
COMES_BACK = 0.25
"""An object that leaves for another in some window may have to be fetched again: so much of a round trip is counted."""


@njit(cache=True, nogil=True)
def rehearse(
    cost: Floats,
    worth: Floats,
    sizes: Floats,
    fetch: Floats,
    evict: Floats,
    capacity: float,
    resident: Bools,
    before: Bools,
) -> Bools:
    """The best schedule that was found. `worth` is what each object would be worth in each window, `before` a schedule
    that was made earlier, as far as it is not over."""
    windows = len(cost)
    best = _polished(
        cost, sizes, fetch, evict, capacity, resident, _forward(worth, sizes, fetch, evict, capacity, resident)
    )
    least = spent(cost, fetch, evict, resident, best)
    for other in (before, _still(resident, windows)):
        found = _polished(cost, sizes, fetch, evict, capacity, resident, other)
        seconds = spent(cost, fetch, evict, resident, found)
        if seconds <= least:
            best, least = found, seconds
    return _with_others_out(cost, sizes, fetch, evict, capacity, resident, best, least)


@njit(cache=True, nogil=True)
def spent(cost: Floats, fetch: Floats, evict: Floats, resident: Bools, fast: Bools) -> float:
    """Seconds of a schedule: of what is slow, and of all moves."""
    total = 0.0
    for o in range(cost.shape[1]):
        was = resident[o]
        for t in range(len(cost)):
            now = fast[t, o]
            if not now:
                total += cost[t, o]
            if now and not was:
                total += fetch[o]
            elif was and not now:
                total += evict[o]
            was = now
    return total


@njit(cache=True, nogil=True)
def _still(resident: Bools, windows: int) -> Bools:
    fast = np.empty((windows, len(resident)), np.bool_)
    for t in range(windows):
        fast[t] = resident
    return fast


@njit(cache=True, nogil=True)
def _forward(worth: Floats, sizes: Floats, fetch: Floats, evict: Floats, capacity: float, resident: Bools) -> Bools:
    """One window after another, by swaps that pay."""
    fast = np.empty(worth.shape, np.bool_)
    now = resident
    for t in range(len(worth)):
        now = settle_one(worth[t], now, sizes, fetch, evict, capacity)
        fast[t] = now
    return fast


@njit(cache=True, nogil=True)
def _polished(
    cost: Floats, sizes: Floats, fetch: Floats, evict: Floats, capacity: float, resident: Bools, schedule: Bools
) -> Bools:
    """Each object in turn has the best times for it, while the others stay. Never worse than before."""
    windows, objects = cost.shape
    fast = schedule.copy()
    room = np.empty(windows)
    for t in range(windows):
        room[t] = capacity - sizes[fast[t]].sum()
    fits = np.empty(windows, np.bool_)
    for _ in range(SWEEPS):
        changed = False
        for o in range(objects):
            for t in range(windows):
                fits[t] = fast[t, o] or room[t] >= sizes[o]
            times = _best_times(cost[:, o], fits, fetch[o], evict[o], resident[o])
            for t in range(windows):
                if times[t] != fast[t, o]:
                    changed = True
                    room[t] += sizes[o] if fast[t, o] else -sizes[o]
                    fast[t, o] = times[t]
        if not changed:
            break
    return fast


@njit(cache=True, nogil=True)
def _best_times(saved: Floats, fits: Bools, fetch: float, evict: float, resident: bool) -> Bools:
    """When one object should be fast that saves so much in each window, and may be fast in those where it fits."""
    windows = len(saved)
    if_fast, if_slow = np.zeros(windows + 1), np.zeros(windows + 1)
    for t in range(windows - 1, -1, -1):
        if_fast[t] = saved[t] + max(if_fast[t + 1], if_slow[t + 1] - evict) if fits[t] else -np.inf
        if_slow[t] = max(if_slow[t + 1], if_fast[t + 1] - fetch)
    times = np.empty(windows, np.bool_)
    now = resident
    for t in range(windows):
        now = if_fast[t] >= if_slow[t] - evict if now else if_fast[t] - fetch > if_slow[t]
        times[t] = now
    return times


@njit(cache=True, nogil=True)
def _with_others_out(
    cost: Floats,
    sizes: Floats,
    fetch: Floats,
    evict: Floats,
    capacity: float,
    resident: Bools,
    schedule: Bools,
    least: float,
) -> Bools:
    """Each object in turn comes in where it saves more than those that must leave for it, if that is better for all."""
    windows, objects = cost.shape
    best = schedule
    for _ in range(2):
        improved = False
        for o in range(objects):
            if sizes[o] > capacity:
                continue
            saved, fits = np.empty(windows), np.ones(windows, np.bool_)
            for t in range(windows):
                saved[t] = cost[t, o] - (
                    0.0 if best[t, o] else _make_room(cost, sizes, fetch, evict, capacity, best[t], t, o)[1]
                )
            times = _best_times(saved, fits, fetch[o], evict[o], resident[o])
            if (times == best[:, o]).all():
                continue
            other = best.copy()
            for t in range(windows):
                if times[t] and not best[t, o]:
                    other[t] = _make_room(cost, sizes, fetch, evict, capacity, best[t], t, o)[0]
                other[t, o] = times[t]
            other = _polished(cost, sizes, fetch, evict, capacity, resident, other)
            seconds = spent(cost, fetch, evict, resident, other)
            if seconds < least - 1e-12:
                best, least, improved = other, seconds, True
        if not improved:
            break
    return best


@njit(cache=True, nogil=True)
def _make_room(
    cost: Floats, sizes: Floats, fetch: Floats, evict: Floats, capacity: float, fast: Bools, t: int, wanted: int
) -> tuple[Bools, float]:
    """Who is still fast in window t when those have left that lose least per byte, and what they lose together."""
    left = fast.copy()
    lost, room = 0.0, capacity - sizes[left].sum()
    while room < sizes[wanted]:
        who, least = -1, np.inf
        for o in range(len(left)):
            if left[o]:
                loses = (cost[t, o] + COMES_BACK * (fetch[o] + evict[o])) / max(sizes[o], 1.0)
                if loses < least:
                    who, least = o, loses
        left[who] = False
        lost += least * max(sizes[who], 1.0)
        room += sizes[who]
    return left, lost
