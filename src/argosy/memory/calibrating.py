"""From a few runs of a workload to an estimator."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

import numpy as np

from argosy import arguments
from argosy.memory.designs import DESIGNS, MOST_PLACEMENTS, design_rows
from argosy.memory.estimator import Estimator
from argosy.memory.laws import fit
from argosy.memory.laws.choose import LAWS
from argosy.memory.measuring import Measurements, check_noise, measure
from argosy.memory.moves import Moves, measure_moves
from argosy.memory.planning.highs import have_scipy
from argosy.memory.progress import Progress, shown
from argosy.memory.tiers.tier import Tier
from argosy.memory.workload import Workload

MISSING = "laws that tell objects apart need SciPy, which is not installed; get it with `pip install 'argosy[memory]'`"
COVERED = 0.9
NOISE_ALLOWED = 0.2


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibrated:
    """What was run, apart from what a law makes of it."""

    measured: Measurements
    moves: Moves
    fast: str
    slow: str

    def estimator(self, law: str = "auto") -> Estimator:
        """The same runs under another law: costs no run. A law is fitted to what they took at one pace."""
        at_one_pace = self.measured.at_one_pace()
        fitted = fit(at_one_pace, law)
        noise = self.measured.noise
        return Estimator(
            program=self.measured.program,
            fast=self.fast,
            slow=self.slow,
            law=fitted.law,
            costs=fitted.costs,
            moves=self.moves,
            noise=noise,
            spread=max(_covering(fitted.left_out), noise),
            errors=fitted.errors,
            measured=self.measured.rows,
            seconds=tuple(float(total) for total in at_one_pace.totals),
            repeats=self.measured.seconds.shape[1],
        )


def calibrate(
    workload: Workload,
    design: str = "random",
    repeats: int = 5,
    *,
    law: str = "auto",
    fast: Tier | None = None,
    slow: Tier | None = None,
    placements: int | None = None,
    noise: float = NOISE_ALLOWED,
    seed: int = 0,
    progress: Progress | bool | None = True,
) -> Estimator:
    """Runs a workload under the placements of a design, `repeats` times each in interleaved order, and fits a law.

    `design` is "random" (the default: enough mixed placements to tell the objects apart), "one-at-a-time" or
    "endpoints" (two placements). `fast` and `slow` are main memory and disk unless said. Raises `TooNoisy` where the
    repeats of a placement differ by more than `noise`. `progress`: True is a bar on stderr, if that is a terminal; or a
    function that is told (done, of how many).
    """
    arguments.one_of("law", law, ("auto", *LAWS))
    arguments.one_of("design", design, DESIGNS)
    if law != "linear" and design != "endpoints" and not have_scipy():
        raise ModuleNotFoundError(MISSING, name="scipy")
    runs = calibration_runs(
        workload,
        design,
        repeats,
        fast=fast,
        slow=slow,
        placements=placements,
        noise=noise,
        seed=seed,
        progress=progress,
    )
    return runs.estimator(law)


def calibration_runs(
    workload: Workload,
    design: str = "random",
    repeats: int = 5,
    *,
    fast: Tier | None = None,
    slow: Tier | None = None,
    placements: int | None = None,
    noise: float = NOISE_ALLOWED,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> Calibrated:
    """The runs alone; `.estimator(law)` fits a law to them."""
    arguments.instance("workload", workload, Workload, "an argosy.memory.Workload")
    repeats = arguments.whole("repeats", repeats, least=1)
    placements = (
        None if placements is None else arguments.whole("placements", placements, least=1, most=MOST_PLACEMENTS)
    )
    noise = arguments.number("noise", noise, least=0, infinite=True)
    seed = arguments.whole("seed", seed, least=0)
    what = f"calibrating {workload.name}"
    with shown(progress, what) as tell, closing(workload.store(fast=fast, slow=slow)) as store:
        rows = design_rows(design, len(store), placements=placements, seed=seed)
        measured = measure(workload, store, rows, repeats=repeats, seed=seed, progress=tell)
        check_noise(measured, noise)
        moves = measure_moves(store)
        return Calibrated(measured=measured, moves=moves, fast=store.fast.name, slow=store.slow.name)


def _covering(errors: tuple[float, ...]) -> float:
    """How far 9 of 10 were off, counted for a sample of this size; 0 where there are none."""
    if not errors:
        return 0.0
    rank = min(int(np.ceil((len(errors) + 1) * COVERED)), len(errors))
    return float(np.sort(np.abs(errors))[rank - 1])
