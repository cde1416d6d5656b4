"""What is worth a thread: decided from measured times."""

from __future__ import annotations

from dataclasses import dataclass

IN_PLACE_SECONDS = 40e-6
"""Handing an expression to another thread and taking its result costs some 5 to 20 microseconds."""
SMALL_ITERATION_SECONDS = 100e-6
"""Iterations that take less run as plain Python: walking a statement costs a few microseconds."""
SMALL_CALL_SECONDS = 200e-6
PROBED_ITERATIONS = 3
TOO_SHORT_TO_CUT = 150e-6
"""Cutting a piece into parts costs some 50 microseconds."""


@dataclass(frozen=True, slots=True)
class Grain:
    """Expressions expected to take less than `seconds` run in place; 0: none does, and loops are always walked."""

    seconds: float | None = None

    @property
    def always(self) -> bool:
        return self.seconds == 0

    def in_place(self, estimate: float | None) -> bool:
        """Not before it was measured: the first time it may be anything."""
        limit = IN_PLACE_SECONDS if self.seconds is None else self.seconds
        return estimate is not None and estimate < limit

    def small_iteration(self, seconds: float) -> bool:
        return not self.always and seconds < max(SMALL_ITERATION_SECONDS, self.seconds or 0)

    def small_call(self, seconds: float) -> bool:
        return not self.always and seconds < max(SMALL_CALL_SECONDS, self.seconds or 0)
