"""CIFAR-10 from one Parquet file of JPEGs: columns split (train, test or valid), label (0 to 9), jpeg (bytes)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from argosy.errors import BadData
from argosy.train.tasks.chosen import chosen
from argosy.train.tasks.pictures import decoded
from argosy.train.tasks.task import Samples, Task

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SIZE = 32
_COLUMNS = ("split", "label", "jpeg")
_HELD_OUT = ("test", "valid", "val")


def cifar10(*, path: str | Path | None = None, num_train: int | None = None, num_valid: int | None = None) -> Task:
    """Reads the splits and labels now, and the pictures when samples are asked for. `BadData`: the file is not there,
    or is another one. `num_train`, `num_valid`: at most so many."""
    if path is None:
        raise BadData(
            "the task 'cifar10' reads a Parquet file of JPEGs; say which: path=..., or --data on the command line"
        )
    where = Path(path)
    rows = _rows(where)

    def samples(split: str, count: int, seed: int) -> Samples:
        taken = rows[split][0][chosen(len(rows[split][0]), count, seed)]
        pictures = pq.read_table(where, columns=["jpeg"])["jpeg"].take(pa.array(taken)).to_pylist()
        pixels = decoded(pictures, size=SIZE, name=lambda place: f"{where}, row {taken[place]}")
        return pixels, rows[split][1][taken]

    return Task(
        name="cifar10",
        title="what a small photograph shows",
        classes=CLASSES,
        samples=samples,
        build=_build,
        num_train=min(len(rows["train"][0]), num_train or len(rows["train"][0])),
        num_valid=min(len(rows["valid"][0]), num_valid or len(rows["valid"][0])),
        batch=16,
        lr=0.05,
        budget=200_000,
        evaluate_every=5_000,
    )


def _rows(path: Path) -> dict[str, tuple[Any, Any]]:
    """For each split the numbers of its rows, and the labels of all rows."""
    if not path.is_file():
        raise BadData(f"there is no file {path}; the task 'cifar10' reads a Parquet with columns {', '.join(_COLUMNS)}")
    try:
        names = pq.read_schema(path).names
        missing = [name for name in _COLUMNS if name not in names]
        if missing:
            raise BadData(f"{path} has no column {', '.join(missing)}; there are: {', '.join(names)}")
        table = pq.read_table(path, columns=["split", "label"])
    except pa.ArrowInvalid as error:
        raise BadData(f"{path} cannot be read as Parquet: {error}") from error
    if table["label"].null_count or table["split"].null_count:
        raise BadData(f"{path} has rows without a label or a split; remove them")
    labels = table["label"].to_numpy().astype(np.int64)
    if len(labels) and not (labels.min() >= 0 and labels.max() < len(CLASSES)):
        raise BadData(f"{path} has labels from {labels.min()} to {labels.max()}; CIFAR-10 has 0 to 9")
    split = pc.cast(table["split"], pa.string())
    found = {
        "train": np.flatnonzero(pc.equal(split, "train").to_numpy()),
        "valid": np.flatnonzero(pc.is_in(split, pa.array(_HELD_OUT)).to_numpy()),
    }
    for name, rows in found.items():
        if not len(rows):
            wanted = "train" if name == "train" else " or ".join(_HELD_OUT)
            there = ", ".join(sorted(pc.unique(split).to_pylist())) or "none"
            raise BadData(f"{path} has no row whose split is {wanted}; its splits are: {there}")
    return {name: (rows, labels) for name, rows in found.items()}


def _build(batch_norm: bool) -> Any:
    from argosy.train.tasks.models import ConvNet

    return ConvNet(channels=3, classes=len(CLASSES), widths=(32, 64, 128), batch_norm=batch_norm)
