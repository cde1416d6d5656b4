"""A training run that may be killed and started again, the same in every process.

python runs.py FOLDER: trains in this process, from whatever checkpoint is there, and answers with the losses.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from children import answer
from torch import nn
from torch.optim import SGD

from argosy.train import Checkpoint, fit

STEPS_PER_EPOCH = 40
EPOCHS = 4
BATCH = 32


def build() -> Any:
    """Statistics and random numbers: all that a resume could lose."""
    return nn.Sequential(nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 5))


def train(folder: Path | None, **more: Any) -> list[float]:
    draw = np.random.default_rng(0)
    labels = draw.integers(0, 5, STEPS_PER_EPOCH * BATCH)
    inputs = draw.normal(size=(len(labels), 64)).astype(np.float32) + labels[:, None] / 5
    kept = None if folder is None else Checkpoint(folder=folder, every_steps=7)
    result = fit(
        build,
        (inputs, labels),
        optimizer=lambda parameters: SGD(parameters, lr=0.05, momentum=0.9),
        batch_size=BATCH,
        epochs=EPOCHS,
        checkpoint=kept,
        **more,
    )
    return result.losses


if __name__ == "__main__":
    answer(train(Path(sys.argv[1])))
