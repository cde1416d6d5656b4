"""What somebody who persists a frame asks for: which tier, and how much of it may lie in RAM."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from argosy import arguments
from argosy.units import parse_nbytes

if TYPE_CHECKING:
    from argosy.pilot.pilot import Pilot

TierName: TypeAlias = Literal["auto", "ram", "disk"]
TIERS = ("auto", "ram", "disk")

_PERSISTED_PART = 2
"""Persisted columns may take one part in so many of what a rank was promised; operations have the rest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    tier: TierName = "ram"
    nbytes: int | None = None
    """What may lie in RAM on each rank, where the tier is "auto"; None: as much as there is."""
    alone: bool = False
    """Those bytes are for this frame, and not for all that are persisted on the rank."""


IN_RAM = Asked()


def asked_for(tier: TierName | None, memory: str | int | None, pilot: Pilot | None) -> Asked:
    """`memory` is what this frame may take on each node. Unless given, persisted frames share half of the pilot's
    memory, or, where there is no pilot, `$ARGOSY_MEMORY`; and where there is such a limit, "auto" is the tier."""
    if tier is not None:
        arguments.one_of("tier", tier, TIERS)
    if memory is not None and tier in ("ram", "disk"):
        raise ValueError(f"memory= says how much tier 'auto' may keep in RAM, and does not go with tier {tier!r}")
    if memory is not None:
        nbytes = parse_nbytes(memory, "memory")
        ranks = 1 if pilot is None else max(node.ranks for node in pilot.allocation.nodes)
        return Asked(tier="auto", nbytes=nbytes // ranks, alone=True)
    limit = _shared_limit(pilot) if tier in (None, "auto") else None
    if tier is None:
        tier = "ram" if limit is None else "auto"
    return Asked(tier=tier, nbytes=limit)


def _shared_limit(pilot: Pilot | None) -> int | None:
    if pilot is not None:
        return None if pilot.memory_per_rank is None else pilot.memory_per_rank // _PERSISTED_PART
    said = os.environ.get("ARGOSY_MEMORY")
    return parse_nbytes(said, "ARGOSY_MEMORY") if said else None
