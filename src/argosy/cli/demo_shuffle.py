"""The part of `argosy demo` that shuffles: thermometers sorted by room move between ranks while a model learns."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from argosy.cli.demo_train import build, days

if TYPE_CHECKING:
    from argosy import DataFrame, Pilot
    from argosy.train import Fit

FRACTION = 0.1
EPOCHS = 6


def shuffle_story(pilot: Pilot) -> Iterator[tuple[str, str]]:
    """What was done, step by step, each with lines to show below it."""
    if find_spec("torch") is None:
        return
    from argosy import col

    readings = days().sort("room").persist()  # as files would be that were written room by room
    train, valid = readings.filter(col("sensor") % 5 > 0).persist(), readings.filter(col("sensor") % 5 == 0).persist()
    rooms = pilot.submit(rooms_of, train, ranks=pilot.ranks).results()
    yield f"the thermometers lie sorted on the ranks, which hold {rooms} of the 8 rooms each", ""
    kept = _learn(train, valid, 0.0)
    yield f"each rank learned from its own alone: {kept}", ""
    exchanged = _learn(train, valid, FRACTION)
    yield f"and with a tenth of them exchanged before each epoch: {exchanged}", _law(pilot.ranks)


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
        batch_size=global_batch(64),
        epochs=EPOCHS,
        shuffle=fraction,
    )


def _law(num_ranks: int) -> str:
    from argosy.shuffle import retention

    still = retention(FRACTION, num_ranks, EPOCHS - 1)
    return f"{still:.0%} of the thermometers were where they began in the last epoch, by the law of retention"


def rooms_of(table: Any, comm: Any) -> int:  # noqa: ARG001 - a task on all ranks
    return len(set(table["room"].to_pylist()))
