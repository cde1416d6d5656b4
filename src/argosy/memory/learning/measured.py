"""How good it is for real: a program whose phases change, between memory and disk, measured beside predicted.

`python -m argosy.memory.learning.measured --family nested_loops` calibrates the program, runs it under each policy in
turn, several times over, and prints both times. Every run begins with everything slow, and its moves are part of it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import numpy as np

from argosy.memory.calibrating import calibrate
from argosy.memory.estimator import Estimator
from argosy.memory.learning.apply import Scheduled, follow
from argosy.memory.learning.families import HELD_OUT
from argosy.memory.learning.phased import phased
from argosy.memory.learning.policy import Primed, learned_policy, q_policy, typical_of
from argosy.memory.placement import Slow
from argosy.memory.planning.belady import belady
from argosy.memory.planning.exact import exact
from argosy.memory.planning.online import Hysteresis
from argosy.memory.planning.policy import Policy
from argosy.memory.planning.simulate import price, simulate
from argosy.memory.store import Store
from argosy.memory.workload import Workload


@dataclass(frozen=True, kw_only=True, slots=True)
class Timed:
    """One program under one policy."""

    policy: str
    predicted_seconds: float
    seconds: tuple[float, ...]
    """Measured, one for each repeat."""

    @property
    def median_seconds(self) -> float:
        return statistics.median(self.seconds)


def measure_policies(workload: Workload, estimator: Estimator, capacity: int, *, repeats: int = 3) -> list[Timed]:
    """In interleaved order: learned, DQN, hysteresis, all with the costs; static, belady."""
    costs, moves = estimator.costs, estimator.moves
    slow = np.ones(len(costs.objects), dtype=np.bool_)
    still = np.repeat(exact(costs, capacity).rows, len(costs.order), axis=0)
    schedules: dict[str, Slow] = {"static": still, "belady": belady(costs, moves, capacity, start=slow).rows}
    online: dict[str, Callable[[], Policy]] = {
        "learned": partial(learned_policy, costs=costs),
        "DQN": partial(q_policy, costs=costs),
        "hysteresis": lambda: Primed(Hysteresis(), typical_of(costs)),
    }
    predicted = {name: simulate(costs, moves, capacity, make()).seconds for name, make in online.items()}
    predicted |= {name: price(costs, moves, rows, start=slow).seconds for name, rows in schedules.items()}
    taken: dict[str, list[float]] = {name: [] for name in predicted}
    with closing(workload.store()) as store:
        for _ in range(repeats):
            for name in predicted:
                rows = schedules.get(name)
                policy: Policy = Scheduled(rows) if rows is not None else online[name]()
                taken[name].append(_timed(workload, store, estimator, capacity, policy))
    return [Timed(policy=name, predicted_seconds=predicted[name], seconds=tuple(of)) for name, of in taken.items()]


def _timed(workload: Workload, store: Store, estimator: Estimator, capacity: int, policy: Policy) -> float:
    """From everything slow: the run, and all moves before and in it."""
    store.place(dict.fromkeys(estimator.costs.objects, estimator.slow))
    store.forget()
    began = time.perf_counter()
    with follow(store, policy, capacity, moves=estimator.moves, costs=estimator.costs):
        workload.run(store)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m argosy.memory.learning.measured", description="Measured.")
    parser.add_argument("--family", choices=list(HELD_OUT), action="append", help="one or several (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=0.5, help="of all objects that fits into fast memory")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--nbytes", type=int, default=64 << 20, help="of all objects together")
    parser.add_argument("--placements", type=int, default=None, help="that the program is calibrated on")
    asked = parser.parse_args()
    print("| program | policy | predicted s | measured s (median) | least | most | measured / Belady |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for family in asked.family or list(HELD_OUT):
        workload = phased(family, asked.seed, nbytes=asked.nbytes)
        estimator = calibrate(workload, repeats=2, placements=asked.placements, law="additive", noise=1.0)
        capacity = int(asked.share * estimator.costs.nbytes)
        timed = measure_policies(workload, estimator, capacity, repeats=asked.repeats)
        reference = next(one.median_seconds for one in timed if one.policy == "belady")
        for one in timed:
            cells = [one.predicted_seconds, one.median_seconds, min(one.seconds), max(one.seconds)]
            numbers = " | ".join(f"{cell:.2f}" for cell in cells)
            print(f"| {family} | {one.policy} | {numbers} | {one.median_seconds / reference:.3f} |", flush=True)


if __name__ == "__main__":
    main()
