"""A whole study as one plain function: read, join, train several models side by side, keep the best.

    python examples/pipeline.py FOLDER

`study` is ordinary Python, and gives what ordinary Python gives. Decorated, its calls that wait for ranks wait side by
side: the four trainings run at the same time, each on a rank of its own, while the counting goes on here.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import argosy
from argosy import col
from argosy.train import Fit, fit

HOURS = [f"h{hour}" for hour in range(24)]
ROOMS = ("attic", "cellar", "kitchen", "study")
RATES = (0.01, 0.03, 0.1, 0.3)


@argosy.task(ranks=2)
def shares(labels: Any, comm: Any) -> list[float]:
    """How much of the rows each room has, counted by two ranks."""
    mine = np.bincount(labels[comm.rank :: comm.size], minlength=len(ROOMS))
    return [float(share) for share in comm.allreduce(mine) / len(labels)]


@argosy.futurize
def study(folder: Path) -> tuple[Fit, float, list[float]]:
    days = argosy.read_parquet(str(folder / "days.parquet"))
    rooms = argosy.read_parquet(str(folder / "rooms.parquet"))
    known = days.join(rooms, on="sensor").sort("sensor").persist()
    train = known.filter(col("sensor") % 5 > 0).collect()
    valid = known.filter(col("sensor") % 5 == 0).collect()
    fits = [learn(train, valid, rate) for rate in RATES]
    spread = shares(valid["room"].to_numpy())
    best, best_rate = fits[0], RATES[0]
    for trained, rate in zip(fits, RATES, strict=True):
        if trained.metrics["accuracy"] > best.metrics["accuracy"]:
            best, best_rate = trained, rate
    return best, best_rate, spread


def learn(train: pa.Table, valid: pa.Table, rate: float) -> Fit:
    return fit(
        build, train, features=HOURS, label="room", valid=valid, metrics="accuracy", batch_size=64, lr=rate, ranks=1
    )


def build() -> Any:
    from torch import nn

    return nn.Sequential(nn.Linear(len(HOURS), 32), nn.ReLU(), nn.Linear(32, len(ROOMS)))


def write_files(folder: Path, num_sensors: int = 4000) -> None:
    """The day of each sensor, warmest at an hour that depends on the room; and in which room each hangs."""
    draw = np.random.default_rng(0)
    room = draw.integers(0, len(ROOMS), num_sensors)
    warmest = room[:, None] * len(HOURS) / len(ROOMS)
    course = np.cos((np.arange(len(HOURS)) - warmest) * 2 * np.pi / len(HOURS))
    celsius = (course + draw.normal(0, 2, course.shape)).astype(np.float32)
    sensor = np.arange(num_sensors)
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"sensor": sensor, **dict(zip(HOURS, celsius.T, strict=True))}), folder / "days.parquet")
    pq.write_table(pa.table({"sensor": sensor, "room": room}), folder / "rooms.parquet")


def main(folder: Path) -> None:
    write_files(folder)
    with argosy.Pilot(ranks=4):
        best, rate, spread = study(folder)
    print(f"the best of {len(RATES)} learning rates is {rate}: {best}")
    print("held out:", ", ".join(f"{share:.0%} {room}" for room, share in zip(ROOMS, spread, strict=True)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
