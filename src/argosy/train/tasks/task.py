"""What `argosy scale` studies: samples that are made or read, a model that learns them, and how it is to be trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Samples = tuple[NDArray[Any], NDArray[np.int64]]
"""Inputs (uint8 or float32, one row a sample) and the class of each."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskData:
    """What is learned from, and what is held out."""

    train: Samples
    valid: Samples


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """Something to learn, with the settings that suit one worker. Equal seeds give equal samples and equal models."""

    name: str
    title: str
    classes: tuple[str, ...]
    samples: Callable[[str, int, int], Samples]
    """Of a split ("train" or "valid"), a count and a seed. The two splits share no sample."""
    build: Callable[[bool], Any]
    """A new torch model, with BatchNorm or without; its weights come from torch's random state."""
    num_train: int
    num_valid: int
    batch: int
    """Samples of one worker in one step."""
    lr: float
    """About the best learning rate for one worker: the one with which the targets are reached in the fewest samples."""
    momentum: float = 0.0
    budget: int
    """Samples that one worker learns from; past one pass they come again, in another order."""
    evaluate_every: int
    """Samples between two evaluations, whatever the number of workers."""
    loss: str = "cross_entropy"
    metric: str = "accuracy"
    higher: bool = True
    """Whether a larger metric is a better one."""

    def data(self, seed: int = 0) -> TaskData:
        """Made or read at the first call and kept for the next ones with this seed. Not to be written to."""
        return _data(self, seed)

    def model(self, seed: int, *, batch_norm: bool = False) -> Any:
        """A new model with the weights of this seed. Torch's own random state is left as it was."""
        import torch

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return self.build(batch_norm)


@lru_cache(maxsize=2)
def _data(task: Task, seed: int) -> TaskData:
    return TaskData(
        train=task.samples("train", task.num_train, seed),
        valid=task.samples("valid", task.num_valid, seed),
    )
