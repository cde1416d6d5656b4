"""How many workers are worth asking for: learning speed-up from the gradient noise scale. All figures are modelled."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy import arguments
from argosy.errors import TrainError
from argosy.train.links import Link
from argosy.train.noise.phi import typical

__all__ = ["Link", "Prediction", "PredictionRow", "constant_of", "e_stat", "predict"]

MOST_WORKERS = 15_000
DEFAULT_WORKERS = tuple(2**power for power in range(15) if 2**power <= MOST_WORKERS)
WINDOWS = 16
"""Into which the run of a `NoiseScale` is cut."""
ENOUGH = 0.5
"""Learning efficiency, S_learn by worker, above which a worker is worth asking for."""

Trajectory = Sequence[tuple[float, float]]
"""Pairs of samples and the noise scale at the end of them, along the baseline's run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PredictionRow:
    """One number of workers, against the baseline."""

    workers: int
    batch: int
    """Of all workers together."""
    e_stat: float
    s_par: float
    s_learn: float
    efficiency: float
    """s_learn for each worker of the baseline's."""
    low: float | None
    """Of s_learn, by the interval of the noise scale; None where that has none."""
    high: float | None
    kind: str = "modelled"


@dataclass(frozen=True, kw_only=True, slots=True)
class Prediction:
    """What `predict` tells; `str()` of it is a table with the ceiling first."""

    phi: float
    """The gradient noise scale in samples; of a trajectory, the constant one that needs as many samples."""
    batch: int
    """Of one worker."""
    baseline: int
    ceiling: float
    """No number of workers learns faster than so many times the baseline: 1 + phi / (batch * baseline)."""
    largest: int
    """The largest number of workers with a learning efficiency above one half, up to 15,000."""
    communicates: bool
    """Whether the time of communication is in it, or S_par is the ideal."""
    rows: tuple[PredictionRow, ...]
    kind: str = "modelled"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"rows": [asdict(row) for row in self.rows]}

    def __str__(self) -> str:
        source = f"modelled; noise scale {self.phi:.4g} samples, batch {self.batch} per worker"
        against = f"{self.baseline} worker" + ("s" if self.baseline != 1 else "")
        lines = [
            f"ceiling of learning speed-up against {against}: {self.ceiling:.4g} ({source})",
            f"largest number of workers with learning efficiency above one half: {self.largest:,} (modelled)",
            f"{'workers':>7} {'batch':>9} {'S_par':>9} {'E_stat':>9} {'S_learn':>9} {'efficiency':>10}  modelled",
        ]
        for row in self.rows:
            interval = "" if row.low is None or row.high is None else f"{row.low:.3g} .. {row.high:.3g}"
            lines.append(
                f"{row.workers:>7} {row.batch:>9} {row.s_par:>9.4g} {row.e_stat:>9.3g} {row.s_learn:>9.4g} "
                f"{row.efficiency:>10.1%}  {interval}".rstrip()
            )
        if not self.communicates:
            lines.append("S_par is the ideal, without communication: give step_seconds, nbytes and link")
        return "\n".join(lines)


def e_stat(phi: Any, batch: float, to: Any) -> Any:
    """E_stat(B0 -> B) = (phi + B0) / (phi + B): samples needed with a batch of B0, over those with a batch of B.

    The gain of a step of SGD at the best learning rate goes with B / (phi + B) (McCandlish et al., "An Empirical Model
    of Large-Batch Training", 2018). Works on arrays too.
    """
    return np.ones_like(to, np.float64) if np.isscalar(phi) and phi == math.inf else (phi + batch) / (phi + to)


def constant_of(trajectory: Trajectory, batch: float) -> float:
    """The constant noise scale that needs as many samples as one that changes along the baseline's run.

    With dn samples at phi(t), n_B = sum of dn * (phi(t) + B) / (phi(t) + B0). As each factor is
    1 + (B - B0) / (phi(t) + B0), that is n_B0 * (phi + B) / (phi + B0) for all B at once, where phi + B0 is the
    sample-weighted harmonic mean of phi(t) + B0.
    """
    try:
        pairs = np.array(list(trajectory), np.float64).reshape(-1, 2)
    except Exception:  # of a value's own, or what is no pairs
        said = arguments.show(trajectory)
        raise TrainError(f"noise_scale: a trajectory is pairs (samples, phi), not {said}") from None
    spans = np.diff(pairs[:, 0], prepend=0.0)
    if not len(pairs) or spans.min() < 0 or not spans.sum() > 0:
        raise TrainError("a trajectory of the noise scale is pairs (samples, phi), with samples that increase from 0")
    for phi in pairs[:, 1]:
        _check_phi(float(phi))
    return float(spans.sum() / (spans / (pairs[:, 1] + batch)).sum() - batch)


def predict(
    noise_scale: Any,
    *,
    batch: int,
    workers: Sequence[int] = DEFAULT_WORKERS,
    step_seconds: float | None = None,
    nbytes: float | None = None,
    link: Link | None = None,
    overlap: float = 0.0,
    baseline: int = 1,
) -> Prediction:
    """E_stat, S_par and S_learn = S_par * E_stat for numbers of workers, against `baseline` of them.

    With b samples a step on each of p workers, b0 workers in the baseline, and t_comm the all-reduce of `nbytes`
    gradients over the link, of which the share `overlap` hides behind computing:

        E_stat(p) = (phi + b0 b) / (phi + p b)
        S_par(p)  = (p / b0) * (t_1 + t_comm(b0)) / (t_1 + t_comm(p))       t_1 = step_seconds, of one worker alone
        ceiling   = 1 + phi / (b0 b)

    `noise_scale` is a number of samples, something with `.value` (and `.low` and `.high`, for an interval), a
    trajectory of the baseline's run (pairs of samples and phi), or a `NoiseScale`, of which the median over the windows
    of its trajectory is taken: its mean would be ruled by the large gradients of the first steps. Without step_seconds,
    nbytes and link S_par is the ideal.
    """
    batch = _judged(arguments.whole, "batch", batch, least=1, most=2**63 - 1)
    baseline = _judged(arguments.whole, "baseline", baseline, least=1, most=2**31 - 1)
    overlap = _judged(arguments.number, "overlap", overlap, least=0, most=1, wanted="a share from 0 to 1")
    workers = _workers(workers, baseline)
    if link is not None:
        arguments.instance("link", link, Link, "a train.Link")
    if step_seconds is not None:
        step_seconds = _judged(arguments.number, "step_seconds", step_seconds, above=0)
    if nbytes is not None:
        nbytes = _judged(arguments.number, "nbytes", nbytes, least=0)
    given = [value is not None for value in (step_seconds, nbytes, link)]
    if any(given) and not all(given):
        raise TrainError("communication is modelled from step_seconds, nbytes and link together; give all or none")
    phi, low, high = _phi_of(noise_scale, batch * baseline)
    counts = np.arange(baseline, max(MOST_WORKERS, baseline) + 1)
    scaled = counts / baseline
    if step_seconds is not None and nbytes is not None and link is not None:
        steps = np.array([_step(int(p), step_seconds, nbytes, link, overlap) for p in counts])
        scaled = scaled * steps[0] / steps
    learns = [_learn(scaled, at, batch, counts, baseline) for at in (phi, low, high)]
    efficiencies = learns[0] * baseline / counts
    rows = []
    for p in workers:
        at = p - baseline
        rows.append(
            PredictionRow(
                workers=p,
                batch=p * batch,
                e_stat=float(e_stat(phi, batch * baseline, batch * p)),
                s_par=float(scaled[at]),
                s_learn=float(learns[0][at]),
                efficiency=float(efficiencies[at]),
                low=None if low is None else float(learns[1][at]),
                high=None if high is None else float(learns[2][at]),
            )
        )
    return Prediction(
        phi=phi,
        batch=batch,
        baseline=baseline,
        ceiling=1 + phi / (batch * baseline),
        largest=int(counts[np.flatnonzero(efficiencies > ENOUGH)[-1]]),
        communicates=all(given),
        rows=tuple(rows),
    )


def _judged(judge: Callable[..., Any], name: str, value: Any, **limits: Any) -> Any:
    """What is out of range is a TrainError, as all else that makes no prediction."""
    try:
        return judge(name, value, **limits)
    except ValueError as error:
        raise TrainError(str(error)) from None


def _learn(
    s_par: NDArray[np.float64], phi: float | None, batch: int, counts: NDArray[np.int64], baseline: int
) -> NDArray[np.float64]:
    return s_par * e_stat(math.nan if phi is None else phi, batch * baseline, batch * counts)


def _step(workers: int, step_seconds: float, nbytes: float, link: Link, overlap: float) -> float:
    return step_seconds + (1 - overlap) * link.all_reduce_seconds(nbytes, workers)


def _phi_of(noise_scale: Any, batch: int) -> tuple[float, float | None, float | None]:
    """The value and its interval."""
    if callable(getattr(noise_scale, "trajectory", None)):
        noise_scale = typical(noise_scale.trajectory(WINDOWS), math.inf, noise_scale.confidence)
    if hasattr(noise_scale, "value") and not isinstance(noise_scale, type):
        low, high = (getattr(noise_scale, name, None) for name in ("low", "high"))
        ends = [None if end is None or math.isnan(end) else max(float(end), 0.0) for end in (low, high)]
        return _check_phi(noise_scale.value), ends[0], ends[1]
    if isinstance(noise_scale, (list, tuple)) or (isinstance(noise_scale, np.ndarray) and noise_scale.ndim):
        return constant_of(list(noise_scale), batch), None, None
    return _check_phi(noise_scale), None, None


_PHI = "a number of samples, 0 or more"


def _check_phi(phi: Any) -> float:
    try:
        return arguments.number("noise_scale", phi, least=0, wanted=_PHI)
    except ValueError as error:
        raise TrainError(f"{error}; measure it over more steps") from None


def _workers(given: Any, baseline: int) -> list[int]:
    wanted = "a list of numbers of workers"
    counts = [arguments.whole("workers", each, wanted=wanted) for each in arguments.items("workers", given, wanted)]
    if not counts or min(counts) < baseline or max(counts) > MOST_WORKERS:
        said = arguments.show(counts)
        raise TrainError(f"workers are between the baseline of {baseline} and {MOST_WORKERS:,}, not {said}")
    return counts
