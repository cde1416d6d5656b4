"""Runs of a workload under many placements, in interleaved order, and what they took."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from argosy.errors import BadTrace, TooNoisy
from argosy.memory.pace import find_pace
from argosy.memory.placement import Slow, as_placement
from argosy.memory.progress import Progress
from argosy.memory.store import Store
from argosy.memory.trace import Trace, check_same_program, touched
from argosy.memory.workload import Workload, traced

MAD_TO_SIGMA = 1.4826  # of a normal distribution
HICCUP = 2.0  # times the median: a run that says more of the machine than of the placement


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurements:
    """Seconds of every window kind, in every repeat, under every placement that was run."""

    program: str
    objects: tuple[str, ...]
    sizes: tuple[int, ...]
    windows: tuple[str, ...]
    order: tuple[int, ...]
    """The windows of a run in the order of time, as indices into `windows`."""
    rows: Slow
    seconds: NDArray[np.float64]
    """[placements, repeats, windows], all occurrences of a window together."""
    moved: NDArray[np.float64]
    """[windows, objects]: bytes read and written in one run."""
    pace: NDArray[np.float64] | None = None
    """[placements, repeats]: how much longer everything took just then; None where nobody knows what ran when."""

    @property
    def per_window(self) -> NDArray[np.float64]:
        """The mean over the repeats, without those that took more than twice the median run: [placements, windows].

        Means, since those of the windows add up to that of the run. Medians do not: a slow moment hits one window in
        one repeat and another in the next, so that a sum of medians forgets it and the median of the sums does not.
        """
        runs = self.seconds.sum(axis=2)
        fair = runs <= HICCUP * np.median(runs, axis=1, keepdims=True)
        return np.einsum("prw,pr->pw", self.seconds, fair / fair.sum(axis=1, keepdims=True))

    @property
    def totals(self) -> NDArray[np.float64]:
        """The same of the whole run: [placements]."""
        return self.per_window.sum(axis=1)

    @property
    def noise(self) -> float:
        """Relative spread (a robust standard deviation) of one run among its repeats, in the middle placement."""
        runs = self.seconds.sum(axis=2)
        middle = np.median(runs, axis=1, keepdims=True)
        spread = MAD_TO_SIGMA * np.median(np.abs(runs - middle), axis=1) / middle[:, 0]
        return float(np.median(spread))

    def select(self, rows: NDArray[np.intp] | list[int] | slice) -> Measurements:
        """Of these placements alone."""
        pace = None if self.pace is None else self.pace[rows]
        return replace(self, rows=self.rows[rows], seconds=self.seconds[rows], pace=pace)

    def at_one_pace(self) -> Measurements:
        """What the runs would have taken, had the machine been as fast at each of them."""
        if self.pace is None:
            return self
        return replace(self, seconds=self.seconds / self.pace[:, :, None], pace=None)


def measure(
    workload: Workload,
    store: Store,
    rows: Slow,
    *,
    repeats: int,
    seed: int = 0,
    progress: Progress | None = None,
) -> Measurements:
    """Each round visits every placement once, in an order of its own, so that a slow minute hits all of them alike.

    One run that is not counted comes first. Raises `BadTrace` where runs differ in their windows.
    """
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1, not {repeats}")
    objects = tuple(store)
    first = traced(workload, store)
    windows = tuple(dict.fromkeys(window.name for window in first.windows))
    kind = {name: i for i, name in enumerate(windows)}
    order = tuple(kind[window.name] for window in first.windows)
    seconds = np.zeros((len(rows), repeats, len(windows)))
    when = np.zeros((len(rows), repeats), dtype=np.intp)
    rng = np.random.default_rng(seed)
    done = 0
    for repeat in range(repeats):
        for at in rng.permutation(len(rows)):
            store.place(as_placement(rows[at], objects, fast=store.fast.name, slow=store.slow.name))
            trace = traced(workload, store)
            _check_same_work(first, trace)
            seconds[at, repeat] = np.bincount(
                order, weights=[window.seconds for window in trace.windows], minlength=len(windows)
            )
            when[at, repeat] = done
            done += 1
            if progress is not None:
                progress(done, repeats * len(rows))
    return Measurements(
        program=workload.name,
        objects=objects,
        sizes=tuple(store.sizes.values()),
        windows=windows,
        order=order,
        rows=rows,
        seconds=seconds,
        moved=touched(first.windows, windows, objects),
        pace=find_pace(seconds.sum(axis=2), when),
    )


def check_noise(measured: Measurements, allowed: float) -> None:
    """Raises `TooNoisy` where repeats differ more than allowed."""
    repeats = measured.seconds.shape[1]
    if repeats > 1 and measured.noise > allowed:
        raise TooNoisy(
            f"repeats of one placement of {measured.program!r} differ by {measured.noise:.0%}, more than the "
            f"{allowed:.0%} that noise= allows; ask for more repeats (repeats={2 * repeats}), let nothing else run, or "
            f"allow more"
        )


def _check_same_work(first: Trace, trace: Trace) -> None:
    check_same_program(first, trace)
    before, now = ([window.name for window in run.windows] for run in (first, trace))
    if before != now:
        at = next((i for i, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), min(len(before), len(now)))
        raise BadTrace(
            f"two runs of {trace.program!r} differ from window {at} on ({len(before)} windows and {len(now)}); "
            "every run of a workload must do the same work"
        )
