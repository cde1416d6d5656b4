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
    training = model.training
    model.eval()
    try:
        with torch.inference_mode(), precision.autocast():
            for index in range(count):
                rows = mine[index * _ROWS : (index + 1) * _ROWS]
                inputs, labels = samples.batch(rows if len(rows) else mine[:1], buffers)
                output = model(inputs.to(device))
                labels = labels.to(device)
                for name, metric in metrics.items():
                    sums[name] += float(metric(output, labels)) * len(rows)
    finally:
        model.train(training)
    *totals, seen = group.sums([*sums.values(), float(len(mine))])
    return {name: total / seen for name, total in zip(sums, totals, strict=True)}


def _share(samples: Samples, group: Group) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The rows that this rank looks at: its own, or its part of those that every rank has."""
    if samples.sharded:
        return np.arange(len(samples))
    size = len(samples)
    return np.arange(size * group.rank // group.size, size * (group.rank + 1) // group.size)
