"""The part of `argosy demo` that shuffles: thermometers sorted by room move between ranks while a model learns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from argosy.cli.demo_train import NUM_HOURS, NUM_ROOMS, build

if TYPE_CHECKING:
    from argosy import DataFrame, Pilot
    from argosy.train import Fit

NUM_SENSORS = 1600
FRACTION = 0.1
EPOCHS = 4


def shuffle_story(pilot: Pilot) -> Iterator[tuple[str, str]]:
    """What was done, step by step, each with lines to show below it. Needs torch."""
    from argosy import col

    num_ranks = pilot.allocation.num_ranks
    days = _sorted_days()
    train, valid = days.filter(col("sensor") % 5 > 0).persist(), days.filter(col("sensor") % 5 == 0).persist()
    rooms = pilot.submit(rooms_of, train, ranks=num_ranks).results()
    yield f"thermometers lie on the ranks room by room, so that these have {rooms} of the {NUM_ROOMS} rooms", ""
    yield f"each rank learned from its own alone: {_learn(train, valid, 0.0)}", ""
    learned = _learn(train, valid, FRACTION)
    yield f"with {FRACTION:.0%} of them exchanged before each epoch: {learned}", _law(num_ranks)


def _sorted_days() -> DataFrame:
    """One row a thermometer, as in the part that trains, but in files that were written room by room."""
    import numpy as np
    import pyarrow as pa

    import argosy

    draw = np.random.default_rng(1)
    rooms = np.arange(NUM_SENSORS) * NUM_ROOMS // NUM_SENSORS
    course = 0.7 * np.cos((np.arange(NUM_HOURS) - rooms[:, None] * 3) * 2 * np.pi / NUM_HOURS)
    celsius = (course + draw.normal(0, 1, course.shape)).astype(np.float32)
    day = pa.FixedSizeListArray.from_arrays(pa.array(celsius.ravel()), NUM_HOURS)
    return argosy.from_arrow(pa.table({"sensor": np.arange(NUM_SENSORS), "day": day, "room": rooms})).persist()


def _learn(train: DataFrame, valid: DataFrame, fraction: float) -> Fit:
    from argosy.train import fit, global_batch

    return fit(
        build,
        train,
        features="day",
        label="room",
        valid=valid,
        metrics="accuracy",
        lr=0.05,
        batch_size=global_batch(32),
        epochs=EPOCHS,
        shuffle=fraction,
    )


def _law(num_ranks: int) -> str:
    from argosy.shuffle import retention

    still = retention(FRACTION, num_ranks, EPOCHS - 1)
    return f"in the last epoch {still:.0%} of them were still where they began, says the law of retention"


def rooms_of(table: Any, comm: Any) -> int:  # noqa: ARG001 - a task on all ranks
    return len(set(table["room"].to_pylist()))
