"""Values as flat bytes and back, without a copy: arrays, tensors and tables over whatever block holds them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from argosy.errors import CannotPlace
from argosy.memory.tiers.tier import Buffer, copy_bytes

Value: TypeAlias = Any
"""A NumPy array, a torch tensor or a pyarrow.Table."""


class Form(Protocol):
    """How to see a value in bytes."""

    @property
    def nbytes(self) -> int: ...

    def view(self, buffer: Buffer) -> Value:
        """The value over these bytes; writing to the one changes the other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArrayForm:
    """On an accelerator it is seen as a tensor, since NumPy cannot look there."""

    nbytes: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    """In memory: `axes` puts them into the order that the value has."""
    axes: tuple[int, ...]

    def view(self, buffer: Buffer) -> Value:
        if isinstance(buffer, np.ndarray):
            return buffer.view(self.dtype).reshape(self.shape).transpose(self.axes)
        import torch

        kind = torch.from_numpy(np.empty(0, self.dtype)).dtype
        return buffer.view(kind).reshape(self.shape).permute(self.axes)


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorForm:
    nbytes: int
    dtype: Any
    shape: tuple[int, ...]
    axes: tuple[int, ...]

    def view(self, buffer: Buffer) -> Value:
        import torch

        flat = torch.from_numpy(buffer) if isinstance(buffer, np.ndarray) else buffer
        return flat.view(self.dtype).reshape(self.shape).permute(self.axes)


@dataclass(frozen=True, kw_only=True, slots=True)
class TableForm:
    """An Arrow IPC file: columns are read where they lie."""

    nbytes: int

    def view(self, buffer: Buffer) -> Value:
        import pyarrow as pa

        if not isinstance(buffer, np.ndarray):
            raise CannotPlace("a table cannot be placed on an accelerator; place its columns as arrays")
        return pa.ipc.open_file(pa.py_buffer(buffer)).read_all()


@dataclass(frozen=True, kw_only=True, slots=True)
class Flat:
    """A value's form, and its bytes, still in the value itself."""

    form: Form
    source: Buffer

    def fill(self, target: Buffer) -> None:
        copy_bytes(self.source, target)


def flatten(name: str, value: Value) -> Flat:
    """Raises `CannotPlace` for a value that is not made of plain bytes."""
    if isinstance(value, np.ndarray):
        return _flatten_array(name, value)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _flatten_tensor(name, value, torch)
    pa = sys.modules.get("pyarrow")
    if pa is not None and isinstance(value, pa.Table):
        written = _ipc(value)
        return Flat(form=TableForm(nbytes=len(written)), source=written)
    raise CannotPlace(
        f"{name!r} is a {type(value).__name__}; a store holds NumPy arrays, torch tensors and pyarrow tables"
    )


def _flatten_array(name: str, value: NDArray[Any]) -> Flat:
    if value.dtype.hasobject:
        raise CannotPlace(f"{name!r} is an array of Python objects, which have no bytes of their own to place")
    if isinstance(value, np.ma.MaskedArray):
        raise CannotPlace(
            f"{name!r} is a masked array, and a store holds plain ones; put x.data and np.ma.getmaskarray(x) as two "
            "objects, and make np.ma.array(data, mask=mask) of them in each window"
        )
    if type(value) not in (np.ndarray, np.memmap):
        kind = type(value).__name__
        raise CannotPlace(f"{name!r} is a {kind}, of which a store would keep the numbers alone; put np.asarray(x)")
    there = np.asarray(value)
    order = _in_memory(there.strides)
    if not there.transpose(order).flags.c_contiguous:
        order = tuple(range(there.ndim))
    whole = np.ascontiguousarray(there.transpose(order))
    shape = tuple(value.shape[axis] for axis in order)
    form = ArrayForm(nbytes=whole.nbytes, dtype=whole.dtype, shape=shape, axes=_back(order))
    return Flat(form=form, source=whole.reshape(-1).view(np.uint8))


def _flatten_tensor(name: str, value: Any, torch: Any) -> Flat:
    if type(value) not in (torch.Tensor, torch.nn.Parameter) or value.layout is not torch.strided or value.is_quantized:
        kind = type(value).__name__ if value.layout is torch.strided else f"tensor of layout {value.layout}"
        raise CannotPlace(f"{name!r} is a {kind}; a store holds dense tensors: put the ones that it is made of")
    there = value.detach().resolve_conj().resolve_neg()
    order = _in_memory(there.stride())
    if not there.permute(order).is_contiguous():
        order = tuple(range(there.ndim))
    flat = there.permute(order).contiguous().reshape(-1)
    if flat.stride(0) != 1:  # of a single number any stride is contiguous
        flat = flat.clone(memory_format=torch.contiguous_format)
    shape = tuple(value.shape[axis] for axis in order)
    nbytes = flat.numel() * flat.element_size()
    form = TensorForm(nbytes=nbytes, dtype=value.dtype, shape=shape, axes=_back(order))
    return Flat(form=form, source=flat.view(torch.uint8))


def _in_memory(strides: Sequence[int]) -> tuple[int, ...]:
    """The axes as they lie in memory, the slowest first: what is in the order of Fortran stays in it, since sums and
    products of the same numbers in another order are not the same to the bit, nor as fast."""
    return tuple(sorted(range(len(strides)), key=lambda axis: -strides[axis]))


def _back(order: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(range(len(order)), key=lambda axis: order[axis]))


def _ipc(table: Any) -> NDArray[np.uint8]:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return np.frombuffer(sink.getvalue(), np.uint8)
