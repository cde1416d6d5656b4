"""Plans against every placement there is, for the mini-apps of at most 12 objects."""

from __future__ import annotations

from contextlib import closing

from figures import Figure, Options

from argosy.memory import calibrate, miniapps
from argosy.memory.designs import all_rows
from argosy.memory.judging import CAPACITIES, judge, planned_row
from argosy.memory.measuring import measure

NBYTES = 8 << 20  # small, as 2 to the power of 12 placements are run
MOST_OBJECTS = 12


def exhaustive(options: Options) -> list[Figure]:
    """every placement run once, the best of them again beside the plan"""
    figures: list[Figure] = []
    for name in miniapps.APPS:
        workload = miniapps.load(name, nbytes=NBYTES)
        with closing(workload.store()) as store:
            if len(store) > (8 if options.quick else MOST_OBJECTS):
                continue
            estimator = calibrate(workload)
            measured = measure(workload, store, all_rows(len(store)), repeats=1)
            for capacity in CAPACITIES:
                one = judge(workload, store, measured, planned_row(estimator, capacity), capacity)
                figures.append(
                    Figure(
                        what=f"{name}: plan at {capacity}, slower than the best of {len(measured.rows)}",
                        value=100 * one.regret,
                        unit="%",
                        at_most=5,
                        note=f"{1e3 * one.seconds:.1f} and {1e3 * one.best_seconds:.1f} ms",
                    )
                )
    return figures
