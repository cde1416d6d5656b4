"""What a study found: rows of measured and of modelled figures, side by side."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One number of workers and one target, either measured or modelled."""

    workers: int
    target: float
    s_par: float
    e_stat: float
    s_learn: float
    low: float | None
    """Of the interval of `s_learn`; None with one seed."""
    high: float | None
    kind: str
    """`measured` where training was run for it, `modelled` where the noise scale and the link say it."""
    s_par_kind: str
    """Virtual workers share one rank, so their parallel speed-up is modelled also in a measured row."""
    e_stat_kind: str
    e_stat_low: float | None
    e_stat_high: float | None
    residual: float
    """Of s_learn = s_par * e_stat; of measured rows by the time that the runs themselves took."""
    samples: float
    """Until the target was reached, by the median run; modelled: by prediction."""
    error: float | None = None
    """Of modelled rows: how far the predicted samples are off the measured ones, as a share of these."""
    censored: bool = False
    """Too many runs never reached the target: `e_stat` and `s_learn` are upper bounds."""
    missed: int = 0
    seeds: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    task: str
    metric: str
    higher: bool
    virtual: bool
    batch: int
    """Samples of one worker in a step."""
    lr_rule: str
    phi: float
    phi_low: float
    phi_high: float
    seeds: int
    targets: tuple[float, ...]
    rows: tuple[Row, ...]
    largest: int | None
    """The most workers of which each is worth at least half a worker, by the model."""
    notes: tuple[str, ...] = ()

    @property
    def ceiling(self) -> float:
        """What no number of workers can exceed."""
        return 1 + self.phi / self.batch

    @property
    def largest_residual(self) -> float:
        told = [row.residual for row in self.rows if row.kind == "measured" and not math.isnan(row.residual)]
        return max(told, default=0.0)

    def of(self, kind: str, target: float | None = None) -> list[Row]:
        return [row for row in self.rows if row.kind == kind and (target is None or row.target == target)]

    def median_error(self, up_to: float = math.inf, beyond: float = 0.0) -> float | None:
        """Of predicted samples, over modelled rows with more than one worker and batches in (beyond, up_to]."""
        errors = sorted(
            row.error
            for row in self.of("modelled")
            if row.error is not None and row.workers > 1 and beyond < row.workers * self.batch <= up_to
        )
        if not errors:
            return None
        middle = len(errors) // 2
        return errors[middle] if len(errors) % 2 else (errors[middle - 1] + errors[middle]) / 2

    def as_dict(self) -> dict[str, Any]:
        """For JSON: numbers that are not finite are None."""
        told = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in ("rows", "targets")}
        first = {"phi": told.pop("phi"), "ceiling": self.ceiling}
        rows = [{name: _plain(value) for name, value in asdict(row).items()} for row in self.rows]
        plain = {name: _plain(value) for name, value in {**first, **told}.items()}
        plain |= {"largest_residual": _plain(self.largest_residual), "targets": list(self.targets), "rows": rows}
        return plain


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value
