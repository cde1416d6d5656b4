"""How fast predictions are, alone and against the runs that they replace."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from figures import Figure, Options

from argosy.memory import calibrate, miniapps
from argosy.memory.designs import held_out_rows
from argosy.memory.placement import as_placement

BATCH = 100_000


def speed(options: Options) -> list[Figure]:
    """predictions a second, and one prediction against the run that it replaces"""
    figures: list[Figure] = []
    for name in miniapps.APPS:
        estimator = calibrate(miniapps.load(name), "one-at-a-time", repeats=1, law="hinge", noise=1.0)
        rows = np.random.default_rng(0).random((BATCH, len(estimator.objects))) < 0.5
        many = median(_seconds(estimator.predict_many, rows) for _ in range(options.rounds or 9))
        row = held_out_rows(estimator.measured, 1)[0]
        placement = as_placement(row, estimator.objects, fast=estimator.fast, slow=estimator.slow)
        one = median(_seconds(estimator.predict, placement) for _ in range(1001))
        figures += [
            Figure(what=f"{name}: placements a second, in a batch", value=BATCH / many, at_least=100_000),
            Figure(what=f"{name}: placements a second, one by one", value=1 / one),
            Figure(
                what=f"{name}: the run of a placement (median) against its prediction",
                value=median(estimator.seconds) / one,
                unit="x",
                at_least=1000,
                note=f"{1e3 * median(estimator.seconds):.1f} ms and {1e6 * one:.1f} us, law with floors",
            ),
            Figure(what=f"{name}: the fastest run of all, the same", value=min(estimator.seconds) / one, unit="x"),
        ]
    return figures


def _seconds(work: Callable[[Any], object], of: Any) -> float:
    began = time.perf_counter()
    work(of)
    return time.perf_counter() - began
