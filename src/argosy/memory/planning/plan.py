"""The answer: which object goes where, for how long, and how good that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from argosy import arguments
from argosy.units import format_nbytes, format_seconds

SHOWN_CHANGES = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """A placement, and with a schedule the changes to it while the run goes on. All seconds are predicted."""

    placement: Mapping[str, str]
    """Object to tier: for the whole run, or at its beginning if there is a schedule."""
    seconds: float
    """Of one run, migration included."""
    solver: str
    capacity: int
    nbytes_fast: int
    """Bytes in the fast tier; the most at any time if there is a schedule."""
    sizes: Mapping[str, int]
    schedule: tuple[tuple[int, Mapping[str, str]], ...] | None = None
    """(window, changes): objects that go to another tier just before that window, counted from 0 in order of time."""
    bound: float | None = None
    """Seconds that no plan of this kind can beat, where the solver knows."""
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        width = max([len("object"), *map(len, self.placement)])
        best = "" if self.bound is None else f", no plan of this kind below {format_seconds(self.bound)}"
        fast = f"{format_nbytes(self.nbytes_fast)} of {format_nbytes(self.capacity)} fast"
        lines = [
            f"{format_seconds(self.seconds)} predicted ({self.solver}{best}); {fast}",
            f"{'object':<{width}}  {'size':>10}  tier",
        ]
        lines += [
            f"{name:<{width}}  {format_nbytes(self.sizes[name]):>10}  {tier}" for name, tier in self.placement.items()
        ]
        changes = self.schedule or ()
        lines += [
            f"before window {window}: " + ", ".join(f"{name} to {tier}" for name, tier in moved.items())
            for window, moved in changes[:SHOWN_CHANGES]
        ]
        if len(changes) > SHOWN_CHANGES:
            lines.append(f"and {len(changes) - SHOWN_CHANGES} more changes")
        return "\n".join([*lines, *self.notes])

    def to_json(self) -> dict[str, Any]:
        """As plain dicts, lists and numbers."""
        schedule = None if self.schedule is None else [[window, dict(moved)] for window, moved in self.schedule]
        return {**asdict(self), "schedule": schedule, "notes": list(self.notes)}

    @staticmethod
    def from_json(fields: Mapping[str, Any]) -> Plan:
        """The other way. Raises `ValueError` for a dictionary that is not a plan."""
        fields = arguments.mapping("fields", fields, "a dictionary, as `to_json` gives it")
        try:
            schedule = fields["schedule"]
            return Plan(
                **{
                    **fields,
                    "notes": tuple(fields["notes"]),
                    "schedule": None if schedule is None else tuple((int(window), moved) for window, moved in schedule),
                }
            )
        except (TypeError, KeyError, ValueError) as error:
            raise ValueError(f"fields: this is not a plan as `to_json` gives it: {error}") from None
