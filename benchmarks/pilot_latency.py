"""How soon, how fast and how quietly: start, round trip, throughput and idle CPU, of the pilot and of its peers."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from children import TUNED, Child, ChildFailed, ask, child, mpiexec
from figures import Figure, Options, spread
from pilot_peers import OURS, PEERS, SYSTEMS, command, installed

_LIMIT_SECONDS = 180
"""Of any one child."""


def start(options: Options) -> list[Figure]:
    """From nothing to the first result, in fresh interpreters, against an `mpiexec` that only starts MPI and ends."""
    bare = [mpiexec(), "-n", "2", sys.executable, "-c", "from mpi4py import MPI"]
    seconds: dict[str, list[float]] = defaultdict(list)
    ours = _present(("argosy", "argosy 2 ranks"))
    peers = _present(PEERS)
    for turn in range(options.turns(5, 2)):
        for label, extra in (("mpiexec", {}), ("mpiexec, tuned", TUNED)):
            begin = time.monotonic()
            ask(bare, timeout_seconds=_LIMIT_SECONDS, extra=extra)
            seconds[label].append(time.monotonic() - begin)
        for name in ours + (peers if turn < 3 else []):
            begin = time.monotonic()
            first = _try(name, "first", workers=2)
            seconds[name].append(float("nan") if first is None else first - begin)
    figures = [
        Figure(what=f"{name}, 2 workers, {_span(name)}", value=median(values), unit="s")
        for name, values in seconds.items()
    ]
    for name, base in ((name, base) for name in ours for base in ("mpiexec", "mpiexec, tuned")):
        ratio = median(one / other for one, other in zip(seconds[name], seconds[base], strict=True))
        wish = 2.5 if base == "mpiexec" else None
        figures.append(Figure(what=f"start: {name} / {base}", value=ratio, unit="x", at_most=wish))
    return figures


def _span(name: str) -> str:
    return "start to end" if name.startswith("mpiexec") else "start to first result"


def roundtrip(options: Options) -> list[Figure]:
    """An empty task and its result, one after another; the systems take turns, only one of them up at a time."""
    count = options.count(1000, 200)
    seconds: dict[str, list[float]] = defaultdict(list)
    for _ in range(options.turns(3, 1)):
        for name in _present((*OURS, *PEERS)):
            seconds[name] += _try(name, "roundtrip", workers=2, count=count) or []
    middle = {name: median(values) * 1e6 for name, values in seconds.items() if values}
    wants = {"argosy": 400.0, "argosy 2 ranks": 1000.0}
    figures = [
        Figure(
            what=f"{name}, empty task, 2 workers",
            value=value,
            unit="us",
            at_most=wants.get(name),
            note=f"+-{spread(seconds[name]):.0%} of {len(seconds[name])}",
        )
        for name, value in middle.items()
    ]
    return figures + _ratios(middle, "round trip", at_most=1.0)


def throughput(options: Options) -> list[Figure]:
    """Empty tasks submitted at once, from the first submission to the last result."""
    count = options.count(5000, 1000)
    figures = []
    for workers in (2, 4):
        rates: dict[str, list[float]] = defaultdict(list)
        for _ in range(options.turns(3, 1)):
            for name in _present(("argosy", "argosy by value", *PEERS)):
                seconds = _try(name, "burst", workers=workers, count=count)
                if seconds is not None:
                    rates[name].append(count / seconds)
        middle = {name: median(values) for name, values in rates.items()}
        figures += [
            Figure(
                what=f"{name}, {count:,} tasks at once, {workers} workers",
                value=value,
                unit="tasks/s",
                at_least=4000.0 if name == "argosy" and workers == 2 else None,
            )
            for name, value in middle.items()
        ]
        figures += _ratios(middle, f"tasks/s, {workers} workers")
    return figures


def idle(options: Options) -> list[Figure]:
    """CPU time of all processes of a system with four workers and nothing to do, the user's own included."""
    span = options.count(10, 5)
    shares: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for _ in range(options.turns(3, 1)):
        for name in _present(("argosy", *PEERS)):
            with child(command(name, "idle", workers=4, count=span + 5)) as running:
                if not any(line.strip() == "idle" for line in running.lines()):
                    print(f"  {name}: did not start: {running.last_words()}", file=sys.stderr)
                    continue
                time.sleep(3)
                before, begin = _cpu_seconds(running), time.monotonic()
                time.sleep(span)
                after, passed = _cpu_seconds(running), time.monotonic() - begin
                used = sum(after[pid] - before.get(pid, 0.0) for pid in after)
                running.process.wait(timeout=_LIMIT_SECONDS)
                shares[name].append((100 * used / passed, len(after)))
    return [
        Figure(
            what=f"{name}, 4 idle workers over {span} s",
            value=median(share for share, _ in values),
            unit="% core",
            at_most=2.0 if name == "argosy" else None,
            note=f"{values[-1][1]} processes",
        )
        for name, values in shares.items()
    ]


def _present(names: Iterable[str]) -> list[str]:
    return [name for name in names if installed(name)]


def _try(name: str, action: str, *, workers: int, count: int = 1) -> Any:
    """The answer of one child, or None with a line on standard error when it failed."""
    try:
        return ask(command(name, action, workers=workers, count=count), timeout_seconds=_LIMIT_SECONDS)
    except ChildFailed as failure:
        print(f"  {name} {action}: {failure}", file=sys.stderr)
        return None


def _ratios(middle: dict[str, float], what: str, *, at_most: float | None = None) -> list[Figure]:
    """The pilot's figure over each peer's. A pool that cannot leave its machine is no rival, only a mark to see."""
    if "argosy" not in middle:
        return []
    return [
        Figure(
            what=f"{what}: argosy / {name}",
            value=middle["argosy"] / middle[name],
            unit="x",
            at_most=at_most if SYSTEMS[name].distributed else None,
        )
        for name in PEERS
        if name in middle
    ]


def _cpu_seconds(running: Child) -> dict[int, float]:
    """Of each process. From the scheduler's own count, in nanoseconds, where there is one: ticks hide what is short."""
    used = {}
    for process in running.processes():
        try:
            threads = Path(f"/proc/{process.pid}/task").glob("*/schedstat")
            nanoseconds = sum(int(thread.read_text().split()[0]) for thread in threads)
            times = process.cpu_times()
        except (psutil.Error, OSError):
            continue
        used[process.pid] = nanoseconds / 1e9 or times.user + times.system
    return used
