"""From tables to a trained model without moving the rows: a frame is made and joined, and a model learns from it there.

    python examples/learn_rooms.py FOLDER

Each sensor has the temperatures of one day, and another table says in which room it hangs. A model learns, on two ranks
of this machine, to tell the room by the day; sensors that are held out judge it. The run is kept in FOLDER: a second
call that asks for more epochs goes on where the first one ended. Run the example again, and both find all work done.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import argosy
from argosy import DataFrame, col
from argosy.train import Fit, fit, global_batch

NUM_SENSORS, NUM_HOURS = 4000, 24
ROOMS = ("attic", "cellar", "kitchen", "study")


def make_tables() -> tuple[DataFrame, DataFrame]:
    """The day of each sensor, which is warmest at an hour that depends on the room; and the rooms."""
    draw = np.random.default_rng(0)
    rooms = draw.integers(0, len(ROOMS), NUM_SENSORS)
    warmest = rooms[:, None] * NUM_HOURS / len(ROOMS)
    course = np.cos((np.arange(NUM_HOURS) - warmest) * 2 * np.pi / NUM_HOURS)
    celsius = (course + draw.normal(0, 2, course.shape)).astype(np.float32)
    days = pa.FixedSizeListArray.from_arrays(pa.array(celsius.ravel()), NUM_HOURS)
    sensors = np.arange(NUM_SENSORS)
    names = [ROOMS[room] for room in rooms]
    return (
        argosy.from_arrow(pa.table({"sensor": sensors, "day": days})),
        argosy.from_pydict({"sensor": sensors, "room": names}),
    )


def build() -> Any:
    """One output for each room, in the order of their names."""
    from torch import nn

    return nn.Sequential(nn.Linear(NUM_HOURS, 32), nn.ReLU(), nn.Linear(32, len(ROOMS)))


def learn(train: DataFrame, valid: DataFrame, folder: Path, epochs: int) -> Fit:
    return fit(
        build,
        train,
        features="day",
        label="room",
        valid=valid,
        metrics="accuracy",
        optimizer="sgd",
        lr=0.1,
        batch_size=global_batch(64),  # of both ranks together: with more ranks the training stays the same
        epochs=epochs,
        checkpoint=folder / "checkpoints",
    )


def main(folder: Path) -> None:
    with argosy.Pilot(ranks=2):
        days, rooms = make_tables()
        known = days.join(rooms, on="sensor").sort("sensor")  # sorted: a run that goes on needs the rows in one order
        train = known.filter(col("sensor") % 5 > 0).persist()
        valid = known.filter(col("sensor") % 5 == 0).persist()
        print(f"{len(train)} sensors to learn from, {len(valid)} held out")

        first = learn(train, valid, folder, epochs=2)
        print(f"asked for 2 epochs: {first}")
        more = learn(train, valid, folder, epochs=4)
        print(f"asked for 4 epochs: {more}; went on at step {more.resumed_at}")
        print(more.ledger)
        print("the model's outputs stand for:", *(more.classes or ()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
