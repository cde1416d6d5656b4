"""How much slower a column is read from disk than from RAM, and what moving it costs: measured, once in a process."""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median

import numpy as np

from argosy.memory.moves import Moves
from argosy.memory.store import Store
from argosy.memory.tiers.disk import Disk
from argosy.memory.tiers.ram import Ram

_PROBE_NBYTES = 8 << 20
_REPEATS = 5
_ENOUGH_SECONDS = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Speeds:
    extra_seconds_per_byte: float
    """Of reading a column from disk, beyond reading it from RAM."""
    moves: Moves


def measure(disk: Disk) -> Speeds:
    """Medians over an array that is read in a window in either tier, and moved in between. Takes 16 MiB, and a tenth of
    a second; on a busy disk it is content with fewer repeats."""
    reads: dict[str, list[float]] = {"ram": [], "disk": []}
    moves: dict[str, list[float]] = {"ram": [], "disk": []}
    began = time.perf_counter()
    with Store(fast=Ram(), slow=disk, program="argosy.frame.keep") as store:
        store.put("probe", np.ones(_PROBE_NBYTES // 8), tier="disk")
        while len(moves["ram"]) < _REPEATS and (not moves["ram"] or time.perf_counter() - began < _ENOUGH_SECONDS):
            for tier in ("ram", "disk"):
                before = time.perf_counter()
                store.place({"probe": tier})
                moves[tier].append(time.perf_counter() - before)
                with store.window(tier):
                    store["probe"].sum()
                reads[tier].append(store.trace().windows[-1].seconds)
    return Speeds(
        extra_seconds_per_byte=max(median(reads["disk"]) - median(reads["ram"]), 0.0) / _PROBE_NBYTES,
        moves=Moves(
            fetch_seconds_per_byte=median(moves["ram"]) / _PROBE_NBYTES,
            evict_seconds_per_byte=median(moves["disk"]) / _PROBE_NBYTES,
        ),
    )
