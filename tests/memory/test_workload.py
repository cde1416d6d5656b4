"""What can be run again and again: where its objects lie from the start, and how many of them are made at once."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from argosy.errors import TierFull, UnknownObject
from argosy.memory import Disk, Ram, Store, Workload
from argosy.memory.tiers.tier import Tier
from argosy.memory.values import Value

HALF = 1 << 19


def three() -> dict[str, Value]:
    return {name: np.full(HALF, number, np.int8) for number, name in enumerate("abc")}


def sums(store: Store) -> list[int]:
    with store.window("sums"):
        return [int(store[name].sum()) for name in store]


WANTED = [0, HALF, 2 * HALF]


def workload(objects: Callable[[], dict[str, Value]] = three) -> Workload:
    return Workload(name="three halves", objects=objects, run=sums)


def small(folder: Path) -> tuple[Tier, Tier]:
    return Ram(capacity=HALF), Disk(folder)


def test_objects_lie_where_the_placement_has_them_from_the_start(tmp_path: Path) -> None:
    fast, slow = small(tmp_path)
    placement = {"a": "disk", "b": "ram", "c": "disk"}
    with workload().store(fast=fast, slow=slow, placement=placement) as store:
        assert store.placement == placement
        assert sums(store) == WANTED


def test_what_a_placement_does_not_name_is_fast(tmp_path: Path) -> None:
    with workload().store(slow=Disk(tmp_path), placement={"b": "disk"}) as store:
        assert store.placement == {"a": "ram", "b": "disk", "c": "ram"}


def test_without_a_placement_all_must_fit_into_the_fast_tier(tmp_path: Path) -> None:
    fast, slow = small(tmp_path)
    with pytest.raises(TierFull, match="tier 'ram' is full"):
        workload().store(fast=fast, slow=slow)


def test_a_placement_of_another_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownObject, match="no object 'd'"):
        workload().store(slow=Disk(tmp_path), placement={"d": "disk"})


def test_values_that_are_made_by_functions_are_made_one_at_a_time(tmp_path: Path) -> None:
    alive: list[weakref.ref[np.ndarray]] = []
    most = 0

    def made(number: int) -> Callable[[], Value]:
        def make() -> Value:
            nonlocal most
            value = np.full(HALF, number, np.int8)
            alive.append(weakref.ref(value))
            most = max(most, sum(one() is not None for one in alive))
            return value

        return make

    fast, slow = small(tmp_path)
    objects = {name: made(number) for number, name in enumerate("abc")}
    placement = dict.fromkeys(objects, "disk")
    with workload(lambda: objects).store(fast=fast, slow=slow, placement=placement) as store:
        assert sums(store) == WANTED
    assert most == 1
