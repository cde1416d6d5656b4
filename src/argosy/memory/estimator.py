"""The time of any placement, in microseconds instead of a run, with an interval that was earned on measured runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy import arguments
from argosy.errors import BadTrace
from argosy.memory.costs import Costs
from argosy.memory.moves import Moves
from argosy.memory.placement import Placement, Slow, as_row

FORMAT = "argosy.memory.estimator/1"


@dataclass(frozen=True, kw_only=True, slots=True)
class Prediction:
    """Modelled seconds of one run, and between what the measured ones are expected 9 times out of 10."""

    seconds: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimator:
    """What calibration has learnt of one program on one machine.

    The two ends, all fast and all slow, are told as they were measured; everything between them by the law.
    """

    program: str
    fast: str
    slow: str
    """Names of the two tiers."""
    law: str
    costs: Costs
    moves: Moves
    noise: float
    """Relative spread of one run among its repeats."""
    spread: float
    """Relative half width of an interval: how far 9 of 10 placements were off that the law had not seen."""
    errors: Mapping[str, float]
    """Mean relative error of each law that was tried, on placements that it had not seen; empty if there were none."""
    measured: Slow
    """The placements that it was calibrated on: all fast, all slow, and others."""
    seconds: tuple[float, ...]
    """What those took."""
    repeats: int = 1
    """Runs of each of them."""

    @property
    def objects(self) -> tuple[str, ...]:
        return self.costs.objects

    @property
    def sizes(self) -> dict[str, int]:
        return dict(zip(self.costs.objects, self.costs.sizes, strict=True))

    def predict(self, placement: Placement) -> Prediction:
        """Of a placement that names a tier for every object."""
        placement = arguments.mapping("placement", placement, "a dictionary from objects to tiers")
        for name in placement:
            arguments.text("a name in placement", name)
        row = as_row(placement, self.objects, fast=self.fast, slow=self.slow)
        num_slow = np.count_nonzero(row)
        at_an_end = num_slow == 0 or num_slow == len(row)
        seconds = self.seconds[0 if num_slow == 0 else 1] if at_an_end else self.costs.of_one(row)
        low, high = (1 - self.spread) * seconds, (1 + self.spread) * seconds
        if not self.errors:
            low, high = self._between(row)
        return Prediction(seconds=seconds, low=max(min(low, seconds), 0.0), high=max(high, seconds))

    def predict_many(self, slow: Slow) -> NDArray[np.float64]:
        """Seconds of many placements at once: one row each, one column for each of `objects`, True where it is slow."""
        rows = _rows_of(slow)
        if rows.ndim != 2 or rows.shape[1] != len(self.objects):
            raise ValueError(f"slow must be placements, as rows of {len(self.objects)} objects, not as {rows.shape}")
        predicted = self.costs.total(rows)
        num_slow = rows.sum(axis=1)
        predicted[num_slow == 0], predicted[num_slow == len(self.objects)] = self.seconds[:2]
        return predicted

    def anchored(self, rows: Slow, seconds: NDArray[np.float64]) -> Estimator:
        """Brought up to date by new measurements: machines drift, what objects cost each other does not.

        `rows` are placements that were run again, some of them mixed if possible, `seconds` what they took. One number
        scales what does not depend on the placement, another what does, so that the relative errors on those placements
        are least.
        """
        fast = float(self.predict_many(np.zeros((1, len(self.objects)), dtype=np.bool_))[0])
        parts = np.column_stack([np.full(len(rows), fast), self.predict_many(rows) - fast]) / seconds[:, None]
        if not parts[:, 1].any():  # nothing depends on the placement, or nothing was slow: one number for both
            base = slow = float(parts[:, 0].mean() / (parts[:, 0] @ parts[:, 0] / len(rows)))
        else:
            (base, slow), *_ = np.linalg.lstsq(parts, np.ones(len(rows)), rcond=None)
        base, slow = max(float(base), 0.0), max(float(slow), 0.0)
        told = np.array(self.seconds)
        told = base * told[0] + slow * (told - told[0])
        return replace(self, costs=self.costs.scaled(base=base, slow=slow), seconds=tuple(told.tolist()))

    def _between(self, row: Slow) -> tuple[float, float]:
        """With the ends alone, nobody knows which object makes the difference: in a window that uses objects of both
        tiers, the slow ones may cost nothing or everything."""
        uses = self.costs.slow != 0
        difference = self.costs.slow.sum(axis=1)
        least, most = np.minimum(difference, 0), np.maximum(difference, 0)
        any_slow, any_fast = (uses & row).any(axis=1), (uses & ~row).any(axis=1)
        low = np.where(any_slow, np.where(any_fast, least, difference), 0.0).sum()
        high = np.where(any_slow, np.where(any_fast, most, difference), 0.0).sum()
        base = self.costs.base.sum()
        return float((base + low) * (1 - self.noise)), float((base + high) * (1 + self.noise))

    def save(self, path: str | Path) -> None:
        """As JSON."""
        Path(arguments.path("path", path)).write_text(json.dumps(self._to_json(), indent=1), encoding="utf-8")

    @staticmethod
    def load(path: str | Path) -> Estimator:
        """Raises `BadTrace` for a file that is not an estimator."""
        arguments.path("path", path)
        try:
            return _from_json(json.loads(Path(path).read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise BadTrace(f"there is no estimator {path}; make one with `argosy memory calibrate`") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadTrace(f"{path} is not an estimator: {error}") from None

    def _to_json(self) -> dict[str, Any]:
        costs = self.costs
        return {
            "format": FORMAT,
            "program": self.program,
            "fast": self.fast,
            "slow": self.slow,
            "law": self.law,
            "noise": self.noise,
            "spread": self.spread,
            "errors": dict(self.errors),
            "fetch_seconds_per_byte": self.moves.fetch_seconds_per_byte,
            "evict_seconds_per_byte": self.moves.evict_seconds_per_byte,
            "objects": dict(zip(costs.objects, costs.sizes, strict=True)),
            "windows": list(costs.windows),
            "order": list(costs.order),
            "floor": [None if np.isneginf(floor) else floor for floor in costs.floor.tolist()],
            "base": costs.base.tolist(),
            "slow_seconds": costs.slow.tolist(),
            "measured": ["".join("s" if is_slow else "f" for is_slow in row) for row in self.measured],
            "seconds": list(self.seconds),
            "repeats": self.repeats,
        }


def _rows_of(slow: Any) -> Slow:
    """True and False, or 1 and 0: any other number would be taken for True."""
    wanted = "rows of True and False"
    try:
        rows = np.asarray(slow)
        if rows.size and rows.dtype.kind not in "biuf":
            raise TypeError
        if not np.isin(rows, (0, 1)).all():
            raise TypeError
    except Exception:  # of a value's own, or rows that differ in length
        raise TypeError(f"slow must be {wanted}, not {arguments.show(slow)}") from None
    return rows.astype(np.bool_)


def _from_json(found: dict[str, Any]) -> Estimator:
    if found["format"] != FORMAT:
        raise KeyError(f"format {found['format']!r}")
    objects = tuple(found["objects"])
    costs = Costs(
        objects=objects,
        sizes=tuple(found["objects"].values()),
        windows=tuple(found["windows"]),
        order=tuple(found["order"]),
        floor=np.array([-np.inf if floor is None else floor for floor in found["floor"]]),
        base=np.array(found["base"]),
        slow=np.array(found["slow_seconds"]).reshape(len(found["windows"]), len(objects)),
    )
    rows = [[letter == "s" for letter in row] for row in found["measured"]]
    return Estimator(
        program=found["program"],
        fast=found["fast"],
        slow=found["slow"],
        law=found["law"],
        costs=costs,
        moves=Moves(
            fetch_seconds_per_byte=found["fetch_seconds_per_byte"],
            evict_seconds_per_byte=found["evict_seconds_per_byte"],
        ),
        noise=found["noise"],
        spread=found["spread"],
        errors=found["errors"],
        measured=np.array(rows, dtype=np.bool_).reshape(-1, len(objects)),
        seconds=tuple(found["seconds"]),
        repeats=found["repeats"],
    )
