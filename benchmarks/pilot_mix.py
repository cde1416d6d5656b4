"""Twelve tasks of 1, 2 and 4 ranks and unequal length: a 4-rank pilot against batch jobs on the same 4 ranks.

Batch, three ways, every job an `mpiexec` of its own, not bound to cores, and all lengths known in advance:

- one after another;
- halves: the 4-rank jobs one after another, then two halves of 2 ranks side by side, each with its list of jobs, dealt
  longest first to the half that is free first;
- the best split: of halves, a half and two quarters, and halves first and quarters after, whichever the known lengths
  and the time an mpiexec takes say is shortest, with the pilot's settings of MPI, which start faster. Nobody has this
  at hand; it is here so that the pilot is not flattered.

The pilot gets all tasks at once, largest and longest first (the same knowledge), and in a second run as they are
listed (no knowledge); its time includes its own start and end. Every arm is run again with empty jobs: that is about
the part of its time that is start-up alone.

    python benchmarks/pilot_mix.py sleep listed --factor 1     the pilot's side alone
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median

from children import HERE, TUNED, answer, ask, mpiexec
from figures import Figure, Options
from work.job import job

RANKS = 4
_LIMIT_SECONDS = 600
_SCRIPT = (sys.executable, str(HERE / "work" / "job.py"))
_START_SECONDS = 0.3
"""What the best split reckons for the start and end of an mpiexec."""
UNBOUND = {"PRTE_MCA_hwloc_default_binding_policy": "none"}
"""Two mpiexec side by side do not know of one another and would bind their ranks to the same cores."""


@dataclass(frozen=True, slots=True)
class Job:
    ranks: int
    seconds: float
    """Of each of its ranks, on a core of its own."""


JOBS = tuple(
    Job(ranks, seconds)
    for ranks, seconds in (
        *((2, 6.0), (1, 8.0), (4, 4.0), (1, 4.0), (2, 3.0), (4, 2.0)),
        *((1, 6.0), (2, 5.0), (1, 3.0), (4, 3.0), (1, 5.0), (2, 2.0)),
    )
)

Plan = list[list[list[Job]]]
"""Phases one after another; in each, lanes side by side; in each lane, jobs one after another."""


def mix(options: Options) -> list[Figure]:
    """Twelve tasks of 1, 2 and 4 ranks and unequal length on a 4-rank pilot, against the same work as batch jobs."""
    kinds = ("sleep", "cpu") if options.work == "both" else (options.work,)
    return [figure for kind in kinds for figure in _compare(kind, options)]


def _compare(kind: str, options: Options) -> list[Figure]:
    scale = options.count(100, 20) / 100
    speed = 1.0 if kind == "sleep" else ask([*_SCRIPT, "speed"], timeout_seconds=_LIMIT_SECONDS)
    plans = {
        "one after another": one_after_another(JOBS),
        "halves": halves(JOBS),
        "best split": best_split(JOBS, scale),
    }
    arms: dict[str, Callable[[float], None]] = {
        "one after another": lambda factor: _batch(plans["one after another"], kind, factor, UNBOUND),
        "halves": lambda factor: _batch(plans["halves"], kind, factor, UNBOUND),
        "best split": lambda factor: _batch(plans["best split"], kind, factor, TUNED),
        "pilot": lambda factor: _pilot(kind, "largest", factor),
        "pilot, as listed": lambda factor: _pilot(kind, "listed", factor),
    }
    seconds: dict[str, list[float]] = defaultdict(list)
    empty: dict[str, list[float]] = defaultdict(list)
    for _ in range(options.turns(2, 1)):
        for into, factor in ((seconds, speed * scale), (empty, 0.0)):
            for name, arm in arms.items():
                begin = time.monotonic()
                arm(factor)
                into[name].append(time.monotonic() - begin)
    whole = {name: median(values) for name, values in seconds.items()}
    idle = {name: median(values) for name, values in empty.items()}
    label = "waiting ranks" if kind == "sleep" else "computing ranks"
    figures = [
        Figure(what=f"{label}: {name}", value=whole[name], unit="s", note=f"of it start-up {idle[name]:.1f} s")
        for name in arms
    ]
    worked = {name: whole[name] - idle[name] for name in arms}
    if kind == "sleep":  # known exactly; start-ups of jobs side by side overlap, so the difference would be too small
        worked |= {name: _planned(plan, scale) for name, plan in plans.items()}
    rivals = ("one after another", "halves")
    better = min(whole[name] for name in rivals)
    best = min(whole[name] for name in plans)
    best_worked = min(worked[name] for name in plans)
    return [
        *figures,
        _less(f"{label}: pilot, against the better of the first two", whole["pilot"], better, at_least=15.0),
        _less(f"{label}: pilot as listed, against the same", whole["pilot, as listed"], better),
        _less(f"{label}: pilot, against the best split too", whole["pilot"], best),
        _less(f"{label}: the last, without any start-up", worked["pilot"], best_worked),
    ]


def _less(what: str, ours: float, theirs: float, *, at_least: float | None = None) -> Figure:
    return Figure(what=what, value=100 * (1 - ours / theirs), unit="% less", at_least=at_least)


def one_after_another(jobs: Sequence[Job]) -> Plan:
    return [[list(jobs)]]


def halves(jobs: Sequence[Job]) -> Plan:
    return [_deal(_of(jobs, 4), [4]), _deal(_of(jobs, 1, 2), [2, 2])]


def best_split(jobs: Sequence[Job], scale: float) -> Plan:
    plans = [
        halves(jobs),
        [_deal(_of(jobs, 4), [4]), _deal(_of(jobs, 1, 2), [2, 1, 1])],
        [_deal(_of(jobs, 4), [4]), _deal(_of(jobs, 2), [2, 2]), _deal(_of(jobs, 1), [1, 1, 1, 1])],
    ]
    return min(plans, key=lambda plan: _planned(plan, scale, _START_SECONDS))


def _of(jobs: Sequence[Job], *ranks: int) -> list[Job]:
    return [job for job in jobs if job.ranks in ranks]


def _deal(jobs: Sequence[Job], widths: Sequence[int]) -> list[list[Job]]:
    """Longest first, each to the lane wide enough for it that is free first, the narrowest of several."""
    lanes: list[list[Job]] = [[] for _ in widths]
    for one in sorted(jobs, key=lambda job: -job.seconds):
        fitting = [number for number, width in enumerate(widths) if width >= one.ranks]
        lanes[min(fitting, key=lambda number: (_length(lanes[number], 1.0, _START_SECONDS), widths[number]))].append(
            one
        )
    return lanes


def _length(lane: Sequence[Job], scale: float, start_seconds: float = 0.0) -> float:
    return sum(start_seconds + scale * one.seconds for one in lane)


def _planned(plan: Plan, scale: float, start_seconds: float = 0.0) -> float:
    """How long it takes on cores of its own when each start takes so long."""
    return sum(max(_length(lane, scale, start_seconds) for lane in lanes) for lanes in plan)


def _batch(plan: Plan, kind: str, factor: float, extra: Mapping[str, str]) -> None:
    for lanes in plan:
        with ThreadPoolExecutor(len(lanes)) as side_by_side:
            list(side_by_side.map(lambda lane: _run_lane(lane, kind, factor, extra), lanes))


def _run_lane(lane: Sequence[Job], kind: str, factor: float, extra: Mapping[str, str]) -> None:
    for one in lane:
        script = [*_SCRIPT, kind, str(factor * one.seconds)]
        ask([mpiexec(), "-n", str(one.ranks), *script], timeout_seconds=_LIMIT_SECONDS, extra=extra)


def _pilot(kind: str, order: str, factor: float) -> None:
    done = ask([sys.executable, __file__, kind, order, "--factor", str(factor)], timeout_seconds=_LIMIT_SECONDS)
    if sorted(done) != sorted(one.ranks for one in JOBS):
        raise AssertionError(f"the tasks ran on {done} ranks")


def main() -> None:
    """The pilot's side, in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("sleep", "cpu"))
    parser.add_argument("order", choices=("listed", "largest"))
    parser.add_argument("--factor", type=float, default=1.0, help="seconds, or steps, for each second of a job")
    arguments = parser.parse_args()
    jobs = list(JOBS)
    if arguments.order == "largest":
        jobs.sort(key=lambda one: (-one.ranks, -one.seconds))

    import argosy

    with argosy.Pilot(ranks=RANKS) as pilot:
        futures = [pilot.submit(job, arguments.kind, arguments.factor * one.seconds, ranks=one.ranks) for one in jobs]
        done = [future.result() for future in futures]
    answer(done)


if __name__ == "__main__":
    main()
