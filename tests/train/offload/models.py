"""Models with layers large enough to be offloaded, and things they learn."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from train.problems import classes

from argosy.train import Fit

TRAIN, VALID = classes(144), classes(60, seed=1)
STEPS = 6
"""Of an epoch with batches of 24: two are measured, the rest go by the plan."""


def wide() -> nn.Module:
    """Statistics, random numbers, two layers that can be offloaded and two that are too small."""
    return nn.Sequential(
        nn.Linear(8, 64),
        nn.BatchNorm1d(64),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(64, 64),
        nn.ReLU(),
        nn.Linear(64, 48),
        nn.ReLU(),
        nn.Linear(48, 3),
    )


class Tied(nn.Module):
    """Embeds its inputs and reads its outputs with the same weights; attention in between."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Linear(8, 32)
        self.attention = nn.MultiheadAttention(32, 2, batch_first=True, dropout=0.1)
        self.there = nn.Linear(32, 64)
        self.back = nn.Linear(64, 32)
        self.once_more = nn.Linear(32, 64)
        self.once_more.weight = self.there.weight
        self.scale = nn.Parameter(torch.ones(32, 48))
        self.leave = nn.Linear(48, 3)

    def forward(self, inputs: torch.Tensor) -> Any:
        words = self.enter(inputs).unsqueeze(1)
        words = words + self.attention(words, words, words, need_weights=False)[0]
        words = self.back(self.there(words[:, 0]).relu())
        words = words + nn.functional.linear(self.once_more(words).relu(), self.back.weight)
        return self.leave((words @ self.scale).relu())


def learned_the_same(one: Fit, other: Fit) -> bool:
    """To the bit."""
    there = other.model.state_dict()
    same = all(torch.equal(value, there[name]) for name, value in one.model.state_dict().items())
    return same and one.losses == other.losses and one.metrics == other.metrics
