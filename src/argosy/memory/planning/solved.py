"""What a solver found."""

from __future__ import annotations

from dataclasses import dataclass

from argosy.memory.placement import Slow


@dataclass(frozen=True, kw_only=True, slots=True)
class Solved:
    """One placement for the whole run, or one for each occurrence of a window in time."""

    rows: Slow
    """[1, objects] or [occurrences, objects]."""
    bound: float | None = None
    """Seconds that no other choice of this kind can beat, where the solver knows."""
    notes: tuple[str, ...] = ()
