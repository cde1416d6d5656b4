from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.comm.threads import on_threads
from argosy.comm.two_level import Groups, TwoLevel, choose_groups


def bytes_for(source: int, to: int, seed: int) -> np.ndarray[Any, Any]:
    """What one rank sends to another, which both can work out."""
    generator = np.random.default_rng([source, to, seed])
    return generator.integers(0, 256, generator.integers(0, 20), dtype=np.uint8)


class Counted:
    """Ranks that count to how many others they send."""

    def __init__(self, below: Any) -> None:
        self.below, self.rank, self.size = below, below.rank, below.size
        self.most = 0

    def allgather(self, value: Any) -> list[Any]:
        return self.below.allgather(value)

    def start_exchange(self, send: Any, send_at: Any, receive: Any, receive_at: Any) -> Any:
        others = np.diff(send_at) > 0
        others[self.rank] = False
        self.most = max(self.most, int(others.sum()))
        return self.below.start_exchange(send, send_at, receive, receive_at)


def exchange(ranks: Any, groups: Groups, seed: int) -> int:
    counted = Counted(ranks)
    staged = TwoLevel(counted, groups)
    me, size = ranks.rank, ranks.size
    parts = [bytes_for(me, to, seed) for to in range(size)]
    wanted = [bytes_for(source, me, seed) for source in range(size)]
    send_at = np.append(0, np.cumsum([len(part) for part in parts]))
    receive_at = np.append(0, np.cumsum([len(part) for part in wanted]))
    receive = np.full(int(receive_at[-1]), 7, np.uint8)
    under_way = staged.start_exchange(np.concatenate(parts), send_at, receive, receive_at)
    under_way.wait()
    for source in range(size):
        if source != me:
            assert (receive[receive_at[source] : receive_at[source + 1]] == wanted[source]).all()
    return counted.most


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 13), st.integers(0, 1000), st.data())
def test_every_byte_arrives_through_any_groups(size: int, seed: int, data: st.DataObject) -> None:
    cuts = data.draw(st.sets(st.integers(1, size - 1))) if size > 1 else set()
    on_threads(size, exchange, Groups((0, *sorted(cuts), size)), seed)


def test_a_rank_sends_to_about_twice_the_root_of_all_ranks() -> None:
    most = on_threads(36, exchange, choose_groups([""] * 36), 0)
    assert max(most) <= 6


@pytest.mark.parametrize("size", [1, 2, 3, 10, 64, 1000])
def test_groups_hold_every_rank_once(size: int) -> None:
    groups = choose_groups([""] * size)
    assert [rank for group in range(groups.num_groups) for rank in groups.members(group)] == list(range(size))
    assert max(len(groups.members(group)) for group in range(groups.num_groups)) <= int(size**0.5) + 1


def test_ranks_of_one_node_are_one_group() -> None:
    assert choose_groups(["a", "a", "b", "b", "c", "c"]).first == (0, 2, 4, 6)
    assert choose_groups(["a", "b", "a", "b", "a", "b", "a", "b", "a"]).first == (0, 3, 6, 9)
