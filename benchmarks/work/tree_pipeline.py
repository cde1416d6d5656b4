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
from functools import partial
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
Answer = tuple[float, list[float], list[int]]
"""The best accuracy, the last losses of all trainings, the rows of each room."""


def study(folder: str, epochs: int) -> Answer:
    days = argosy.read_parquet(f"{folder}/days.parquet")
    rooms = argosy.read_parquet(f"{folder}/rooms.parquet")
    known = days.join(rooms, on="sensor").persist()
    usual = known.group_by("room").agg(noon=col("h12").mean(), rows=argosy.count()).persist()
    above = known.join(usual, on="room").with_columns(h12=col("h12") - col("noon")).sort("sensor").persist()
    train = above.filter(col("sensor") % 5 > 0).collect()
    valid = above.filter(col("sensor") % 5 == 0).collect()
    fits = [learn(train, valid, rate, epochs) for rate in RATES]
    best = max(fits, key=accuracy)
    counts = usual.sort("room").collect()
    return accuracy(best), [one.losses[-1] for one in fits], counts["rows"].to_pylist()


def by_hand(folder: str, epochs: int) -> Answer:
    days = argosy.read_parquet(f"{folder}/days.parquet")
    rooms = argosy.read_parquet(f"{folder}/rooms.parquet")
    known = days.join(rooms, on="sensor").persist()
    usual = known.group_by("room").agg(noon=col("h12").mean(), rows=argosy.count()).persist()
    above = known.join(usual, on="room").with_columns(h12=col("h12") - col("noon")).sort("sensor").persist()
    with ThreadPoolExecutor(len(RATES)) as threads:
        train = threads.submit(above.filter(col("sensor") % 5 > 0).collect)
        valid = threads.submit(above.filter(col("sensor") % 5 == 0).collect)
        counts = threads.submit(usual.sort("room").collect)
        trainings = [threads.submit(learn, train.result(), valid.result(), rate, epochs) for rate in RATES]
        fits = [training.result() for training in trainings]
        best = max(fits, key=accuracy)
        return accuracy(best), [one.losses[-1] for one in fits], counts.result()["rows"].to_pylist()


def learn(train: pa.Table, valid: pa.Table, rate: float, epochs: int) -> Fit:
    return fit(
        build,
        train,
        valid=valid,
        features=HOURS,
        label="room",
        metrics="accuracy",
        batch_size=64,
        epochs=epochs,
        evaluate_every=10**9,
        lr=rate,
        ranks=1,
    )


def accuracy(trained: Fit) -> float:
    return trained.metrics["accuracy"]


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


def pipeline(options: Options) -> list[Figure]:
    """Three frames and four trainings on four ranks: one futurized function, against the same graph by hand."""
    epochs, num_sensors = options.count(6, 1), options.count(20_000, 2_000)
    sides: dict[str, Callable[..., Answer]] = {
        "futurized": argosy.futurize(study),
        "by hand": by_hand,
        "one after another": study,
    }
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    with tempfile.TemporaryDirectory() as name, argosy.Pilot(ranks=RANKS):
        write_files(Path(name), num_sensors)
        expected = None
        for number in range(-1, options.turns(7, 1)):  # in the first turn the ranks load what they need
            for side, work in _turned(sides, number):
                begin = time.perf_counter()
                answer = work(name, epochs if number >= 0 else 1)
                if number >= 0:
                    seconds[side].append(time.perf_counter() - begin)
                    expected = expected or answer
                    if answer != expected:
                        raise AssertionError(f"{side}: {answer}, but {expected} before")
    ratio = partial(_ratio, seconds)
    return [
        *(
            Figure(what=side, value=median(taken), unit="s", note=f"spread {spread(taken):.1%}")
            for side, taken in seconds.items()
        ),
        Figure(what="futurized / by hand", value=ratio("futurized", "by hand"), unit="x", at_most=1.05),
        Figure(what="one after another / futurized", value=ratio("one after another", "futurized"), unit="x"),
    ]


def _ratio(seconds: dict[str, list[float]], above: str, below: str) -> float:
    """The median of those of each turn."""
    return median(one / other for one, other in zip(seconds[above], seconds[below], strict=True))


def _turned(sides: dict[str, Any], by: int) -> list[tuple[str, Any]]:
    """Each turn begins with another one."""
    named = list(sides.items())
    at = by % len(named)
    return named[at:] + named[:at]


if __name__ == "__main__":
    sys.exit(run({"pipeline": pipeline}, __doc__, []))
