"""One column of samples: where its rows lie, and how some of them are gathered into a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from argosy.shuffle.holdings import Ids
from argosy.train.data.kernels import take_bits, take_rows


class Buffer:
    """Memory for the rows of a batch, as a tensor, as a matrix, and as a matrix for NumPy where that can be."""

    __slots__ = ("array", "flat", "tensor")

    def __init__(self, rows: int, shape: tuple[int, ...], dtype: Any, device: Any, pin: bool) -> None:
        self.tensor = torch.empty((rows, *shape), dtype=dtype, device=device, pin_memory=pin)
        self.flat = self.tensor.view(rows, prod(shape))
        self.array: Any = self.flat.numpy() if device.type == "cpu" and dtype != torch.bfloat16 else None


class Column(Protocol):
    @property
    def shape(self) -> tuple[int, ...]:
        """Of one row."""

    @property
    def dtype(self) -> Any:
        """The torch type of its values, before any conversion."""

    @property
    def device(self) -> Any: ...

    def __len__(self) -> int: ...

    def gather(self, ids: Ids, out: Buffer, at: int) -> None:
        """Put these rows, side by side with what else is there, into the buffer's columns from `at`."""


_CPU = torch.device("cpu")
_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Pieces:
    """Numbers that lie row by row in one or several pieces of memory, as the chunks of an Arrow column do."""

    shape: tuple[int, ...]
    dtype: Any
    addresses: NDArray[np.uint64]
    starts: NDArray[np.int64]
    like: NDArray[Any]
    """Empty; its type is that of the values."""
    bit_offsets: NDArray[np.int64] | None
    """Of booleans that are packed into bits."""
    owner: Any
    """Keeps the memory."""
    device: Any = _CPU

    def __len__(self) -> int:
        return int(self.starts[-1])

    def gather(self, ids: Ids, out: Buffer, at: int) -> None:
        rows, like = out.array[: len(ids)], self.like
        if self.dtype == out.tensor.dtype:  # bits are bits: fewer kernels to compile
            rows, like = rows.view(_WORDS[like.itemsize]), like.view(_WORDS[like.itemsize])
        if self.bit_offsets is not None:
            wrong = take_bits(self.addresses, self.starts, ids, self.bit_offsets, rows, at)
        else:
            wrong = take_rows(self.addresses, self.starts, ids, prod(self.shape), like, rows, at)
        if wrong >= 0:
            raise IndexError(f"row {ids[wrong]} of {len(self)} samples")


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    """A NumPy array that is not one plain piece of memory: strided, of another byte order, of half precision."""

    array: NDArray[Any]
    device: Any = _CPU

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape[1:]

    @property
    def dtype(self) -> Any:
        return torch_type(self.array.dtype)

    def __len__(self) -> int:
        return len(self.array)

    def gather(self, ids: Ids, out: Buffer, at: int) -> None:
        width = prod(self.shape)
        out.array[: len(ids), at : at + width] = self.array[ids].reshape(len(ids), width)


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """A torch tensor, on whatever device and with whatever strides."""

    tensor: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape[1:])

    @property
    def dtype(self) -> Any:
        return self.tensor.dtype

    @property
    def device(self) -> Any:
        return self.tensor.device

    def __len__(self) -> int:
        return len(self.tensor)

    def gather(self, ids: Ids, out: Buffer, at: int) -> None:
        rows = torch.from_numpy(ids).to(self.device)
        width = prod(self.shape)
        if self.dtype == out.tensor.dtype and width == out.flat.shape[1]:
            torch.index_select(self.tensor, 0, rows, out=out.tensor[: len(ids)])
        else:
            taken = torch.index_select(self.tensor, 0, rows)
            out.flat[: len(ids), at : at + width].copy_(taken.reshape(len(ids), width))


def torch_type(dtype: np.dtype[Any]) -> Any:
    return torch.from_numpy(np.empty(0, dtype.newbyteorder("="))).dtype


def pieces(
    addresses: Sequence[int],
    lengths: Sequence[int],
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    owner: Any,
    bit_offsets: Sequence[int] | None = None,
) -> Pieces:
    """`lengths[p]` rows from `addresses[p]` on, for every piece p."""
    return Pieces(
        shape=shape,
        dtype=torch_type(dtype),
        addresses=np.array(addresses, np.uint64),
        starts=np.array([0, *accumulate(lengths)], np.int64),
        like=np.empty(0, dtype),
        bit_offsets=None if bit_offsets is None else np.array(bit_offsets, np.int64),
        owner=owner,
    )


def array_column(array: NDArray[Any]) -> Column:
    """Numbers or booleans."""
    if array.dtype == np.float16 or not (array.flags.c_contiguous and array.dtype.isnative):
        return Array(array)
    if array.dtype == np.bool_:
        array = array.view(np.uint8)
    return pieces([array.ctypes.data], [len(array)], array.dtype, array.shape[1:], array)
