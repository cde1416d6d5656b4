"""A small convolutional network for many workers at once, with one set of parameters for all or one for each.

Activations are [rows, sets * channels, height, width]. With one set the samples of all workers are rows, one worker's
after the other's. With a set for each worker a row has one sample of every worker side by side, and convolutions are
grouped. A BatchNorm that looks at each worker by itself wants the workers side by side, one that looks at all of them
wants rows: where parameters lie the other way, activations are turned and turned back.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn


class Network:
    """`model` is a `ConvNet`: it says the layers and the first weights, and is not changed. `norm` is one of the plan's
    `NORMS`; a model without BatchNorm goes with "none"."""

    def __init__(self, model: Any, *, num_workers: int, num_sets: int, norm: str) -> None:
        self.num_workers = num_workers
        self.num_sets = num_sets
        self.norm = norm
        self._model = model
        self._convs = [part for part in model.features if isinstance(part, nn.Conv2d)]
        self._norms = [part for part in model.features if isinstance(part, nn.BatchNorm2d)]
        self._num_groups = 1 if norm == "synchronised" else num_workers
        self.parameters = [_repeated(one, num_sets).requires_grad_() for one in model.parameters()]
        self.statistics = [
            (_repeated(one.running_mean, self._num_groups), _repeated(one.running_var, self._num_groups))
            for one in self._norms
        ]

    def rows(self, images: Any) -> Any:
        """From images [workers, samples, channels, ...], as this network takes them."""
        if self.num_sets == 1:
            return images.flatten(0, 1)
        return images.transpose(0, 1).flatten(1, 2)

    def scores(self, rows: Any) -> Any:
        """Of each class, [workers * samples, classes], one worker's samples after the other's. Updates the running
        statistics."""
        given = iter(self.parameters)
        for number, conv in enumerate(self._convs):
            weight, bias = next(given).flatten(0, 1), next(given).flatten()
            rows = F.conv2d(rows, weight, bias, conv.stride, conv.padding, groups=self.num_sets)
            if self._norms:
                rows = self._normal(rows, number, given)
            rows = F.relu(rows)
        found = rows.unflatten(1, (self.num_sets, -1))
        pooled = torch.cat([found.mean((3, 4)), found.amax((3, 4))], 2)
        weight, bias = next(given), next(given)
        return torch.baddbmm(bias[:, None], pooled.transpose(0, 1), weight.transpose(1, 2)).flatten(0, 1)

    def _normal(self, rows: Any, number: int, given: Iterator[Any]) -> Any:
        norm = self._norms[number]
        mean, variance = (one.flatten() for one in self.statistics[number])
        weight, bias = next(given), next(given)
        fits = self.num_sets <= self._num_groups  # else one group has the parameters of many
        scale, shift = (one.expand(self._num_groups, -1).flatten() if fits else None for one in (weight, bias))
        rows = self._turned(rows, self.num_sets, self._num_groups)
        rows = F.batch_norm(rows, mean, variance, scale, shift, training=True, momentum=norm.momentum, eps=norm.eps)
        rows = self._turned(rows, self._num_groups, self.num_sets)
        return rows if fits else torch.addcmul(bias.view(1, -1, 1, 1), rows, weight.view(1, -1, 1, 1))

    def _turned(self, rows: Any, before: int, after: int) -> Any:
        """Workers that lay one after the other come side by side, or the other way."""
        if before == after:
            return rows
        if after == 1:
            return rows.unflatten(1, (self.num_workers, -1)).transpose(0, 1).flatten(0, 1)
        return rows.unflatten(0, (self.num_workers, -1)).transpose(0, 1).flatten(1, 2)

    def average(self) -> None:
        """Every set of parameters becomes the mean of all."""
        with torch.no_grad():
            for one in self.parameters:
                one.copy_(one.mean(0, keepdim=True).expand_as(one))

    def settled(self) -> Any:
        """A plain model, to be evaluated: the mean of the parameters, and the running statistics that `norm` says."""
        model = copy.deepcopy(self._model).eval()
        with torch.no_grad():
            for mine, stacked in zip(model.parameters(), self.parameters, strict=True):
                mine.copy_(stacked.mean(0))
            norms = [part for part in model.features if isinstance(part, nn.BatchNorm2d)]
            for part, found in zip(norms, self.statistics, strict=True):
                for mine, stacked in zip((part.running_mean, part.running_var), found, strict=True):
                    mine.copy_(stacked[0] if self.norm == "local" else stacked.mean(0))
        return model


def _repeated(one: Any, times: int) -> Any:
    return one.detach().expand(times, *one.shape).clone()
