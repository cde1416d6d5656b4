"""How much slower a column is read from disk than from RAM, and what moving it costs: measured, once in a process."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np

from argosy.memory.moves import Moves, measure_moves
from argosy.memory.store import Store
from argosy.memory.tiers.disk import Disk
from argosy.memory.tiers.ram import Ram

_PROBE_NBYTES = 8 << 20
_REPEATS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Speeds:
    extra_seconds_per_byte: float
    """Of reading a column from disk, beyond reading it from RAM."""
    moves: Moves


def measure(disk: Disk) -> Speeds:
    """Medians of a few windows that read one array in either tier. Takes some tenths of a second and 16 MiB."""
    with Store(fast=Ram(), slow=disk, program="argosy.frame.keep") as store:
        store.put("probe", np.ones(_PROBE_NBYTES // 8))
        seconds: dict[str, list[float]] = {store.fast.name: [], store.slow.name: []}
        for _ in range(_REPEATS):
            for tier, measured in seconds.items():
                store.place({"probe": tier})
                with store.window(tier):
                    store["probe"].sum()
                measured.append(store.trace().windows[-1].seconds)
        fast, slow = (statistics.median(measured) / _PROBE_NBYTES for measured in seconds.values())
        moves = measure_moves(store, _PROBE_NBYTES, _REPEATS)
    return Speeds(extra_seconds_per_byte=max(slow - fast, 0.0), moves=moves)
