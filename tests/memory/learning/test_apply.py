"""A policy at work in a real store, between memory and disk."""

from __future__ import annotations

from collections.abc import Set
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from argosy.errors import PlacementError
from argosy.memory.costs import Costs
from argosy.memory.learning import follow, learned_policy
from argosy.memory.learning.apply import Scheduled
from argosy.memory.learning.phased import phased
from argosy.memory.moves import Moves
from argosy.memory.planning.policy import Observation
from argosy.memory.store import Store
from argosy.memory.tiers.disk import Disk
from argosy.memory.workload import Workload

MOVES = Moves(fetch_seconds_per_byte=1e-9, evict_seconds_per_byte=1e-9)


def small(tmp_path: Path) -> tuple[Workload, Store]:
    workload = phased("nested_loops", 1, windows=16, objects=8, nbytes=1 << 20)
    store = workload.store(slow=Disk(tmp_path))
    store.place(dict.fromkeys(store.sizes, "disk"))
    return workload, store


class Noted:
    def __init__(self) -> None:
        self.seen: list[Observation] = []

    def decide(self, observation: Observation) -> Set[int]:
        self.seen.append(observation)
        return {0} if observation.step % 2 == 0 else {1}


def test_a_schedule_is_followed_window_by_window(tmp_path: Path) -> None:
    workload, store = small(tmp_path)
    rows = np.random.default_rng(0).random((16, 8)) < 0.5
    with closing(store):
        with follow(store, Scheduled(rows), 1 << 20, moves=MOVES):
            workload.run(store)
        for row, window in zip(rows, store.trace().windows, strict=True):
            for touch in window.touches:
                assert touch.tier == ("disk" if row[int(touch.object.split()[1])] else "ram")
        assert store.before_window is None
        assert store.on_window_end is None


def test_the_result_of_the_program_does_not_depend_on_who_moves_its_objects(tmp_path: Path) -> None:
    workload, store = small(tmp_path)
    with closing(workload.store(slow=Disk(tmp_path))) as plain:
        wanted = workload.run(plain)
    with closing(store), follow(store, learned_policy(), 1 << 19, moves=MOVES):
        assert workload.run(store) == wanted


def test_the_fast_tier_never_holds_more_than_the_capacity(tmp_path: Path) -> None:
    workload, store = small(tmp_path)
    capacity = (1 << 20) // 3
    with closing(store):
        policy = learned_policy()
        held = []

        class Watched:
            def decide(self, observation: Observation) -> Set[int]:
                held.append(int(observation.sizes[observation.resident].sum()))
                return policy.decide(observation)

        with follow(store, Watched(), capacity, moves=MOVES):
            workload.run(store)
        assert len(held) == 16
        assert 0 < max(held) <= capacity


def test_what_being_slow_costs_comes_from_the_costs_or_else_from_the_bytes(tmp_path: Path) -> None:
    costs = Costs(
        objects=("b", "a"),
        sizes=(800, 400),
        windows=("known",),
        order=(0, 0),
        floor=np.full(1, -np.inf),
        base=np.ones(1),
        slow=np.array([[6.0, 2.0]]),
    )
    with closing(Store(slow=Disk(tmp_path))) as store:
        store.put("a", np.zeros(50), tier="disk")
        store.put("b", np.zeros(100), tier="disk")
        policy = Noted()
        with follow(store, policy, 900, moves=MOVES, costs=costs):
            for name in ("known", "unknown", "known"):
                with store.window(name):
                    _ = store["a"]
        first, second, third = policy.seen
        assert first.recent.tolist() == [0.0, 0.0]
        assert second.recent == pytest.approx([3.0, 1.0])
        assert third.recent == pytest.approx([0.0, 400e-9])
        assert [seen.window_name for seen in policy.seen] == ["", "known", "unknown"]
        assert [seen.next_name for seen in policy.seen] == ["known", "unknown", "known"]
        assert [seen.resident.tolist() for seen in policy.seen] == [[False, False], [True, False], [False, True]]
        assert store.placement == {"a": "disk", "b": "ram"}


def test_a_store_has_one_policy(tmp_path: Path) -> None:
    _, store = small(tmp_path)
    with (
        closing(store),
        follow(store, Noted(), 10, moves=MOVES),
        pytest.raises(PlacementError, match="a store has one policy"),
        follow(store, Noted(), 10, moves=MOVES),
    ):
        pass


def test_windows_that_do_the_same_have_one_name(tmp_path: Path) -> None:
    workload, store = small(tmp_path)
    with closing(store):
        workload.run(store)
        kinds = {}
        for window in store.trace().windows:
            touched = tuple((t.object, t.bytes_read, t.bytes_written) for t in window.touches)
            assert kinds.setdefault(window.name, touched) == touched
        assert len(kinds) < 16
