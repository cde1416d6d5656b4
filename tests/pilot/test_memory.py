"""What a rank may have of the memory that the user gave the pilot."""

from __future__ import annotations

from pathlib import Path

import pytest

import argosy
from argosy.pilot.worker.context import current


def memory_here() -> int | None:
    return current().memory_per_rank


@pytest.mark.parametrize(("memory", "share"), [("3MiB", 2**20), (1000, 333)])
def test_the_ranks_of_a_node_share_its_memory_alike(memory: str | int, share: int, tmp_path: Path) -> None:
    with argosy.Pilot(ranks=3, memory=memory, folder=tmp_path) as pilot:
        assert pilot.memory_per_rank == share
        assert pilot.submit(memory_here, ranks=3).results() == [share] * 3


def test_without_a_promise_there_is_no_share(pilot: argosy.Pilot) -> None:
    assert pilot.memory_per_rank is None
    assert pilot.submit(memory_here).result() is None
