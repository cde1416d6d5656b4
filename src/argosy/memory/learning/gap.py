"""Why a policy that sees only the past is above Belady: `python -m argosy.memory.learning.gap`.

The same rehearsal decides, but is told what the next 1, 2, 4, ... windows of the run will cost, and expects what it
expects beyond. What is left of the gap when the whole run is told is the rehearsal's own fault; what goes away on the
way there is what could not be foreseen. All figures are predicted, on the held-out families or, with
`--taught`, on those that taught, with seeds that did not.
"""

from __future__ import annotations

import argparse

import numpy as np

from argosy.memory.costs import Costs
from argosy.memory.learning.families import HELD_OUT, TAUGHT
from argosy.memory.learning.features import round_trip_seconds
from argosy.memory.learning.mixture import Mixture
from argosy.memory.learning.phases import Case, case
from argosy.memory.learning.policy import Rehearsed, learned_policy
from argosy.memory.learning.swaps import Floats
from argosy.memory.placement import Slow
from argosy.memory.planning.belady import belady
from argosy.memory.planning.exact import exact
from argosy.memory.planning.policy import Observation, Policy
from argosy.memory.planning.simulate import price, simulate

FIRST_SEED = 6_000
"""Of the runs of taught families; the teaching begins at 100,000."""
TOLD = (0, 1, 2, 4, 8)
ALL = 1_000_000


class Told:
    """The next `windows` windows of these costs as they are, and what a mixture of forecasts expects beyond: to be
    rehearsed."""

    def __init__(self, costs: Costs, windows: int) -> None:
        self._slow = costs.per_occurrence().slow
        self._windows = windows
        self._mixture = Mixture(0)

    def __call__(self, observation: Observation) -> Floats:
        if observation.step == 0:
            self._mixture = Mixture(len(observation.sizes))
        trip, share = round_trip_seconds(observation), observation.sizes / observation.capacity
        if observation.step > 0:
            self._mixture.see(observation.window_name, observation.recent / trip, share)
        expected = self._mixture.guess(observation.next_name) * trip
        coming = self._slow[observation.step :]
        told = coming[: self._windows]
        return np.vstack([told, expected[len(told) :]])[: len(coming)]


def ratios(one: Case) -> dict[str, float]:
    """Of one run: each way of deciding over Belady, in predicted seconds."""
    costs, moves, capacity = one.costs, one.moves, one.capacity
    slow = np.ones(len(costs.objects), dtype=np.bool_)
    still = exact(costs, capacity).rows[0]

    def seconds(policy: Policy, start: Slow | None = None) -> float:
        return simulate(costs, moves, capacity, policy, start=start).seconds

    reference = price(costs, moves, belady(costs, moves, capacity, start=slow).rows, start=slow).seconds
    found = {
        "learned": seconds(learned_policy()),
        "learned, with costs": seconds(learned_policy(costs=costs)),
        "learned, from the best placement": seconds(learned_policy(), still),
        **{f"plan, told {windows}": seconds(Rehearsed(Told(costs, windows))) for windows in TOLD},
        "plan, told all": seconds(Rehearsed(Told(costs, ALL))),
        "plan, told all, from the best placement": seconds(Rehearsed(Told(costs, ALL)), still),
    }
    return {name: each / reference for name, each in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m argosy.memory.learning.gap", description="Predicted.")
    parser.add_argument("--cases", type=int, default=20, help="runs of each family")
    parser.add_argument("--taught", action="store_true", help="the families that taught, with other seeds")
    asked = parser.parse_args()
    families, first = (TAUGHT, FIRST_SEED) if asked.taught else (HELD_OUT, 0)
    found = {family: [ratios(case(family, seed)) for seed in range(first, first + asked.cases)] for family in families}
    found["all"] = [each for of in found.values() for each in of]
    print("| over Belady | " + " | ".join(found) + " |\n|---|" + "---:|" * len(found))
    for name in found["all"][0]:
        means = (float(np.mean([each[name] for each in of])) for of in found.values())
        print(f"| {name} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |")


if __name__ == "__main__":
    main()
