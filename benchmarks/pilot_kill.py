"""kill -9 of a rank inside a collective, again and again, while other tasks run that must not notice.

    python benchmarks/pilot_kill.py --times 50

It runs in a process of its own, so that a hang is seen from outside and costs only that process.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from children import answer, ask
from figures import Figure, Options
from work.fatal import carries_on, dies_once

RANKS = 6
SMALL, LARGE = 2, 3
"""Ranks of the tasks that carry on, and of those that lose one."""
_SECONDS_EACH = 15
"""A kill and its rerun that take longer than this on average count as a hang."""


@dataclass(slots=True)
class Record:
    """What was seen."""

    wrong: list[str] = field(default_factory=list)
    """Results and errors that should not have been."""
    right: int = 0
    kills: int = 0
    rerun_seconds: list[float] = field(default_factory=list)
    """From submit to the result of the second attempt."""
    back_seconds: list[float] = field(default_factory=list)
    """From the kill to the start of the second attempt."""
    others: list[int] = field(default_factory=list)
    """Other tasks that ended well, by number."""
    started_twice: int = 0


def kill(options: Options) -> list[Figure]:
    """A rank of a 3-rank task kills itself while its peers sit in an all-reduce; 2-rank tasks run all the time."""
    times = options.count(50, 5)
    limit = 60 + _SECONDS_EACH * times
    begin = time.monotonic()
    command = [sys.executable, __file__, "--times", str(times), "--limit", str(limit)]
    seen = Record(**ask(command, timeout_seconds=limit + 30))
    for line in seen.wrong[:5]:
        print(f"  {line}")
    return [
        Figure(what=f"reruns with the right result, of {times} kills", value=seen.right, at_least=times),
        Figure(what="ranks that really were killed", value=seen.kills, at_least=times),
        Figure(what="wrong results and errors, other tasks included", value=len(seen.wrong), at_most=0),
        Figure(what="other tasks started twice", value=seen.started_twice, at_most=0, note=f"of {len(seen.others)}"),
        Figure(what="other tasks that ended well meanwhile", value=len(seen.others), at_least=times),
        Figure(
            what="submit to the rerun's result, median",
            value=1e3 * median(seen.rerun_seconds or [float("nan")]),
            unit="ms",
            note=f"longest {1e3 * max(seen.rerun_seconds, default=float('nan')):,.0f} ms",
        ),
        Figure(
            what="kill to the rerun's start, median", value=1e3 * median(seen.back_seconds or [float("nan")]), unit="ms"
        ),
        Figure(what="the whole run", value=time.monotonic() - begin, unit="s", at_most=limit),
    ]


def watch(times: int, folder: Path) -> Record:
    """Kill a rank `times` times, one after another, with two feeders of other tasks on the same pilot."""
    import argosy

    seen, stop, log = Record(), threading.Event(), folder / "others"
    with argosy.Pilot(ranks=RANKS) as pilot:
        feeders = [
            threading.Thread(target=_feed, args=(pilot, log, first, stop, seen), daemon=True)
            for first in (1_000_000, 2_000_000)
        ]
        for feeder in feeders:
            feeder.start()
        for number in range(1, times + 1):
            _kill_once(pilot, folder / f"killed-{number}", number, seen)
        stop.set()
        for feeder in feeders:
            feeder.join()
    starts = Counter(log.read_text().splitlines())
    seen.started_twice = len({line.split()[0] for line, count in starts.items() if count > 1})
    return seen


def _kill_once(pilot: Any, marker: Path, number: int, seen: Record) -> None:
    begin = time.monotonic()
    try:
        value, restarted = pilot.submit(dies_once, str(marker), number, ranks=LARGE, retries=1).result()
    except Exception as error:  # every error is a finding, whatever its class
        seen.wrong.append(f"kill {number}: {type(error).__name__}: {error}")
        return
    seen.rerun_seconds.append(time.monotonic() - begin)
    if marker.exists():
        seen.kills += 1
        seen.back_seconds.append(restarted - float(marker.read_text()))
    if value == number * sum(range(LARGE)):
        seen.right += 1
    else:
        seen.wrong.append(f"kill {number}: the rerun returned {value}")


def _feed(pilot: Any, log: Path, first: int, stop: threading.Event, seen: Record) -> None:
    """Other tasks, one after another, until told to stop."""
    number = first
    while not stop.is_set() and len(seen.wrong) < 100:
        number += 1
        try:
            value = pilot.submit(carries_on, str(log), number, ranks=SMALL).result()
        except Exception as error:  # as above
            seen.wrong.append(f"other task {number}: {type(error).__name__}: {error}")
            continue
        if value == number + SMALL:
            seen.others.append(number)
        else:
            seen.wrong.append(f"other task {number} returned {value}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--limit", type=float, default=900.0, help="seconds after which it counts as a hang")
    arguments = parser.parse_args()
    faulthandler.dump_traceback_later(arguments.limit, exit=True)
    with tempfile.TemporaryDirectory() as folder:
        answer(asdict(watch(arguments.times, Path(folder))))


if __name__ == "__main__":
    main()
