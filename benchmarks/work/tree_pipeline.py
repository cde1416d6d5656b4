"""A pipeline of three frames and four trainings: futurized, submitted by hand, and one call after another.

    cd benchmarks && python -m work.tree_pipeline --rounds 9

The futurized function is the plain one and `@argosy.futurize`. By hand it is what somebody writes who knows which calls
wait for ranks, and which of them for one another: threads, and Futures of them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from figures import Figure, Options, spread
from sections import run

import argosy
from argosy import col
from argosy.train import Fit, fit

RANKS = 4
RATES = (0.02, 0.05, 0.1, 0.2)
HOURS = tuple(f"h{hour}" for hour in range(24))
NUM_ROOMS = 6
METRIC = "accuracy"
Sides = dict[str, Callable[..., Any]]
Seconds = dict[str, list[float]]
"""Of each side, in all turns."""
Answer = tuple[float, list[float], list[int]]
"""The best accuracy, the last losses of all trainings, the rows of each room."""


def study(folder: str, epochs: int) -> Answer:
    days = argosy.read_parquet(f"{folder}/days.parquet")
    rooms = argosy.read_parquet(f"{folder}/rooms.parquet")
    known = days.join(rooms, on="sensor").persist()
    usual = known.group_by("room").agg(noon=col("h12").mean(), rows=argosy.count()).persist()
    above = known.join(usual, on="room").with_columns(h12=col("h12") - col("noon")).sort("sensor").persist()
    counts = usual.sort("room").collect()
    train = above.filter(col("sensor") % 5 > 0).drop("sensor", "noon", "rows").collect()
    valid = above.filter(col("sensor") % 5 == 0).drop("sensor", "noon", "rows").collect()
    a = fit(build, train, valid=valid, label="room", metrics=METRIC, batch_size=64, epochs=epochs, lr=0.02, ranks=1)
    b = fit(build, train, valid=valid, label="room", metrics=METRIC, batch_size=64, epochs=epochs, lr=0.05, ranks=1)
    c = fit(build, train, valid=valid, label="room", metrics=METRIC, batch_size=64, epochs=epochs, lr=0.1, ranks=1)
    d = fit(build, train, valid=valid, label="room", metrics=METRIC, batch_size=64, epochs=epochs, lr=0.2, ranks=1)
    return judged([a, b, c, d], counts)


def by_hand(folder: str, epochs: int) -> Answer:
    days = argosy.read_parquet(f"{folder}/days.parquet")
    rooms = argosy.read_parquet(f"{folder}/rooms.parquet")
    known = days.join(rooms, on="sensor").persist()
    usual = known.group_by("room").agg(noon=col("h12").mean(), rows=argosy.count()).persist()
    above = known.join(usual, on="room").with_columns(h12=col("h12") - col("noon")).sort("sensor").persist()
    with ThreadPoolExecutor(4) as threads:
        counts = threads.submit(usual.sort("room").collect)
        train = threads.submit(above.filter(col("sensor") % 5 > 0).drop("sensor", "noon", "rows").collect)
        valid = threads.submit(above.filter(col("sensor") % 5 == 0).drop("sensor", "noon", "rows").collect)
        alike = {"valid": valid.result(), "label": "room", "metrics": METRIC, "batch_size": 64, "epochs": epochs}
        trainings = [threads.submit(fit, build, train.result(), lr=rate, ranks=1, **alike) for rate in RATES]
        return judged([training.result() for training in trainings], counts.result())


def judged(fits: list[Fit], counts: pa.Table) -> Answer:
    best = max(fits, key=accuracy)
    return accuracy(best), [one.losses[-1] for one in fits], counts["rows"].to_pylist()


def accuracy(trained: Fit) -> float:
    return trained.metrics[METRIC]


def build() -> Any:
    from torch import nn

    wide = 128
    return nn.Sequential(
        nn.Linear(len(HOURS), wide), nn.ReLU(), nn.Linear(wide, wide), nn.ReLU(), nn.Linear(wide, NUM_ROOMS)
    )


def write_files(folder: Path, num_sensors: int) -> None:
    """The day of each sensor, warmest at an hour that depends on the room, and in which room it hangs."""
    draw = np.random.default_rng(0)
    room = draw.integers(0, NUM_ROOMS, num_sensors)
    course = np.cos((np.arange(len(HOURS)) - room[:, None] * 4) * 2 * np.pi / len(HOURS))
    celsius = (course + draw.normal(0, 2, course.shape)).astype(np.float32)
    sensors = draw.permutation(num_sensors)
    pq.write_table(pa.table({"sensor": sensors, **dict(zip(HOURS, celsius.T, strict=True))}), folder / "days.parquet")
    pq.write_table(pa.table({"sensor": sensors, "room": room}), folder / "rooms.parquet")


def sleeping(seconds: float) -> list[int]:
    """The same graph of tasks that only sleep: its time is that of the tasks and of what hands them out."""
    known = rest(seconds, 0)
    usual = rest(seconds, known)
    above = rest(seconds, usual)
    a = rest(seconds, above + 1)
    b = rest(seconds, above + 2)
    c = rest(seconds, above + 3)
    d = rest(seconds, above + 4)
    return [a, b, c, d]


def sleeping_by_hand(seconds: float) -> list[int]:
    known = rest.submit(seconds, 0)
    usual = rest.submit(seconds, known)
    above = rest.submit(seconds, usual).result()
    return [one.result() for one in [rest.submit(seconds, above + number) for number in (1, 2, 3, 4)]]


@argosy.task
def rest(seconds: float, value: int) -> int:
    time.sleep(seconds)
    return value


def pipeline(options: Options) -> list[Figure]:
    """Three frames and four trainings on four ranks: one futurized function, against the same graph by hand."""
    epochs, num_sensors = options.count(6, 1), options.count(20_000, 2_000)
    sides: Sides = {"futurized": argosy.futurize(study), "by hand": by_hand, "one after another": study}
    asleep: Sides = {"futurized": argosy.futurize(sleeping), "by hand": sleeping_by_hand, "one after another": sleeping}
    with tempfile.TemporaryDirectory() as name, argosy.Pilot(ranks=RANKS):
        write_files(Path(name), num_sensors)
        _timed(sides, 1, name, 1)  # the ranks load what they need
        figures = _figures("", _timed(sides, options.turns(7, 1), name, epochs))
        return figures + _figures("sleeping tasks, ", _timed(asleep, options.turns(7, 1), options.count(4, 1) / 10))


def _timed(sides: Sides, turns: int, *args: Any) -> Seconds:
    """Each turn begins with another side. All answers must be the same."""
    seconds: Seconds = {name: [] for name in sides}
    named, expected = list(sides.items()), None
    for turn in range(turns):
        at = turn % len(named)
        for side, work in named[at:] + named[:at]:
            begin = time.perf_counter()
            answer = work(*args)
            seconds[side].append(time.perf_counter() - begin)
            expected = answer if expected is None else expected
            if answer != expected:
                raise AssertionError(f"{side}: {answer}, but {expected} before")
    return seconds


def _figures(what: str, seconds: Seconds) -> list[Figure]:
    by_side = [
        Figure(what=what + side, value=median(taken), unit="s", note=f"spread {spread(taken):.1%}")
        for side, taken in seconds.items()
    ]
    more, gain = _ratio(seconds, "futurized", "by hand"), _ratio(seconds, "one after another", "futurized")
    return [
        *by_side,
        Figure(what=f"{what}futurized / by hand", value=more, unit="x", at_most=1.05),
        Figure(what=f"{what}one after another / futurized", value=gain, unit="x"),
    ]


def _ratio(seconds: Seconds, above: str, below: str) -> float:
    """The median of those of each turn."""
    return median(one / other for one, other in zip(seconds[above], seconds[below], strict=True))


if __name__ == "__main__":
    sys.exit(run({"pipeline": pipeline}, __doc__, []))
