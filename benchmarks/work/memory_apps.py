"""The five mini-apps: predicted against measured on placements that were not calibrated on."""

from __future__ import annotations

import os
from contextlib import closing

from figures import Figure, Options

from argosy.memory import miniapps
from argosy.memory.publishing import publish
from argosy.memory.validating import calibrate_and_validate
from argosy.memory.workload import traced

PLACEMENTS = 200


def apps(options: Options) -> list[Figure]:
    """mini-apps in main memory and on disk, law auto, held-out placements (ARGOSY_PUBLISH=FOLDER: ground truth)"""
    figures: list[Figure] = []
    for name in miniapps.APPS:
        workload = miniapps.load(name)
        placements = 20 if options.quick else PLACEMENTS
        runs, found = calibrate_and_validate(workload, placements, repeats=options.rounds)
        print(found, flush=True)
        if folder := os.environ.get("ARGOSY_PUBLISH"):
            with closing(workload.store()) as store:
                publish(folder, runs, found, traced(workload, store))
        note = f"law {found.law}, {len(found.rows)} placements"
        figures += [
            Figure(what=f"{name}: mean error", value=100 * found.mean_error, unit="%", at_most=4.4, note=note),
            Figure(what=f"{name}: Kendall tau", value=found.kendall_tau, at_least=0.9),
            Figure(what=f"{name}: within 10 %", value=100 * found.within_10_percent, unit="%", at_least=91),
            Figure(what=f"{name}: largest error", value=100 * found.largest_error, unit="%"),
            Figure(what=f"{name}: mean error at one pace", value=100 * found.error_at_one_pace, unit="%"),
            Figure(what=f"{name}: noise of a run", value=100 * found.noise, unit="%"),
        ]
        figures += [
            Figure(
                what=f"{name}: plan at {one.capacity}, slower than the best tried",
                value=100 * one.regret,
                unit="%",
                at_most=2,
            )
            for one in found.chosen
        ]
    return figures
