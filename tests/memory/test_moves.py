from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from argosy.memory.moves import Moves, measure_moves
from argosy.memory.store import Store
from argosy.memory.tiers.disk import Disk
from argosy.memory.tiers.ram import Ram


def test_a_move_costs_by_its_bytes_in_each_direction() -> None:
    moves = Moves(fetch_seconds_per_byte=2.0, evict_seconds_per_byte=3.0)
    assert moves.seconds(10, 1) == 23.0


@pytest.mark.parametrize("rate", [-1.0, float("nan")])
def test_a_move_cannot_take_less_than_no_time(rate: float) -> None:
    with pytest.raises(ValueError, match=f"evict_seconds_per_byte must be a number of at least 0, not {rate}"):
        Moves(fetch_seconds_per_byte=0.0, evict_seconds_per_byte=rate)
    with pytest.raises(ValueError, match=f"fetch_seconds_per_byte must be a number of at least 0, not {rate}"):
        Moves(fetch_seconds_per_byte=rate, evict_seconds_per_byte=0.0)


def test_measuring_moves_times_real_ones_and_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    with Store(fast=Ram(), slow=Disk(tmp_path)) as store:
        store.put("x", np.arange(10.0), tier="ram")
        moves = measure_moves(store, nbytes=1 << 16, repeats=2)
        assert moves.fetch_seconds_per_byte > 0
        assert moves.evict_seconds_per_byte > 0
        assert store.placement == {"x": "ram"}
        assert store.sizes == {"x": 80}
