"""Main memory, whole and by NUMA node."""

from __future__ import annotations

import ctypes
import platform
from pathlib import Path

import pytest

from argosy.errors import NoTier, TierFull
from argosy.memory import Numa, Ram
from argosy.memory.tiers.numa import NODES, fill, nodes
from argosy.memory.tiers.ram import RamBlock
from argosy.memory.tiers.tier import Room

_MOVE_PAGES = {"x86_64": 279, "aarch64": 239}
has_nodes = pytest.mark.skipif(
    not (NODES / "has_memory").exists() or platform.machine() not in _MOVE_PAGES, reason="no NUMA nodes to bind to"
)


def test_more_than_the_machine_has_is_refused_and_not_promised() -> None:
    with pytest.raises(TierFull, match="tier 'ram' is full"):
        Ram().hold(1 << 50)


def test_a_capacity_counts_what_is_held() -> None:
    ram = Ram(capacity="1MiB")
    block = ram.hold(1 << 20)
    with pytest.raises(TierFull, match="0 B are free"):
        ram.hold(1)
    block.free()
    ram.hold(1 << 20).free()


def test_a_block_keeps_its_bytes_when_it_rests() -> None:
    block = Ram().hold(100)
    block.open()[:] = 3
    block.rest(written=True)
    assert int(block.open().sum()) == 300


def node_of(block: RamBlock) -> int:
    """Where the system says that the block's first page is."""
    libc = ctypes.CDLL(None, use_errno=True)
    pages = (ctypes.c_void_p * 1)(block.open().ctypes.data)
    status = (ctypes.c_int * 1)(-1)
    number = ctypes.c_long(_MOVE_PAGES[platform.machine()])
    asked = libc.syscall(number, ctypes.c_int(0), ctypes.c_ulong(1), pages, None, status, ctypes.c_int(0))
    assert asked == 0
    return int(status[0])


@has_nodes
def test_pages_lie_on_the_node_that_was_asked_for() -> None:
    for node in nodes():
        block = Numa(node).hold(1 << 20)
        block.open()[:] = 1
        assert node_of(block) == node
        block.free()


@has_nodes
def test_a_node_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(NoTier, match=rf"no NUMA node 999; there are: {nodes()[0]}"):
        Numa(999).check()


@has_nodes
def test_more_than_a_node_has_is_refused() -> None:
    with pytest.raises(TierFull, match=f"tier 'numa:{nodes()[0]}' is full"):
        Numa(nodes()[0]).hold(1 << 50)


@has_nodes
def test_a_node_to_which_nothing_can_be_bound_is_named() -> None:
    with pytest.raises(NoTier, match="memory cannot be bound to NUMA node 62"):
        fill(RamBlock(1 << 20, Room("numa:62", None)), 62)


@has_nodes
def test_pages_that_are_there_stay_bound_to_their_node() -> None:
    block = RamBlock(1 << 20, Room("numa", None))
    fill(block, nodes()[0])
    assert policy_of(block) == (2, nodes()[0])  # MPOL_BIND


def policy_of(block: RamBlock) -> tuple[int, int]:
    """The policy of the block's pages, and its lowest node."""
    address = block.open().ctypes.data
    for line in Path("/proc/self/numa_maps").read_text().splitlines():
        begin, policy, *_ = line.split()
        if int(begin, 16) == address:
            kind, _, where = policy.partition(":")
            return {"bind": 2, "prefer": 1}.get(kind, 0), int(where.split("-")[0].split(",")[0] or 0)
    raise AssertionError("the block's pages are not among those of this process")
