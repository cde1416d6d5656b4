"""A measured figure, what it should be, and how both are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    what: str
    value: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def ok(self) -> bool:
        """It is what it should be; a figure without a wish always is."""
        low_enough = self.at_most is None or self.value <= self.at_most
        return low_enough and (self.at_least is None or self.value >= self.at_least)

    def __str__(self) -> str:
        wish = ""
        if self.at_most is not None:
            wish = f"wants at most {_short(self.at_most)}"
        elif self.at_least is not None:
            wish = f"wants at least {_short(self.at_least)}"
        verdict = f"{wish}: {'yes' if self.ok else 'NO'}" if wish else ""
        return f"  {self.what:<62} {_short(self.value):>9} {self.unit:<8} {verdict:<28} {self.note}".rstrip()

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "ok": self.ok}


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """What every section of a benchmark is told."""

    quick: bool = False
    """Few repeats and short work, to see that it runs; the figures mean little."""
    rounds: int | None = None
    """Repeats of each side, in turn; each section has its own default."""
    work: str = "both"
    """What the mixed tasks do: `sleep`, `cpu` or `both`."""

    def count(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    def turns(self, full: int, quick: int) -> int:
        return self.rounds or self.count(full, quick)


def spread(values: Sequence[float]) -> float:
    """Half the distance between the quartiles, as a share of the median: how far one may trust it."""
    ordered = sorted(values)
    quarter = len(ordered) // 4
    return (ordered[-1 - quarter] - ordered[quarter]) / 2 / median(ordered)


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
