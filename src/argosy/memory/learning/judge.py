"""How good it is, on families of runs that it was not taught on: `python -m argosy.memory.learning.judge`.

Every figure is predicted time, moves included, of a run that begins with everything slow. Policies see the past
and the name of the window that comes; "static" is the best single placement, Belady and the bound know the whole run.
Those "with costs" know beforehand what each object costs in the mean window of the run, and in that of each name, and
not when those come: what an estimator knows of a program.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from argosy.memory.learning.families import HELD_OUT, UNSEEN
from argosy.memory.learning.phases import Case, case
from argosy.memory.learning.policy import Primed, learned_policy, q_policy, typical_of
from argosy.memory.learning.prices import bound_seconds
from argosy.memory.learning.tabular import Tabular
from argosy.memory.learning.weights import load
from argosy.memory.planning.belady import belady
from argosy.memory.planning.exact import exact
from argosy.memory.planning.online import Hysteresis
from argosy.memory.planning.policy import Policy
from argosy.memory.planning.simulate import price, simulate

CASES_PER_FAMILY = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """Predicted seconds of one run."""

    case: Case
    seconds: dict[str, float]
    """By policy: learned, DQN, tabular, hysteresis, static, belady, bound; and "learned with costs", "DQN with costs",
    "hysteresis with costs"."""

    def ratio(self, who: str, to: str) -> float:
        return self.seconds[who] / self.seconds[to]


def judge(one: Case, weights: str | None = None) -> Judged:
    """All of them on one run."""
    costs, moves, capacity = one.costs, one.moves, one.capacity
    slow = np.ones(len(costs.objects), dtype=np.bool_)
    policies: dict[str, Callable[[], Policy]] = {
        "learned": lambda: learned_policy(weights),
        "DQN": lambda: q_policy(weights),
        "tabular": lambda: Tabular(load(weights)["table"]).policy(),
        "hysteresis": Hysteresis,
        "learned with costs": lambda: learned_policy(weights, costs=costs),
        "DQN with costs": lambda: q_policy(weights, costs=costs),
        "hysteresis with costs": lambda: Primed(Hysteresis(), typical_of(costs)),
    }
    seconds = {name: simulate(costs, moves, capacity, make()).seconds for name, make in policies.items()}
    still = np.repeat(exact(costs, capacity).rows, len(costs.windows), axis=0)
    seconds["static"] = price(costs, moves, still, start=slow).seconds
    seconds["belady"] = price(costs, moves, belady(costs, moves, capacity, start=slow).rows, start=slow).seconds
    seconds["bound"] = bound_seconds(costs, moves, capacity)
    return Judged(case=one, seconds=seconds)


def judge_families(
    families: Iterable[str] = tuple(HELD_OUT), *, cases: int = CASES_PER_FAMILY, weights: str | None = None
) -> list[Judged]:
    """Seeds 0, 1, ... of each family."""
    return [judge(case(family, seed), weights) for family in families for seed in range(cases)]


PAST_ALONE = ("learned", "DQN", "tabular", "hysteresis", "static", "bound")
WITH_COSTS = ("learned with costs", "DQN with costs", "hysteresis with costs")


def table(judged: Sequence[Judged], *, who: Sequence[str] = PAST_ALONE, to: str = "hysteresis") -> str:
    """Means over the runs of each family, as a Markdown table: each over Belady, and the first over `to`."""
    lines = [
        "| family | "
        + " | ".join(f"{name} / Belady" for name in who)
        + f" | {who[0]} / {to}: mean | worst | over 1.02 |",
        "|---|" + "---:|" * (len(who) + 3),
    ]
    rows = {one.case.family: [other for other in judged if other.case.family == one.case.family] for one in judged}
    for name, of in [*rows.items(), ("all", list(judged))]:
        means = [float(np.mean([one.ratio(other, "belady") for one in of])) for other in who]
        over = [one.ratio(who[0], to) for one in of]
        cells = [*(f"{mean:.3f}" for mean in means), f"{np.mean(over):.3f}", f"{max(over):.3f}"]
        cells.append(f"{sum(each > 1.02 for each in over)} of {len(of)}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m argosy.memory.learning.judge", description="Predicted, held out.")
    parser.add_argument("--cases", type=int, default=CASES_PER_FAMILY, help="runs of each family")
    parser.add_argument("--weights", default=None, help="a file of `train` instead of the shipped one")
    parser.add_argument("--unseen", action="store_true", help="the families that nobody had seen who made the policy")
    asked = parser.parse_args()
    judged = judge_families(UNSEEN if asked.unseen else HELD_OUT, cases=asked.cases, weights=asked.weights)
    print(table(judged))
    print()
    print(table(judged, who=WITH_COSTS, to="hysteresis with costs"))


if __name__ == "__main__":
    main()
