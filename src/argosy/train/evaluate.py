"""What the model makes of samples that it does not learn from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from argosy.train.data import Samples
from argosy.train.group import Group
from argosy.train.metrics import Metric
from argosy.train.modes import evaluating
from argosy.train.precision import Precision

_ROWS = 512
"""Samples that go through the model at once."""


def evaluate(
    model: nn.Module,
    samples: Samples,
    metrics: Mapping[str, Metric],
    group: Group,
    precision: Precision,
    device: torch.device,
    *,
    uniform: bool,
) -> dict[str, float]:
    """The mean of each metric over the samples of all ranks. A collective.

    `uniform`: the model itself is a collective, so every rank takes as many batches as the one with the most.
    """
    mine = _share(samples, group)
    count = -(-len(mine) // _ROWS)
    if uniform:
        count = max(group.ranks.allgather(count))
    buffers = samples.buffers(_ROWS)
    sums = dict.fromkeys(metrics, 0.0)
    with evaluating(model), torch.inference_mode(), precision.autocast():
        for index in range(count):
            rows = mine[index * _ROWS : (index + 1) * _ROWS]
            if not len(rows):
                model(_nobody(samples, buffers).to(device))
                continue
            inputs, labels = samples.batch(rows, buffers)
            output = model(inputs.to(device))
            labels = labels.to(device)
            for name, metric in metrics.items():
                sums[name] += float(metric(output, labels)) * len(rows)
    *totals, seen = group.sums([*sums.values(), float(len(mine))])
    return {name: total / seen for name, total in zip(sums, totals, strict=True)}


def _nobody(samples: Samples, buffers: Any) -> torch.Tensor:
    """One row for a model that takes all ranks, on one that has none left, or has none at all."""
    inputs, _ = samples.batch(np.arange(min(1, len(samples))), buffers)
    return inputs if len(inputs) else inputs.new_zeros((1, *inputs.shape[1:]))


def _share(samples: Samples, group: Group) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The rows that this rank looks at: its own, or its part of those that every rank has."""
    if samples.sharded:
        return np.arange(len(samples))
    size = len(samples)
    return np.arange(size * group.rank // group.size, size * (group.rank + 1) // group.size)
