"""The part of `argosy demo` that is told with frames: four days of a building's thermometers."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from argosy import DataFrame, Pilot

NUM_SENSORS = 400
NUM_DAYS = 4
NUM_READINGS_A_DAY = 150_000


def frame_story(pilot: Pilot) -> Iterator[tuple[str, str]]:
    """What was done, step by step, each with lines to show below it. The kernels are compiled by now."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_readings(folder / "readings")
        num_readings = NUM_DAYS * NUM_READINGS_A_DAY
        yield f"{num_readings:,} readings of {NUM_SENSORS} thermometers lie in {NUM_DAYS} Parquet files", ""
        placed, rooms = _frames(folder / "readings")
        yield "a plan over them; nothing has run yet, and the filter is done while reading:", rooms.explain()
        yield _look(rooms)
        yield _hand_over(pilot, placed), ""
        yield _write(placed, folder / "hot"), ""


def _frames(folder: Path) -> tuple[DataFrame, DataFrame]:
    """The readings with their rooms, and the rooms, the warmest first."""
    import argosy
    from argosy import col

    rooms = [f"room {number % 8}" for number in range(NUM_SENSORS)]
    sensors = argosy.from_pydict({"sensor": range(NUM_SENSORS), "room": rooms})
    placed = argosy.read_parquet(folder).filter(col("celsius").is_not_null()).join(sensors, on="sensor")
    means = placed.group_by("room").agg(mean=col("celsius").mean(), readings=argosy.count())
    return placed, means.sort("mean", descending=True)


def _look(rooms: DataFrame) -> tuple[str, str]:
    table = rooms.collect()
    rows = [f"{row['room']}  {row['mean']:.2f}  {row['readings']:,} readings" for row in table.slice(0, 3).to_pylist()]
    line = (
        f"all ranks loaded the kernels, read, filtered, joined, grouped and sorted; the warmest of {len(table)} rooms:"
    )
    return line, "\n".join(rows)


def _hand_over(pilot: Pilot, placed: DataFrame) -> str:
    kept = placed.repartition("sensor").persist()
    shares, steadiest = pilot.submit(find_steadiest, kept, ranks=pilot.allocation.num_ranks).result()
    return (
        "the readings of each thermometer were brought to one rank and stayed there; a task with a communicator got "
        f"{' + '.join(map(str, shares))} thermometers as each rank's own table, and found the steadiest, {steadiest}"
    )


def _write(placed: DataFrame, folder: Path) -> str:
    import argosy
    from argosy import col

    num_rows = placed.filter(col("celsius") > 30).sort("celsius", descending=True).write_parquet(folder)
    num_files = len(list(folder.glob("*.parquet")))
    return (
        f"{num_rows:,} readings above 30 degrees were sorted and written to {num_files} files, all or nothing; "
        f"there are {len(argosy.read_parquet(folder)):,} in them"
    )


def write_readings(folder: Path) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    draw = np.random.default_rng(0)
    size = NUM_READINGS_A_DAY
    for day in range(NUM_DAYS):
        sensors = draw.integers(0, NUM_SENSORS, size)
        celsius = draw.normal(20, 3, size) + sensors % 8 / 4
        table = pa.table({"sensor": sensors, "celsius": pa.array(celsius.round(1), mask=draw.random(size) < 0.02)})
        pq.write_table(table, folder / f"day-{day}.parquet")


def find_steadiest(table: Any, comm: Any) -> tuple[list[int], int]:
    """How many thermometers each rank has, and the one of all whose readings vary least.

    All readings of a thermometer are in one rank's table, so each rank answers for its own.
    """
    spread = table.group_by("sensor").aggregate([("celsius", "stddev")]).sort_by("celsius_stddev")
    mine = [(row["celsius_stddev"], row["sensor"]) for row in spread.slice(0, 1).to_pylist()]
    shares: list[int] = comm.allgather(spread.num_rows)
    return shares, min(best for bests in comm.allgather(mine) for best in bests)[1]
