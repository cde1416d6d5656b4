"""This checkout against an earlier one: is anything slower than it was?

    git worktree add ../before HEAD~50
    python benchmarks/checkouts.py ../before                    everything, about fifteen minutes
    python benchmarks/checkouts.py ../before --only frame,tree  some of it

Both sides stay up, each in a process of its own with its own `src`, and take turns, the first of one round the last of
the next. What is printed is this side's time over the other's, round by round, of its median; above 1 is slower.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import machine
from children import HERE, ChildFailed, environment
from figures import Figure, spread
from work.checkout_jobs import PARTS

SLOWER = 1.05
"""More than this is a finding."""


@dataclass(frozen=True, slots=True)
class Side:
    """One part of one checkout, up and waiting for the name of a job."""

    process: subprocess.Popen[str]

    def seconds(self, job: str) -> float:
        assert self.process.stdin is not None  # both are pipes
        assert self.process.stdout is not None
        print(job, file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            if line.startswith("SECONDS "):
                return float(line.removeprefix("SECONDS "))
        raise ChildFailed(f"{self.process.args} ended when it was asked for: {job}")


@contextmanager
def open_side(part: str, source: Path) -> Iterator[Side]:
    """On leaving it ends, or is ended when it does not within half a minute."""
    path = os.pathsep.join([str(source), environment()["PYTHONPATH"]])
    process = subprocess.Popen(
        [sys.executable, str(HERE / "work" / "checkout_jobs.py"), part],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**environment(), "PYTHONPATH": path},
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield Side(process)
    finally:
        process.stdin.close()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()


@dataclass(frozen=True, slots=True)
class Sides:
    """One part of the package, as it is here and as it was there."""

    now: Side
    before: Side

    def turns(self, job: str, rounds: int) -> tuple[list[float], list[float]]:
        """Seconds of both sides, after two rounds that do not count."""
        now: list[float] = []
        before: list[float] = []
        for turn in range(rounds + 2):
            order = ((self.now, now), (self.before, before))
            for side, seconds in order if turn % 2 == 0 else reversed(order):
                took = side.seconds(job)
                if turn >= 2:
                    seconds.append(took)
        return now, before


def compare(part: str, other: Path, rounds: int) -> list[Figure]:
    figures = []
    with ExitStack() as stack:
        here = stack.enter_context(open_side(part, HERE.parent / "src"))
        there = stack.enter_context(open_side(part, other / "src"))
        sides = Sides(here, there)
        for job in PARTS[part]:
            now, before = sides.turns(job, rounds)
            pairs = [one / another for one, another in zip(now, before, strict=True)]
            note = f"{median(now):.4g} s and {median(before):.4g} s; +-{spread(pairs):.0%} of {len(pairs)}"
            note += f"; fastest over fastest {min(now) / min(before):.3f}"
            figures.append(Figure(what=f"{part}, {job}", value=median(pairs), unit="x", at_most=SLOWER, note=note))
            print(figures[-1], flush=True)
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="the folder of the other checkout")
    parser.add_argument("--only", help=f"some of {','.join(PARTS)}")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures here as well")
    arguments = parser.parse_args()
    if not (arguments.other / "src" / "argosy").is_dir():
        parser.error(f"{arguments.other} is not a checkout: it has no src/argosy")
    names = arguments.only.split(",") if arguments.only else list(PARTS)
    if unknown := sorted(set(names) - set(PARTS)):
        parser.error(f"no part is called {', '.join(unknown)}; there are {', '.join(PARTS)}")
    print(machine.text(), flush=True)
    figures = [figure for name in names for figure in compare(name, arguments.other.resolve(), arguments.rounds)]
    if arguments.json is not None:
        arguments.json.write_text(json.dumps([figure.as_dict() for figure in figures], indent=1) + "\n")
    return 0 if all(figure.ok for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
