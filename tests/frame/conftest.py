"""What the tests of frames share."""

from __future__ import annotations

import weakref

import pytest

from argosy.frame.keep.pool import pool
from argosy.frame.keep.speeds import Speeds
from argosy.memory.moves import Moves


@pytest.fixture
def _pool_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """No frame of another test counts towards a limit, and the same moves pay in every run."""
    moves = Moves(fetch_seconds_per_byte=2e-9, evict_seconds_per_byte=2e-9)
    monkeypatch.setattr(pool, "_speeds", Speeds(extra_seconds_per_byte=1e-9, moves=moves))
    monkeypatch.setattr(pool, "_frames", weakref.WeakSet())
    monkeypatch.setattr(pool, "_tables", [])
