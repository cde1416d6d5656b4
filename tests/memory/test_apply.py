"""A plan at work in a real store."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from argosy.errors import PlacementError
from argosy.memory import Disk, Plan, Store, apply


def planned(schedule: tuple[tuple[int, dict[str, str]], ...] | None) -> Plan:
    return Plan(
        placement={"a": "ram", "b": "disk"},
        seconds=1.0,
        solver="by hand",
        capacity=80,
        nbytes_fast=80,
        sizes={"a": 80, "b": 80},
        schedule=schedule,
    )


def where(store: Store, plan: Plan, windows: int = 4) -> list[str]:
    """The tier of `a` in each window."""
    seen = []
    with apply(store, plan):
        for _ in range(windows):
            with store.window("w"):
                assert store["a"].sum() == 10
            seen.append(next(touch.tier for touch in store.trace().windows[-1].touches))
    return seen


def test_objects_move_before_the_windows_that_a_schedule_names(tmp_path: Path) -> None:
    with Store(slow=Disk(tmp_path)) as store:
        for name in "ab":
            store.put(name, np.ones(10), tier="disk")
        swap = {"a": "disk", "b": "ram"}
        plan = planned(((1, swap), (3, {"a": "ram", "b": "disk"})))
        assert where(store, plan) == ["ram", "disk", "disk", "ram"]
        assert where(store, planned(None)) == ["ram"] * 4
        assert store.placement == {"a": "ram", "b": "disk"}


def test_a_store_follows_one_plan_at_a_time_and_is_free_afterwards(tmp_path: Path) -> None:
    with Store(slow=Disk(tmp_path)) as store:
        for name in "ab":
            store.put(name, np.ones(10))
        with apply(store, planned(None)), pytest.raises(PlacementError, match="one plan"), apply(store, planned(None)):
            pass
        assert store.on_window_end is None
