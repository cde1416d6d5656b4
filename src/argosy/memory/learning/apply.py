"""A policy at work: objects of a real store move before each window."""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from argosy import arguments
from argosy.errors import PlacementError
from argosy.memory.costs import Costs
from argosy.memory.moves import Moves
from argosy.memory.placement import Slow
from argosy.memory.planning.policy import Observation, Policy
from argosy.memory.planning.simulate import marginal
from argosy.memory.store import Store
from argosy.memory.trace import Window


@contextmanager
def follow(store: Store, policy: Policy, capacity: int, *, moves: Moves, costs: Costs | None = None) -> Iterator[None]:
    """While this is open, the policy decides before each window of the store, and the store moves the objects.

    What being slow costs comes from `costs` (of an estimator). For a window that they do not know, or without them, it
    is taken to be what moving the bytes that were touched would take. Objects must neither come nor go meanwhile.
    """
    arguments.instance("store", store, Store, "an argosy.memory.Store")
    arguments.instance("moves", moves, Moves, "an argosy.memory.moves.Moves")
    capacity = arguments.whole("capacity", capacity, least=0, most=2**63 - 1)
    if costs is not None:
        arguments.instance("costs", costs, Costs, "the costs of an estimator")
    if store.before_window is not None or store.on_window_end is not None:
        raise PlacementError("somebody else already acts between this store's windows; a store has one policy")
    follower = _Follower(store, policy, capacity, moves, costs)
    store.before_window, store.on_window_end = follower.decide, follower.note
    try:
        yield
    finally:
        store.before_window = store.on_window_end = None


class _Follower:
    def __init__(self, store: Store, policy: Policy, capacity: int, moves: Moves, costs: Costs | None) -> None:
        self._store = store
        self._policy = policy
        self._capacity = capacity
        self._moves = moves
        self._costs = None if costs is None else costs.per_occurrence()
        self._names = list(store.sizes) if costs is None else list(costs.objects)
        self._sizes = np.array([store.sizes[name] for name in self._names], dtype=np.int64)
        self._row: dict[str, int] = {}
        if self._costs is not None:
            self._row = {name: at for at, name in enumerate(self._costs.windows)}
        self._step = 0
        self._ended = ""
        self._cost = np.zeros(len(self._names))

    def note(self, window: Window) -> None:
        """It has ended."""
        self._step += 1
        self._ended, self._cost = window.name, self._recent(window, self._resident())

    def decide(self, next_name: str) -> None:
        """A window of this name is about to begin."""
        fast, resident = self._store.fast.name, self._resident()
        seen = Observation(
            step=self._step,
            window_name=self._ended,
            sizes=self._sizes,
            resident=resident,
            recent=self._cost,
            capacity=self._capacity,
            moves=self._moves,
            next_name=next_name,
        )
        wanted = self._policy.decide(seen)
        self._store.place(
            {
                name: fast if at in wanted else self._store.slow.name
                for at, name in enumerate(self._names)
                if resident[at] != (at in wanted)
            }
        )

    def _resident(self) -> NDArray[np.bool_]:
        placement, fast = self._store.placement, self._store.fast.name
        return np.array([placement[name] == fast for name in self._names], dtype=np.bool_)

    def _recent(self, window: Window, resident: NDArray[np.bool_]) -> NDArray[np.float64]:
        if self._costs is not None and window.name in self._row:
            return marginal(self._costs, self._row[window.name], ~resident)
        touched = {touch.object: touch for touch in window.touches}
        return np.array(
            [
                self._moves.seconds(touched[name].bytes_read, touched[name].bytes_written) if name in touched else 0.0
                for name in self._names
            ]
        )


class Scheduled:
    """A schedule that was made beforehand, as a policy: row t is where the objects are in window t."""

    def __init__(self, rows: Slow) -> None:
        self._rows = rows

    def decide(self, observation: Observation) -> Set[int]:
        row = self._rows[min(observation.step, len(self._rows) - 1)]
        return {int(o) for o in np.flatnonzero(~row)}
