"""A plan at work: objects go where it says, and move when it says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from argosy import arguments
from argosy.errors import PlacementError
from argosy.memory.planning.plan import Plan
from argosy.memory.store import Store
from argosy.memory.trace import Window


@contextmanager
def apply(store: Store, plan: Plan) -> Iterator[None]:
    """Places the objects, and while this is open follows the plan's schedule, if it has one, at the ends of windows.

    Windows are counted from here on, so one run goes inside. Objects stay where the end finds them. Raises
    `PlacementError` where somebody else already acts at the ends of the store's windows.
    """
    arguments.instance("store", store, Store, "an argosy.memory.Store")
    arguments.instance("plan", plan, Plan, "an argosy.memory.Plan")
    if store.on_window_end is not None:
        raise PlacementError("somebody else already acts at the end of this store's windows; a store has one plan")
    store.place(plan.placement)
    changes = dict(plan.schedule or ())
    following = count(1)

    def move(_ended: Window) -> None:
        store.place(changes.get(next(following), {}))

    store.on_window_end = move
    try:
        yield
    finally:
        store.on_window_end = None
