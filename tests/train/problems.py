"""Small things to learn, for the tests of training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from argosy.train.tasks import Samples, Task

Arrays = tuple[NDArray[np.float32], NDArray[np.int64]]


def classes(rows: int = 240, seed: int = 0, width: int = 8) -> Arrays:
    """Three classes that a linear model tells apart."""
    draw = np.random.default_rng(seed)
    inputs = draw.normal(size=(rows, width)).astype(np.float32)
    plane = np.random.default_rng(99).normal(size=(width, 3))
    return inputs, (inputs @ plane).argmax(axis=1)


def linear(width: int = 8) -> nn.Module:
    return nn.Linear(width, 3)


def with_norm() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))


def with_everything() -> nn.Module:
    """Statistics, random numbers, several layers."""
    return nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))


def momentum(lr: float = 0.1) -> Callable[[Any], torch.optim.Optimizer]:
    return lambda parameters: torch.optim.SGD(parameters, lr=lr, momentum=0.9)


def same(first: nn.Module, second: nn.Module, tolerance: float = 0.0) -> bool:
    there = second.state_dict()
    return all(
        torch.allclose(value.float(), there[name].float(), rtol=tolerance, atol=tolerance)
        for name, value in first.state_dict().items()
    )


def blobs(split: str, count: int, seed: int) -> Samples:
    """Four overlapping clouds of points."""
    generator = np.random.default_rng([seed, split == "valid"])
    labels = generator.integers(4, size=count)
    inputs = np.eye(4)[labels] + 0.7 * generator.standard_normal((count, 4))
    return inputs.astype(np.float32), labels


def blob_task() -> Task:
    return Task(
        name="blobs",
        title="which cloud a point is of",
        classes=("a", "b", "c", "d"),
        samples=blobs,
        build=lambda _batch_norm: torch.nn.Linear(4, 4),
        num_train=2048,
        num_valid=512,
        batch=4,
        lr=0.05,
        budget=2048,
        evaluate_every=64,
    )
