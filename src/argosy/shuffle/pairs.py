"""Samples of any form as pairs of an input and a label, for a diagnosis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

_LABELS = ("label", "target", "y")


class Pairs:
    """A dataset of pairs. In a dict the label has the name label, target or y; a sample without one has the label 0."""

    def __init__(self, read: Callable[[int], Any], num_samples: int) -> None:
        self._read = read
        self._num_samples = num_samples

    def __len__(self) -> int:
        return self._num_samples

    def __getitem__(self, number: int) -> tuple[Any, Any]:
        sample = self._read(number)
        if isinstance(sample, Mapping):
            label = next((name for name in _LABELS if name in sample), None)
            return _together([value for name, value in sample.items() if name != label]), sample.get(label, 0)
        if isinstance(sample, (tuple, list)) and len(sample) == 2:
            return sample[0], sample[1]
        return sample if hasattr(sample, "shape") else str(sample), 0


def _together(values: list[Any]) -> Any:
    """Numbers of all kinds in one line; what is no number is left out."""
    numbers = [value for value in values if isinstance(value, (int, float)) or hasattr(value, "shape")]
    return torch.cat([torch.as_tensor(value, dtype=torch.float64).reshape(-1) for value in numbers] or [torch.zeros(0)])
