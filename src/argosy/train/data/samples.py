"""What one rank learns from: inputs and labels that can be gathered by number of row."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import torch
from torch.utils.data import default_collate

from argosy.errors import BadData
from argosy.shuffle.holdings import Ids
from argosy.train.data.columns import Buffer, Column
from argosy.train.data.labels import Classes

Pair = tuple[Any, Any]
"""Inputs and labels, as tensors."""


@dataclass(frozen=True, slots=True)
class Buffers:
    """Memory for a batch, to be filled again and again."""

    inputs: Buffer
    labels: Buffer


class Samples(Protocol):
    """All ranks have made theirs together, so that classes are those of all ranks."""

    @property
    def sharded(self) -> bool:
        """Whether each rank has rows of its own; else every rank can read all samples."""

    @property
    def classes(self) -> Classes | None:
        """Those that occur on any rank, in order: numbers, or names. None for labels that are no classes, or not known
        before they are read."""

    @property
    def num_classes(self) -> int | None:
        """How many outputs a model needs to name them all."""

    @property
    def features(self) -> tuple[str, ...]:
        """Names of columns; none for data without names."""

    @property
    def label(self) -> str | None: ...

    @property
    def row_nbytes(self) -> int | None:
        """Bytes of one sample in a batch; None where each sample is made when it is read."""

    def __len__(self) -> int:
        """Rows on this rank."""

    def buffers(self, rows: int, *, pin: bool = False) -> Buffers | None:
        """Memory for so many rows; None where a batch brings its own."""

    def batch(self, ids: Ids, into: Buffers | None = None) -> Pair:
        """These rows; into the buffers, which they may not fill, or into fresh memory."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Side:
    """Inputs, or labels: columns side by side."""

    columns: tuple[Column, ...]
    shape: tuple[int, ...]
    dtype: Any

    def buffer(self, rows: int, pin: bool) -> Buffer:
        device = self.columns[0].device
        return Buffer(rows, self.shape, self.dtype, device, pin and device.type == "cpu")

    def gather(self, ids: Ids, out: Buffer) -> Any:
        at = 0
        for column in self.columns:
            column.gather(ids, out, at)
            at += prod(column.shape)
        return out.tensor[: len(ids)]

    @property
    def row_nbytes(self) -> int:
        return prod(self.shape) * int(self.dtype.itemsize)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ColumnSamples:
    """Samples that lie in memory, in columns."""

    sharded: bool
    inputs: Side
    labels: Side
    classes: Classes | None
    features: tuple[str, ...] = ()
    label: str | None = None

    @property
    def num_classes(self) -> int | None:
        return _num_classes(self.classes)

    @property
    def row_nbytes(self) -> int:
        return self.inputs.row_nbytes + self.labels.row_nbytes

    def __len__(self) -> int:
        return len(self.labels.columns[0])

    def buffers(self, rows: int, *, pin: bool = False) -> Buffers:
        return Buffers(self.inputs.buffer(rows, pin), self.labels.buffer(rows, pin))

    def batch(self, ids: Ids, into: Buffers | None = None) -> Pair:
        into = into or self.buffers(len(ids))
        return self.inputs.gather(ids, into.inputs), self.labels.gather(ids, into.labels)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RowSamples:
    """Samples of a map-style Dataset, each made when it is read."""

    dataset: Any
    classes: Classes | None
    sharded: bool = False
    features: tuple[str, ...] = ()
    label: str | None = None
    row_nbytes: None = None

    @property
    def num_classes(self) -> int | None:
        return _num_classes(self.classes)

    def __len__(self) -> int:
        return len(self.dataset)

    def buffers(self, rows: int, *, pin: bool = False) -> None:  # noqa: ARG002 - a batch brings its own memory
        return None

    def batch(self, ids: Ids, into: Buffers | None = None) -> Pair:  # noqa: ARG002
        batch = default_collate([self.dataset[i] for i in ids.tolist()])
        if not (isinstance(batch, (tuple, list)) and len(batch) == 2 and all(map(torch.is_tensor, batch))):
            raise BadData(
                f"an item of {type(self.dataset).__name__} must be a pair of an input and a label that become tensors; "
                "wrap the Dataset in one that returns such pairs"
            )
        inputs, labels = batch
        return inputs, labels if labels.is_floating_point() else labels.long()


def _num_classes(classes: Classes | None) -> int | None:
    if not classes:
        return None
    return classes[-1] + 1 if isinstance(classes[0], int) else len(classes)
