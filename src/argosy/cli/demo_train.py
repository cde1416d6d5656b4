"""The part of `argosy demo` that trains: a model learns where the thermometers hang, on the ranks where they lie."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from argosy import DataFrame
    from argosy.train import Fit

NUM_SENSORS = 6000
NUM_HOURS = 24
NUM_ROOMS = 8
BATCH = 32


def train_story() -> Iterator[tuple[str, str]]:
    """What was done, step by step, each with lines to show below it."""
    if find_spec("torch") is None:
        yield "training needs torch, which is not installed here: pip install 'argosy[train]'", ""
        return
    days = make_days()
    train, valid = days.filter(_col("sensor") % 5 > 0).persist(), days.filter(_col("sensor") % 5 == 0).persist()
    yield f"{len(train):,} thermometers with a day of readings each stay on the ranks, {len(valid):,} are held out", ""
    with tempfile.TemporaryDirectory() as folder:
        result = _learn(train, valid, Path(folder))
        yield f"a model learned on all ranks to tell their rooms apart: {result}", _shares(result)
        again = _learn(train, valid, Path(folder), epochs=3)
        yield f"asked for an epoch more, it went on from its checkpoint at step {again.resumed_at}: {again}", ""
    yield "how many workers would be worth asking for?", _worth(result)


def _col(name: str) -> Any:
    from argosy import col

    return col(name)


def make_days() -> DataFrame:
    """One row a thermometer: the temperatures of a day, whose course depends on the room."""
    import numpy as np
    import pyarrow as pa

    import argosy

    draw = np.random.default_rng(0)
    rooms = draw.integers(0, NUM_ROOMS, NUM_SENSORS)
    hours = np.arange(NUM_HOURS)
    course = 20 + 0.5 * np.cos((hours - rooms[:, None] * 3) * 2 * np.pi / NUM_HOURS)
    celsius = (course + draw.normal(0, 1, course.shape)).astype(np.float32)
    day = pa.FixedSizeListArray.from_arrays(pa.array(celsius.ravel()), NUM_HOURS)
    return argosy.from_arrow(pa.table({"sensor": np.arange(NUM_SENSORS), "day": day, "room": rooms}))


def _learn(train: DataFrame, valid: DataFrame, folder: Path, epochs: int = 2) -> Fit:
    from argosy.train import fit, global_batch

    return fit(
        build,
        train,
        features="day",
        label="room",
        valid=valid,
        metrics="accuracy",
        lr=0.05,
        batch_size=global_batch(BATCH),
        epochs=epochs,
        checkpoint=folder,
        noise=True,
    )


def _shares(result: Fit) -> str:
    seconds = {phase: spent for phase, spent in result.ledger.seconds.items() if spent > 0}
    total = sum(seconds.values())
    return "where the time went: " + ", ".join(f"{phase} {spent / total:.0%}" for phase, spent in seconds.items())


def _worth(result: Fit) -> str:
    from argosy.train import predict

    noise = result.noise
    assert noise is not None
    predicted = predict(noise, batch=BATCH, workers=[2, 4, 8, 16, 64])
    lines = [f"{noise}"]
    lines += [
        f"{row.workers:>3} workers learn at most {row.s_learn:.1f} times as fast (modelled)" for row in predicted.rows
    ]
    lines.append(f"no number of them more than {noise.ceiling(BATCH):.0f} times; `argosy scale` measures it")
    return "\n".join(lines)


def build() -> Any:
    from torch import nn

    return nn.Sequential(nn.BatchNorm1d(NUM_HOURS), nn.Linear(NUM_HOURS, 64), nn.ReLU(), nn.Linear(64, NUM_ROOMS))
