"""Who comes in and who leaves."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.memory.learning.swaps import Terms, settle, settle_all, swaps

LISTS = st.lists(st.tuples(st.floats(-2, 9), st.integers(1, 9), st.booleans()), min_size=1, max_size=8)


def made(rows: list[tuple[float, int, bool]], capacity: int) -> tuple[np.ndarray, np.ndarray, Terms]:
    worth = np.array([row[0] for row in rows])
    sizes = np.array([float(row[1]) for row in rows])
    fast, room = np.zeros(len(rows), dtype=np.bool_), float(capacity)
    for at, row in enumerate(rows):
        if row[2] and sizes[at] <= room:
            fast[at], room = True, room - sizes[at]
    return worth, fast, Terms(sizes=sizes, fetch=0.3 * sizes, evict=0.2 * sizes, capacity=float(capacity))


@given(LISTS, st.integers(0, 30))
@settings(max_examples=60, deadline=None)
def test_what_is_settled_fits_and_gains_what_the_swaps_promised(rows: list[tuple[float, int, bool]], room: int) -> None:
    worth, fast, terms = made(rows, room)
    then = settle(worth, fast, terms)
    assert terms.sizes[then].sum() <= room

    def value(placed: np.ndarray) -> float:
        moved = terms.fetch[placed & ~fast].sum() + terms.evict[fast & ~placed].sum()
        return float(worth[placed].sum() - moved)

    assert value(then) >= value(fast) - 1e-9
    options = swaps(worth, fast, terms)
    for at in np.flatnonzero(np.isfinite(options.gain)):
        swapped = fast.copy()
        swapped[options.leaving(int(at))] = False
        swapped[at] = True
        assert terms.sizes[swapped].sum() <= room
        assert abs(value(swapped) - value(fast) - options.gain[at]) < 1e-9


@given(st.lists(LISTS, min_size=1, max_size=4), st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_many_runs_at_once_settle_like_each_alone(runs: list[list[tuple[float, int, bool]]], room: int) -> None:
    for rows in runs:
        worth, fast, terms = made(rows, room)
        both = [np.stack([a, a]) for a in (worth, fast, terms.sizes, terms.fetch, terms.evict)]
        assert (settle_all(*both, terms.capacity) == settle(worth, fast, terms)).all()


def test_the_least_worth_per_byte_leaves_and_only_as_many_as_needed() -> None:
    worth = np.array([5.0, 1.0, 4.0, 9.0])
    terms = Terms(sizes=np.full(4, 10.0), fetch=np.full(4, 0.1), evict=np.full(4, 0.1), capacity=30.0)
    then = settle(worth, np.array([True, True, True, False]), terms)
    assert then.tolist() == [True, False, True, True]


def test_a_swap_that_only_pays_its_moves_is_left() -> None:
    terms = Terms(sizes=np.full(2, 10.0), fetch=np.full(2, 0.6), evict=np.full(2, 0.5), capacity=10.0)
    fast = np.array([True, False])
    assert settle(np.array([1.0, 2.0]), fast, terms).tolist() == [True, False]
    assert settle(np.array([1.0, 2.2]), fast, terms).tolist() == [False, True]
