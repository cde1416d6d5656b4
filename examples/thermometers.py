"""Files, a frame, a task on the same ranks, files again.

    python examples/thermometers.py FOLDER

Makes readings of thermometers in FOLDER, finds the hours in which a room was much warmer than it usually is, and writes
them to FOLDER/warm. Runs on two ranks of this machine, or on those of a Slurm job.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import argosy
from argosy import DataFrame, col

NUM_DAYS, NUM_SENSORS = 60, 40


def make_readings(folder: Path) -> None:
    """A reading an hour of every sensor; one in fifty is missing."""
    draw = np.random.default_rng(0)
    size = NUM_DAYS * 24 * NUM_SENSORS
    hour = np.repeat(np.arange(NUM_DAYS * 24), NUM_SENSORS)
    celsius = 20 + 5 * np.sin(hour / 24 * 2 * np.pi) + draw.normal(0, 1.5, size)
    columns = {"sensor": np.tile(np.arange(NUM_SENSORS), NUM_DAYS * 24), "hour": hour}
    table = pa.table({**columns, "celsius": pa.array(celsius, mask=draw.random(size) < 0.02)})
    argosy.from_arrow(table).write_parquet(folder, overwrite=True)


def warm_hours(readings: DataFrame, sensors: DataFrame) -> DataFrame:
    """Hours in which a room was a degree above its mean at that time of day. Runs the first half of it."""
    known = readings.filter(col("celsius").is_not_null()).join(sensors, on="sensor")
    rooms = known.with_columns(clock=col("hour") % 24).group_by("room", "clock", "hour").agg(now=col("celsius").mean())
    rooms = rooms.persist()  # it is used twice below, and is computed once
    usual = rooms.group_by("room", "clock").agg(usual=col("now").mean())
    return (
        rooms.join(usual, on=["room", "clock"])
        .with_columns(above=col("now") - col("usual"))
        .filter(col("above") > 1)
        .sort("above", descending=True)
    )


def share_of_ranks(table: pa.Table, comm: Any) -> list[int]:
    """Each rank has its own rows of the frame; anything written for MPI works here."""
    rows: list[int] = comm.allgather(table.num_rows)
    return rows


def main(folder: Path) -> None:
    sensors = argosy.from_pydict(
        {"sensor": range(NUM_SENSORS), "room": [f"room {number % 4}" for number in range(NUM_SENSORS)]}
    )
    with argosy.Pilot(ranks=2) as pilot:
        make_readings(folder / "readings")
        warm = warm_hours(argosy.read_parquet(folder / "readings"), sensors)
        print(warm.explain())
        kept = warm.persist()
        print("rows on each rank:", pilot.submit(share_of_ranks, kept, ranks=2).result())
        for row in kept.head(3).collect().to_pylist():
            print(f"{row['room']} in hour {row['hour']}: {row['above']:.1f} degrees above usual")
        print(kept.write_parquet(folder / "warm", overwrite=True), "rows in", folder / "warm")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
