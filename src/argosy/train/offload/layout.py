"""A tensor, apart from its bytes: all the bytes of its storage, and how it looks at them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """Strides and place in the storage are kept, so that kernels add up in the same order."""

    dtype: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    @staticmethod
    def of(tensor: torch.Tensor) -> Layout:
        return Layout(
            dtype=tensor.dtype,
            shape=tuple(tensor.shape),
            strides=tuple(tensor.stride()),
            offset=tensor.storage_offset(),
        )

    def on(self, flat: torch.Tensor) -> torch.Tensor:
        """The tensor over these bytes, which are as many as its storage had."""
        whole = flat[: len(flat) // self.dtype.itemsize * self.dtype.itemsize].view(self.dtype)
        return whole.as_strided(self.shape, self.strides, self.offset)


def flat_of(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of its whole storage, without a copy."""
    return torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(tensor.untyped_storage())


def nbytes_of(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def has_its_own_storage(tensor: torch.Tensor) -> bool:
    """It looks at every byte of its storage once."""
    return bool(tensor.layout is torch.strided and tensor.untyped_storage().nbytes() == nbytes_of(tensor))
