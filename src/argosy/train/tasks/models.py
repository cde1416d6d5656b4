"""The small models of the tasks. They take bytes and scale them; there is no BatchNorm unless it is asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import nn


class ConvNet(nn.Module):
    """Strided convolutions over standardised images, the mean and the maximum over all places, one linear layer.

    The maximum is for what is in one place only, the mean for what is everywhere.
    """

    def __init__(self, *, channels: int, classes: int, widths: Sequence[int], batch_norm: bool = False) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for before, after in zip((channels, *widths), widths, strict=False):
            kernel = 3 if layers else 5
            conv = nn.Conv2d(before, after, kernel, stride=2, padding=kernel // 2)
            nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
            nn.init.zeros_(conv.bias)
            layers += [conv, nn.BatchNorm2d(after), nn.ReLU()] if batch_norm else [conv, nn.ReLU()]
        self.features = nn.Sequential(*layers)
        self.classes = _last(2 * widths[-1], classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        pixels = images.to(self.classes.weight.dtype)
        spread = pixels.std(dim=(1, 2, 3), keepdim=True) + 1.0
        found = self.features((pixels - pixels.mean(dim=(1, 2, 3), keepdim=True)) / spread)
        return self.classes(torch.cat([found.mean(dim=(2, 3)), found.amax(dim=(2, 3))], dim=1))


def _last(before: int, classes: int) -> nn.Linear:
    """All classes about equally likely at first, whatever the width."""
    layer = nn.Linear(before, classes)
    nn.init.normal_(layer.weight, std=1 / math.sqrt(before))
    nn.init.zeros_(layer.bias)
    return layer


class DenseNet(nn.Module):
    """Fully connected layers over maps of few ones among many zeros. `scale` makes up for the zeros."""

    def __init__(
        self, *, inputs: int, classes: int, widths: Sequence[int], scale: float, batch_norm: bool = False
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for before, after in zip((inputs, *widths), widths, strict=False):
            dense = nn.Linear(before, after)
            nn.init.kaiming_normal_(dense.weight, nonlinearity="relu")
            nn.init.zeros_(dense.bias)
            layers += [dense, nn.BatchNorm1d(after), nn.ReLU()] if batch_norm else [dense, nn.ReLU()]
        self.features = nn.Sequential(*layers)
        self.classes = _last(widths[-1], classes)
        self.scale = scale

    def forward(self, maps: torch.Tensor) -> torch.Tensor:
        flat = maps.flatten(1).to(self.classes.weight.dtype)
        return self.classes(self.features(flat * self.scale))
