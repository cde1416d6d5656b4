"""Samples that are made when they are asked for, and say their own number: no memory of their own to be counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

EQUAL_NBYTES = 4096
SMALLEST_NBYTES, LARGEST_NBYTES = 100, 20 * 1024


class Numbered(Dataset):  # type: ignore[misc]
    """Tensors of one size, or bytes of sizes from SMALLEST_NBYTES to LARGEST_NBYTES."""

    def __init__(self, num_samples: int, *, equal: bool) -> None:
        self.num_samples = num_samples
        self.equal = equal

    def __len__(self) -> int:
        return self.num_samples

    def __getitem__(self, number: int) -> Any:
        values = np.full(nbytes_of(number, equal=self.equal), number % 251, np.uint8)
        return (number, torch.from_numpy(values) if self.equal else values.tobytes())


def nbytes_of(number: int, *, equal: bool) -> int:
    """Sizes of all kinds follow one another as if drawn at random."""
    if equal:
        return EQUAL_NBYTES
    return SMALLEST_NBYTES + number * 2654435761 % 2**32 * (LARGEST_NBYTES - SMALLEST_NBYTES) // 2**32
