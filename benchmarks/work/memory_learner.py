"""The learnt policy: predicted on families of runs that it was not taught on, and measured on a program that runs."""

from __future__ import annotations

import numpy as np
from figures import Figure, Options

from argosy.memory import calibrate
from argosy.memory.learning.families import HELD_OUT
from argosy.memory.learning.judge import WITH_COSTS, judge_families, table
from argosy.memory.learning.measured import measure_policies
from argosy.memory.learning.phased import phased as phased_workload

NBYTES = 32 << 20


def learner(options: Options) -> list[Figure]:
    """predicted time on held-out families of phase-changing runs, against Belady and greedy with hysteresis"""
    judged = judge_families(cases=4 if options.quick else 20)
    print(table(judged, who=WITH_COSTS, to="hysteresis with costs"), flush=True)
    print(table(judged), flush=True)
    figures: list[Figure] = []
    for what, greedy in (("learned with costs", "hysteresis with costs"), ("learned", "hysteresis")):
        to_belady = [one.ratio(what, "belady") for one in judged]
        to_greedy = [one.ratio(what, greedy) for one in judged]
        figures += [
            Figure(what=f"{what} against Belady, mean", value=float(np.mean(to_belady)), unit="x", at_most=1.05),
            Figure(what=f"{what} against Belady, worst run", value=max(to_belady), unit="x"),
            Figure(what=f"{what} against {greedy}, mean", value=float(np.mean(to_greedy)), unit="x"),
            Figure(what=f"{what} against {greedy}, worst run", value=max(to_greedy), unit="x", at_most=1.02),
        ]
    return [*figures, Figure(what="runs judged", value=len(judged))]


def phased(options: Options) -> list[Figure]:
    """measured time of a program whose phases change, under each policy"""
    figures: list[Figure] = []
    for family in tuple(HELD_OUT)[: 1 if options.quick else None]:
        workload = phased_workload(family, 0, nbytes=NBYTES)
        estimator = calibrate(workload, repeats=2, law="additive", noise=1.0)
        timed = measure_policies(workload, estimator, estimator.costs.nbytes // 2, repeats=options.rounds or 3)
        found = {one.policy: one for one in timed}
        learned = found["learned"].median_seconds
        for other, one in found.items():
            if other == "learned":
                continue
            wish = 1.05 if other == "belady" else 1.02 if other == "hysteresis" else None
            figures.append(
                Figure(
                    what=f"{family}: learned against {other}",
                    value=learned / one.median_seconds,
                    unit="x",
                    at_most=wish,
                    note=f"{learned:.2f} and {one.median_seconds:.2f} s, measured",
                )
            )
    return figures
