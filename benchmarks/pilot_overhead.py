"""What a pilot costs over bare `mpiexec`, for the same SPMD function on the same number of ranks.

Both sides start fresh, run the function once to warm up and then several times. Bare: seconds from barrier to barrier
inside the function; once with MPI as it comes (which binds ranks to cores) and once with the pilot's settings. Pilot:
the same seconds, and the seconds from `submit` to `result()`. Sides take turns and swap who goes first.

    python benchmarks/pilot_overhead.py --ranks 2 --rows 1000000 --rounds 12 --times 3     the pilot's side alone
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from children import HERE, TUNED, answer, ask, mpiexec
from figures import Figure, Options, spread
from work.sort import sort_rows

_LIMIT_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Case:
    ranks: int
    rows: int
    """On each rank."""
    rounds: int
    """So many that the function runs for a second or more."""
    bare: list[list[float]] = field(default_factory=list)
    """For each turn, the seconds of each run."""
    tuned: list[list[float]] = field(default_factory=list)
    """The same with the pilot's settings of MPI."""
    pilot: list[list[tuple[float, float]]] = field(default_factory=list)
    """For each turn, for each run: seconds inside the function, seconds from submit to result."""

    def __str__(self) -> str:
        return f"{self.ranks} x {self.rows / 1e6:g} M rows"


def overhead(options: Options) -> list[Figure]:
    """The same SPMD function (sort, matrix product, all-reduce) under bare mpiexec and as a task of a pilot."""
    large, rounds = options.count(4_000_000, 400_000), options.count(3, 2)
    cases = [Case(ranks, rows, rounds * large // rows) for ranks in (1, 2) for rows in (large // 4, large)]
    times = options.count(3, 2)
    for turn in range(options.turns(5, 1)):
        for case in cases:
            bare, pilot = _bare_command(case, times), _pilot_command(case, times)
            sides: list[tuple[list[Any], list[str], dict[str, str]]] = [
                (case.bare, bare, {}),
                (case.pilot, pilot, {}),
                (case.tuned, bare, TUNED),
            ]
            for into, command, extra in sides if turn % 2 == 0 else reversed(sides):
                into.append(ask(command, timeout_seconds=_LIMIT_SECONDS, extra=extra))
    return [figure for case in cases for figure in _figures(case)] + _constancy(cases)


def _figures(case: Case) -> list[Figure]:
    bare = [seconds for turn in case.bare for seconds in turn]
    tuned = [seconds for turn in case.tuned for seconds in turn]
    inside = [seconds for turn in case.pilot for seconds, _ in turn]
    return [
        Figure(what=f"{case}: bare", value=median(bare), unit="s", note=f"+-{spread(bare):.1%} of {len(bare)}"),
        Figure(what=f"{case}: bare, tuned", value=median(tuned), unit="s", note=f"+-{spread(tuned):.1%}"),
        Figure(what=f"{case}: inside the task", value=median(inside), unit="s", note=f"+-{spread(inside):.1%}"),
        Figure(what=f"{case}: submit to result beyond that", value=median(_handling(case)) * 1e3, unit="ms"),
        Figure(what=f"{case}: cost over bare", value=100 * _cost(case, case.bare), unit="%", at_most=1.0),
        Figure(what=f"{case}: cost over bare, tuned", value=100 * _cost(case, case.tuned), unit="%", at_most=1.0),
    ]


def _constancy(cases: list[Case]) -> list[Figure]:
    """The handling of a task, which is all a pilot adds, should not depend on its ranks or rows."""
    middle = [median(_handling(case)) * 1e3 for case in cases]
    shortest = min(median(seconds for turn in case.bare for seconds in turn) for case in cases) * 1e3
    return [
        Figure(what="handling, the largest of all cases", value=max(middle), unit="ms"),
        Figure(what="handling, the largest less the smallest", value=max(middle) - min(middle), unit="ms"),
        Figure(what="the largest, as a share of the shortest case", value=100 * max(middle) / shortest, unit="%"),
    ]


def _handling(case: Case) -> list[float]:
    """Seconds from submit to result that were not spent inside the function."""
    return [whole - inside for turn in case.pilot for inside, whole in turn]


def _cost(case: Case, bare: list[list[float]]) -> float:
    """Of submit to result over bare, turn by turn, so that a slow minute of the machine hits both sides."""
    ratios = [
        median(whole for _, whole in ours) / median(theirs) for ours, theirs in zip(case.pilot, bare, strict=True)
    ]
    return median(ratios) - 1


def _shape(case: Case, times: int) -> list[str]:
    return ["--rows", str(case.rows), "--rounds", str(case.rounds), "--times", str(times)]


def _bare_command(case: Case, times: int) -> list[str]:
    script = str(HERE / "work" / "sort.py")
    return [mpiexec(), "-n", str(case.ranks), sys.executable, script, *_shape(case, times)]


def _pilot_command(case: Case, times: int) -> list[str]:
    return [sys.executable, __file__, "--ranks", str(case.ranks), *_shape(case, times)]


def main() -> None:
    """The pilot's side, in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--times", type=int, default=3)
    arguments = parser.parse_args()

    import argosy

    seconds = []
    with argosy.Pilot(ranks=arguments.ranks) as pilot:
        for _ in range(1 + arguments.times):
            begin = time.perf_counter()
            inside = pilot.submit(sort_rows, arguments.rows, arguments.rounds, ranks=arguments.ranks).result()
            seconds.append((inside, time.perf_counter() - begin))
    answer(seconds[1:])


if __name__ == "__main__":
    main()
