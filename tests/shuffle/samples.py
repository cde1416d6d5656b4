"""Samples that say their own number."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.data import Dataset


class Numbered(Dataset):
    """In tensors of one form, or in objects of different sizes."""

    def __init__(self, num_samples: int, kind: str = "tensors") -> None:
        self.num_samples = num_samples
        self.kind = kind

    def __len__(self) -> int:
        return self.num_samples

    def __getitem__(self, number: int) -> Any:
        if self.kind == "tensors":
            return torch.full((3,), float(number)), number
        return {"number": number, "text": "x" * (number % 97), "row": torch.arange(number % 13)}


def number_of(sample: Any) -> int:
    """And the sample is whole."""
    if isinstance(sample, dict):
        assert sample["text"] == "x" * (sample["number"] % 97)
        assert torch.equal(sample["row"], torch.arange(sample["number"] % 13))
        return int(sample["number"])
    assert sample[0].tolist() == [float(sample[1])] * 3
    return int(sample[1])


def numbers_of_batch(batch: Any) -> list[int]:
    rows, numbers = batch
    assert rows.tolist() == [[float(number)] * 3 for number in numbers]
    numbers_read: list[int] = numbers.tolist()
    return numbers_read
