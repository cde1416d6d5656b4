"""Pictures and a small convolutional net, the same on both sides of train_fit.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

NUM_SAMPLES = 3072
EPOCHS = 3
BATCH = 128
LR = 0.02


def pictures() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    draw = np.random.default_rng(0)
    labels = draw.integers(0, 10, NUM_SAMPLES)
    inputs = draw.normal(size=(NUM_SAMPLES, 3, 32, 32)).astype(np.float32)
    inputs[:, 0] += labels[:, None, None] / 10
    return inputs, labels


def build() -> Any:
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64 * 64, 256),
        nn.ReLU(),
        nn.Linear(256, 10),
    )
