"""Staging, with copies between two tensors of the host: everything but the device's streams."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.errors import TierFull
from argosy.memory.tiers.cuda.lane import Copy
from argosy.memory.tiers.cuda.staged import StagedBlock, Staging

torch = pytest.importorskip("torch")


class HostLane:
    """Copies at once, and counts."""

    def __init__(self, nbytes_free: int = 1 << 30) -> None:
        self.fetched: list[int] = []
        self.given_back = 0
        self.nbytes_free = nbytes_free

    def room(self, nbytes: int) -> Copy:
        if nbytes > self.nbytes_free:
            raise TierFull("no room")
        return Copy(tensor=torch.empty(nbytes, dtype=torch.uint8), arrived=None)

    def fetch(self, home: torch.Tensor) -> Copy:
        copy = self.room(home.numel())
        copy.tensor.copy_(home)
        self.fetched.append(home.data_ptr())
        return copy

    def use(self, copy: Copy) -> torch.Tensor:
        return copy.tensor

    def give_back(self, tensor: torch.Tensor, home: torch.Tensor) -> None:
        self.given_back += 1
        home.copy_(tensor)


def filled(
    staging: Staging, value: int, *, nbytes: int = 16, release: Callable[[int], None] = lambda _: None
) -> StagedBlock:
    block = StagedBlock(torch.empty(nbytes, dtype=torch.uint8), staging, release=release)
    block.open().fill_(value)
    block.rest(written=True)
    return block


def test_a_new_object_is_not_fetched_before_it_has_bytes() -> None:
    lane = HostLane()
    block = filled(Staging(lane), 7)
    assert lane.fetched == []
    assert block.open().tolist() == [7] * 16
    assert len(lane.fetched) == 1


def test_only_what_was_written_is_copied_back() -> None:
    lane = HostLane()
    block = filled(Staging(lane), 7)
    assert lane.given_back == 1
    block.open().sum()
    block.rest(written=False)
    assert lane.given_back == 1
    block.open().view(torch.int32).add_(1)
    block.rest(written=False)
    assert lane.given_back == 2, "a write that nobody declared is kept all the same"
    assert block.open()[0] == 8


def go_through(*blocks: StagedBlock) -> None:
    for block in blocks:
        block.open()
        block.rest(written=False)


def test_the_object_that_came_next_is_copied_ahead() -> None:
    lane = HostLane()
    staging = Staging(lane)
    a, b, c = (filled(staging, value) for value in range(3))
    go_through(a, b, c, a, b, c)
    fetched = len(lane.fetched)
    assert a.staged, "after the last one the first one comes again"
    a.open()
    assert b.staged
    assert not c.staged, "one ahead and no more"
    b.open()
    assert c.staged
    c.open()
    assert len(lane.fetched) == fetched + 2, "an object that was copied ahead is not fetched again"


def test_what_came_before_tells_which_of_two_objects_comes_next() -> None:
    lane = HostLane()
    staging = Staging(lane)
    a, b, c = (filled(staging, value) for value in range(3))
    go_through(a, b, a, c, a, b, a, c)
    fetched = len(lane.fetched)
    go_through(a, b, a, c, a, b, a, c)
    assert len(lane.fetched) == fetched + 8, "no copy was made in vain"
    a.open()
    assert b.staged
    assert not c.staged


def test_nothing_is_copied_ahead_when_that_is_turned_off() -> None:
    staging = Staging(HostLane(), prefetch=False)
    a, b = (filled(staging, value) for value in range(2))
    go_through(a, b, a, b, a)
    assert not b.staged


def test_a_device_without_room_is_no_reason_to_fail_before_the_object_is_needed() -> None:
    lane = HostLane()
    staging = Staging(lane)
    a, b, c = filled(staging, 0), filled(staging, 1, nbytes=32), filled(staging, 2)
    go_through(c, a, b, c)
    lane.nbytes_free = 16
    assert a.open().tolist() == [0] * 16
    assert not b.staged
    with pytest.raises(TierFull):
        b.open()


def test_a_copy_that_was_made_ahead_in_vain_is_dropped() -> None:
    staging = Staging(HostLane())
    a, b, c = (filled(staging, value) for value in range(3))
    go_through(a, b, c, a, b, c)
    a.open()
    assert b.staged
    c.open()
    assert not b.staged
    assert b.open().tolist() == [1] * 16


def test_an_object_that_was_freed_is_not_copied_ahead() -> None:
    released: list[int] = []
    staging = Staging(HostLane())
    a, b = filled(staging, 0), filled(staging, 1, release=released.append)
    go_through(a, b, a, b)
    b.free()
    assert released == [16]
    assert a.open().tolist() == [0] * 16
    assert not b.staged


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["read", "write", "free"])), max_size=30))
def test_every_block_holds_what_was_last_written_to_it(steps: list[tuple[int, str]]) -> None:
    staging = Staging(HostLane())
    blocks = [filled(staging, i) for i in range(4)]
    expected = [0, 1, 2, 3]
    for number, (i, what) in enumerate(steps):
        if what == "free":
            blocks[i].free()
            blocks[i] = filled(staging, expected[i])
            continue
        tensor = blocks[i].open()
        assert tensor.tolist() == [expected[i]] * 16
        if what == "write":
            expected[i] = number + 10
            tensor.fill_(expected[i])
        blocks[i].rest(written=what == "write")
