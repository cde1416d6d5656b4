"""What came of offloading: the placement, what it was thought to cost, and what it did cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from argosy.calls import value
from argosy.units import format_nbytes, format_seconds

if TYPE_CHECKING:
    from argosy.memory.planning.plan import Plan


@value()
@dataclass(frozen=True, kw_only=True, slots=True)
class Offloaded:
    """Of one rank. Seconds are of one step: its forward and backward passes and its update."""

    asked: str
    """As it was asked for: "auto" or "all"."""
    fast: str
    slow: str
    """Names of the tiers."""
    memory_nbytes: int | None
    """What fast memory was to be kept to; None for all of it."""
    need_nbytes: int
    """With nothing offloaded."""
    least_nbytes: int
    """With everything offloaded: a smaller budget cannot work."""
    fixed_nbytes: int
    """Of what cannot be offloaded: buffers, the batch, parameters that stay, and what else the device held."""
    sizes: Mapping[str, int]
    placement: Mapping[str, str]
    """Object to tier."""
    plan: Plan | None
    """None where none was asked for, or the run ended before there was one."""
    fast_nbytes: int
    """The most that this placement should take: modelled from the sizes."""
    peak_nbytes: int
    """The most that it took: counted from each fetch and drop, and `fixed_nbytes`."""
    predicted_seconds: float | None
    """Modelled, from steps with everything offloaded."""
    measured_seconds: float | None
    """The median of the steps after those; measured."""
    all_fast_seconds: float | None
    """With nothing offloaded: modelled."""
    all_slow_seconds: float | None
    """With everything offloaded: measured."""
    kept: Mapping[str, str]
    """Parameters that are not small and stay in fast memory all the same, and why."""
    notes: tuple[str, ...]

    def to_plain(self) -> dict[str, Any]:
        """For a ledger."""
        plain = {name: one for name, one in asdict(self).items() if name != "plan"}
        return {**plain, "notes": list(self.notes), "solver": None if self.plan is None else self.plan.solver}

    def __str__(self) -> str:
        away = sum(nbytes for name, nbytes in self.sizes.items() if self.placement[name] == self.slow)
        there = sum(self.sizes.values())
        taken = f"{format_nbytes(self.fast_nbytes)} (modelled), {format_nbytes(self.peak_nbytes)} (counted)"
        step = f"a step: {_seconds(self.predicted_seconds)} predicted, {_seconds(self.measured_seconds)} measured"
        ends = f"{_seconds(self.all_fast_seconds)} (modelled), {_seconds(self.all_slow_seconds)} (measured)"
        lines = [
            f"{format_nbytes(away)} of {format_nbytes(there)} in {self.slow}; {self.fast} at most {taken}",
            f"{step}; with nothing and with everything offloaded {ends}",
        ]
        width = max([len("object"), *map(len, self.sizes)])
        lines.append(f"{'object':<{width}}  {'size':>10}  tier")
        lines += [
            f"{name:<{width}}  {format_nbytes(nbytes):>10}  {self.placement[name]}"
            for name, nbytes in self.sizes.items()
        ]
        return "\n".join([*lines, *(f"{name} stays: {why}" for name, why in self.kept.items()), *self.notes])


def _seconds(seconds: float | None) -> str:
    return "not" if seconds is None else format_seconds(seconds)
