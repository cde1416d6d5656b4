"""Ground truth as small files: what was run, what each run took, what was predicted, and on what kind of machine.

In a folder, for the program `cg`:

    cg.trace.arrow           the trace of one run with everything fast
    cg.placements.parquet    one row a placement: role, bit string, mean seconds, seconds of each repeat
    cg.json                  figures, objects, tiers, and the machine in numbers; no name of a host, no path

All seconds but those in the column `predicted_seconds` are measured.
"""

from __future__ import annotations

import json
import math
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet
from numpy.typing import NDArray

import argosy
from argosy.errors import BadTrace
from argosy.memory.calibrating import Calibrated
from argosy.memory.estimator import Estimator
from argosy.memory.placement import Slow
from argosy.memory.trace import Trace
from argosy.memory.validation import Validation
from argosy.resources.discover.local import num_cores
from argosy.resources.discover.memory import memory_nbytes

FORMAT = "argosy.memory.published/1"
CALIBRATION, HELD_OUT = "calibration", "held-out"
SCHEMA = pa.schema(
    [
        pa.field("role", pa.string(), nullable=False),
        pa.field("slow", pa.string(), nullable=False),  # one bit for each object, 1 where it is in the slow tier
        pa.field("seconds", pa.float64(), nullable=False),
        pa.field("repeats", pa.list_(pa.float32())),  # null where only the mean was kept
        pa.field("predicted_seconds", pa.float64()),  # null for what the law was fitted to
    ]
)
_PACKAGES = ("numpy", "numba", "pyarrow", "scipy", "torch")


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """What a folder holds of one program."""

    app: str
    trace: Trace
    placements: pa.Table
    """`SCHEMA`."""
    figures: dict[str, Any]

    @property
    def objects(self) -> tuple[str, ...]:
        return tuple(self.figures["objects"])

    def rows(self, role: str) -> Slow:
        """The placements of one role: one row each, True where an object is slow."""
        bits = self._of(role).column("slow").to_pylist()
        found = [[bit == "1" for bit in row] for row in bits]
        return np.array(found, dtype=np.bool_).reshape(-1, len(self.objects))

    def seconds(self, role: str, column: str = "seconds") -> NDArray[np.float64]:
        """Of those placements, in the same order."""
        return np.asarray(self._of(role).column(column).to_numpy(), dtype=np.float64)

    def _of(self, role: str) -> pa.Table:
        return self.placements.filter(pa.compute.equal(self.placements["role"], role))


def publish(
    folder: str | Path, calibrated: Calibrated | Estimator, validation: Validation, trace: Trace
) -> tuple[Path, Path, Path]:
    """Writes the three files; a few tens of KB for 200 placements. The folder is made, older files are replaced.

    With an `Estimator` in place of the runs that it was made from, the repeats of the calibration are not known.
    """
    estimator = calibrated if isinstance(calibrated, Estimator) else calibrated.estimator()
    if not estimator.program == validation.program == trace.program:
        raise BadTrace(
            f"an estimator of {estimator.program!r}, a validation of {validation.program!r} and a trace of "
            f"{trace.program!r} do not go together; publish one program at a time"
        )
    runs = None if isinstance(calibrated, Estimator) else calibrated.measured.seconds.sum(axis=2)
    known = _table(CALIBRATION, estimator.measured, np.array(estimator.seconds), runs, None)
    held_out = _table(HELD_OUT, validation.rows, validation.measured, validation.runs, validation.predicted)
    where = Path(folder)
    where.mkdir(parents=True, exist_ok=True)
    paths = _paths(where, validation.program)
    trace.save(paths[0])
    pa.parquet.write_table(pa.concat_tables([known, held_out]), paths[1], compression="zstd")
    paths[2].write_text(json.dumps(without_nan(_figures(estimator, validation)), indent=1) + "\n", encoding="utf-8")
    return paths


def load(folder: str | Path, app: str) -> Published:
    """Raises `BadTrace` where there is nothing published of that program, or it cannot be read."""
    where = Path(folder)
    paths = _paths(where, app)
    if missing := [path.name for path in paths if not path.is_file()]:
        there = ", ".join(published_in(where)) or "nothing"
        raise BadTrace(f"{where} has no {' and no '.join(missing)}; published there: {there}")
    try:
        figures = json.loads(paths[2].read_text(encoding="utf-8"))
        if figures["format"] != FORMAT:
            raise KeyError(f"format {figures['format']!r}")
        placements = pa.parquet.read_table(paths[1])
        if placements.schema.names != SCHEMA.names:
            raise KeyError(f"columns {placements.schema.names}")
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, pa.ArrowInvalid) as error:
        raise BadTrace(f"what {where} has of {app!r} cannot be read: {error}") from None
    return Published(app=figures["app"], trace=Trace.load(paths[0]), placements=placements, figures=figures)


def published_in(folder: str | Path) -> list[str]:
    """Names of the programs of which a folder holds ground truth."""
    ending = ".placements.parquet"
    return sorted(path.name.removesuffix(ending) for path in Path(folder).glob(f"*{ending}"))


def without_nan(value: Any) -> Any:
    """For JSON, which has neither NaN nor infinity: the tau of predictions that are all the same becomes null."""
    if isinstance(value, dict):
        return {key: without_nan(each) for key, each in value.items()}
    if isinstance(value, list):
        return [without_nan(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _paths(folder: Path, app: str) -> tuple[Path, Path, Path]:
    stem = re.sub(r"[^\w.-]+", "_", app) or "program"
    return folder / f"{stem}.trace.arrow", folder / f"{stem}.placements.parquet", folder / f"{stem}.json"


def _table(
    role: str,
    rows: Slow,
    seconds: NDArray[np.float64],
    repeats: NDArray[np.float64] | None,
    predicted: NDArray[np.float64] | None,
) -> pa.Table:
    columns: list[Sequence[Any]] = [
        [role] * len(rows),
        ["".join("1" if is_slow else "0" for is_slow in row) for row in rows],
        seconds.tolist(),
        [None] * len(rows) if repeats is None else repeats.tolist(),
        [None] * len(rows) if predicted is None else predicted.tolist(),
    ]
    return pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )


def _figures(estimator: Estimator, validation: Validation) -> dict[str, Any]:
    return {
        "format": FORMAT,
        **validation.to_json(),
        "errors_left_one_out": dict(estimator.errors),
        "plans": [
            {"capacity": one.capacity, "seconds": one.seconds, "best_seconds": one.best_seconds}
            for one in validation.chosen
        ],
        "fast": estimator.fast,
        "slow": estimator.slow,
        "objects": estimator.sizes,
        "machine": _machine(estimator),
    }


def _machine(estimator: Estimator) -> dict[str, Any]:
    """In numbers. Rates are of whole objects that were moved between the tiers, as calibration measured them."""
    moves = estimator.moves
    return {
        "processor": platform.machine(),
        "cores": num_cores(),
        "memory_nbytes": memory_nbytes(),
        f"{estimator.slow}_read_nbytes_per_second": _rate(moves.fetch_seconds_per_byte),
        f"{estimator.slow}_write_nbytes_per_second": _rate(moves.evict_seconds_per_byte),
        "system": platform.system(),
        "python": platform.python_version(),
        "argosy": argosy.__version__,
        **{name: found for name in _PACKAGES if (found := _version(name)) is not None},
    }


def _rate(seconds_per_byte: float) -> float | None:
    return round(1 / seconds_per_byte) if seconds_per_byte > 0 else None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
