"""A sample as bytes, and back.

Samples that all have the same form (tensors, arrays and numbers of the same types and shapes, in the same tuples, lists
and dicts) have a *layout*: each value lies at the same place in every sample, and a batch is one copy. All others are
pickled, each by itself, and come back as what they were.
"""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from argosy.errors import CannotPack
from argosy.shuffle.seal import Seal
from argosy.shuffle.store import Bytes

_NUMBERS = {bool: np.dtype(np.bool_), int: np.dtype(np.int64), float: np.dtype(np.float64)}
_LARGEST = 2**63 - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Leaf:
    """One value of a sample."""

    kind: str
    """tensor, array, scalar (of NumPy), or the Python number bool, int or float."""
    dtype: str
    shape: tuple[int, ...]
    at: int
    """Its first byte in the sample."""

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * _item_nbytes(self.dtype)

    def put(self, value: Any, into: Bytes) -> bool:
        """False where the value is of another form."""
        if _kind_of(value) != self.kind or (self.shape, self.dtype) != _form_of(value):
            return False
        if self.nbytes:
            into[self.at : self.at + self.nbytes] = _raw(value)
        return True

    def get(self, rows: Bytes) -> Any:
        """Of many samples, as default_collate puts them together."""
        raw = np.ascontiguousarray(rows[:, self.at : self.at + self.nbytes])
        stacked = _tensor(raw, self.dtype, (len(rows), *self.shape))
        return stacked.to(torch.float64) if self.kind == "float" else stacked

    def get_one(self, row: Bytes) -> Any:
        value = _tensor(row[self.at : self.at + self.nbytes], self.dtype, self.shape)
        if self.kind == "tensor":
            return value
        if self.kind == "scalar":
            return value.numpy()[()]
        return value.numpy() if self.kind == "array" else value.item()


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """The form that all samples have: equal on two ranks if it is the same."""

    form: Any
    """Tuples, lists and dicts, with the numbers of leaves in them."""
    leaves: tuple[Leaf, ...]
    nbytes: int

    def pack(self, sample: Any, into: Bytes) -> bool:
        """False where the sample has another form."""
        values: list[Any] = []
        if _form(sample, values) != self.form:
            return False
        return all(leaf.put(value, into) for leaf, value in zip(self.leaves, values, strict=True))

    def pack_rows(self, columns: Sequence[torch.Tensor], numbers: NDArray[np.int64]) -> Bytes:
        """These rows of columns, one for each leaf."""
        which = torch.from_numpy(numbers)
        rows = np.zeros((len(numbers), self.nbytes), np.uint8)
        for leaf, column in zip(self.leaves, columns, strict=True):
            if leaf.nbytes:
                raw = torch.index_select(column, 0, which).reshape(-1).view(torch.uint8)
                rows[:, leaf.at : leaf.at + leaf.nbytes] = raw.reshape(len(numbers), leaf.nbytes).numpy()
        return rows

    def unpack(self, row: Bytes) -> Any:
        return _refilled(self.form, [leaf.get_one(row) for leaf in self.leaves])

    def batch(self, rows: Bytes) -> Any:
        """Samples side by side, each value as one tensor with a row for each: what default_collate makes of them."""
        return _refilled(self.form, [leaf.get(rows) for leaf in self.leaves], collated=True)


def layout_of(sample: Any) -> Layout | None:
    """None for samples in which there is something else than tensors, arrays and numbers."""
    values: list[Any] = []
    form = _form(sample, values)
    leaves: list[Leaf] = []
    end = 0
    for value in values:
        kind = _kind_of(value)
        if kind is None:
            return None
        shape, dtype = _form_of(value)
        item = _item_nbytes(dtype)
        leaf = Leaf(kind=kind, dtype=dtype, shape=shape, at=-(-end // item) * item)
        end = leaf.at + leaf.nbytes
        leaves.append(leaf)
    return Layout(form=form, leaves=tuple(leaves), nbytes=max(end, 1)) if leaves else None


def pickled(sample: Any, name: str, seal: Seal) -> bytes:
    """Of a sample that has no layout; `name` is for the error. The seal says that a rank of this run has packed it."""
    buffer = io.BytesIO()
    try:
        _Pickler(buffer, protocol=5).dump(sample)
    except Exception as error:  # whatever a sample's own __reduce__ raises
        raise CannotPack(
            f"{name} is a {type(sample).__name__} that cannot be packed to travel to another rank ({error}); "
            "return tensors, arrays, numbers or strings from the dataset, and make the rest in transform="
        ) from error
    return seal.sealed(buffer.getvalue())


def unpickled(data: Any, seal: Seal) -> Any:
    return pickle.loads(seal.opened(data))


class _Pickler(pickle.Pickler):
    """Tensors as arrays: without the storage and the device that torch would write."""

    def reducer_override(self, value: Any) -> Any:
        if _is_plain(value):
            return _restored, (_raw(value).tobytes(), _name(value.dtype), tuple(value.shape))
        return NotImplemented


def _restored(raw: bytes, dtype: str, shape: tuple[int, ...]) -> torch.Tensor:
    return _tensor(np.frombuffer(bytearray(raw), np.uint8), dtype, shape)


def _kind_of(value: Any) -> str | None:
    if type(value) in _NUMBERS:
        fits = type(value) is not int or -_LARGEST <= value <= _LARGEST
        return type(value).__name__ if fits else None
    if _is_plain(value):
        return "tensor"
    if type(value) in (np.ndarray, np.memmap) or isinstance(value, np.generic):
        known = value.dtype.kind in "biufc" and value.dtype.isnative and hasattr(torch, value.dtype.name)
        return ("scalar" if isinstance(value, np.generic) else "array") if known else None
    return None


def _is_plain(value: Any) -> bool:
    """A tensor that is its numbers, and nothing else."""
    return type(value) is torch.Tensor and value.layout == torch.strided and not value.is_quantized


def _form_of(value: Any) -> tuple[tuple[int, ...], str]:
    if type(value) in _NUMBERS:
        return (), _NUMBERS[type(value)].name
    return tuple(value.shape), _name(value.dtype)


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _item_nbytes(dtype: str) -> int:
    return int(_torch_type(dtype).itemsize)


def _torch_type(dtype: str) -> Any:
    return getattr(torch, dtype)


def _raw(value: Any) -> Bytes:
    tensor = value.detach().cpu() if torch.is_tensor(value) else torch.from_numpy(np.array(value))
    raw: Bytes = tensor.resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8).numpy()
    return raw


def _tensor(raw: Bytes, dtype: str, shape: tuple[int, ...]) -> torch.Tensor:
    if raw.size == 0:
        return torch.empty(shape, dtype=_torch_type(dtype))
    return torch.from_numpy(raw.reshape(-1)).view(_torch_type(dtype)).reshape(shape)


def _form(sample: Any, values: list[Any]) -> Any:
    """The tuples, lists and dicts of a sample, with its other values taken out, in order."""
    kind = type(sample)
    if kind in (dict, OrderedDict):
        return (kind, *((key, _form(value, values)) for key, value in sample.items()))
    if kind in (tuple, list) or (isinstance(sample, tuple) and hasattr(kind, "_fields")):
        return (kind, *(_form(value, values) for value in sample))
    values.append(sample)
    return len(values) - 1


def _refilled(form: Any, values: list[Any], *, collated: bool = False) -> Any:
    if isinstance(form, int):
        return values[form]
    kind, *parts = form
    if kind in (dict, OrderedDict):
        return kind({key: _refilled(part, values, collated=collated) for key, part in parts})
    inner = [_refilled(part, values, collated=collated) for part in parts]
    if hasattr(kind, "_fields"):
        return kind(*inner)
    return inner if collated else kind(inner)  # default_collate makes lists of plain tuples
