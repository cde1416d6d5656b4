"""The samples of whatever was given, by number: a Dataset, or columns whose rows are samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa
import torch
from torch.utils.data import DataLoader, IterableDataset, Subset, TensorDataset

from argosy.errors import BadData
from argosy.tensors import tensors

_AT_ONCE = 256


class Source(Protocol):
    def __len__(self) -> int: ...

    def samples(self, numbers: Sequence[int], readers: int) -> Iterator[list[Any]]:
        """These samples, some at a time, in this order."""


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Samples of a map-style Dataset, read one by one, or by its `__getitems__`."""

    dataset: Any

    def __len__(self) -> int:
        return len(self.dataset)

    def samples(self, numbers: Sequence[int], readers: int) -> Iterator[list[Any]]:
        """`readers`: processes that read at the same time."""
        if readers:
            subset = Subset(self.dataset, list(numbers))
            yield from DataLoader(subset, batch_size=_AT_ONCE, num_workers=readers, collate_fn=list)
            return
        many = getattr(self.dataset, "__getitems__", None)
        for begin in range(0, len(numbers), _AT_ONCE):
            some = list(numbers[begin : begin + _AT_ONCE])
            yield list(many(some)) if many is not None else [self.dataset[number] for number in some]


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Rows of tensors that have a row for each sample: a tuple of them, or a dict by name."""

    columns: tuple[torch.Tensor, ...]
    names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.columns[0])

    def samples(self, numbers: Sequence[int], readers: int) -> Iterator[list[Any]]:  # noqa: ARG002 - nothing to wait for
        for number in numbers:
            yield [self._row(number)]

    def _row(self, number: int) -> Any:
        values = tuple(column[number] for column in self.columns)
        return values if self.names is None else dict(zip(self.names, values, strict=True))


def source_of(dataset: Any) -> tuple[Source, bool]:
    """And whether it is known to be this rank's own shard: a `pa.Table` is, as that of a frame in a task."""
    if hasattr(dataset, "__arrow_c_stream__"):
        columns = tensors(dataset if isinstance(dataset, pa.Table) else pa.table(dataset))
        if not columns:
            raise BadData("the table has no columns, so its rows are no samples")
        return Columns(tuple(columns.values()), tuple(columns)), isinstance(dataset, pa.Table)
    single = isinstance(dataset, str | bytes | bytearray | type) or getattr(dataset, "ndim", 1) == 0
    by_number = hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")
    if isinstance(dataset, IterableDataset) or single or not by_number:
        raise BadData(
            f"{type(dataset).__name__} has no samples that can be asked for by number; "
            "give a Dataset with __len__ and __getitem__, or a table"
        )
    if isinstance(dataset, (tuple, Mapping)):
        raise BadData(
            f"a {type(dataset).__name__} may have samples in it, or columns; give TensorDataset(x, y) of tensors with "
            "a row for each sample, or a list of samples"
        )
    if isinstance(dataset, TensorDataset):
        return Columns(tuple(tensor.detach().cpu() for tensor in dataset.tensors)), False
    return Items(dataset), False
