"""What a kind of memory must offer: blocks of bytes, and an honest answer when there are none to be had."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np

from argosy import arguments
from argosy.errors import TierFull
from argosy.units import format_nbytes, parse_nbytes

Buffer: TypeAlias = Any
"""Flat bytes: a NumPy array of uint8, or a torch tensor of uint8 on an accelerator."""


class Block(Protocol):
    """So many bytes in one tier. The store opens it in a window, and rests it when that window ends."""

    nbytes: int

    def open(self) -> Buffer:
        """The bytes, ready to be used."""

    def rest(self, *, written: bool) -> None:
        """No window uses it now: what is only there for speed (cached pages, a staged copy) goes."""

    def free(self) -> None:
        """The bytes are no longer needed."""


class Tier(Protocol):
    """One kind of memory. `name` is what placements call it."""

    @property
    def name(self) -> str: ...

    def check(self) -> None:
        """Raises `NoTier` where this machine lacks it."""

    def hold(self, nbytes: int) -> Block:
        """New bytes. Raises `TierFull` and leaves nothing behind where there is no room."""

    def settle(self) -> None:
        """Waits for work under way that uses this tier, so that a clock may be read."""


def tier_of(name: str, given: Any) -> Tier:
    """A tier of ours, or of the user's own."""
    told = not isinstance(given, type) and all(
        callable(getattr(given, each, None)) for each in ("check", "hold", "settle")
    )
    if not told or not isinstance(getattr(given, "name", None), str):
        raise TypeError(f"{name} must be a tier, such as Ram() or Disk(), not {arguments.show(given)}")
    tier: Tier = given
    return tier


def asked_nbytes(given: int) -> int:
    """Of a block."""
    return given if type(given) is int and 0 <= given < 2**62 else arguments.whole("nbytes", given, least=0, most=2**62)


class Room:
    """Counts the bytes of a tier that has a capacity; a tier without one is as large as the machine lets it be."""

    def __init__(self, name: str, capacity: str | int | None) -> None:
        self._name = name
        self.capacity = None if capacity is None else parse_nbytes(capacity, "capacity")
        self.used = 0

    def claim(self, nbytes: int, *, free: int | None = None) -> None:
        """`free` is what the machine has left, where that is known."""
        left = None if self.capacity is None else self.capacity - self.used
        if free is not None:
            left = free if left is None else min(left, free)
        if left is not None and nbytes > left:
            raise full(self._name, nbytes, left)
        self.used += nbytes

    def release(self, nbytes: int) -> None:
        self.used -= nbytes


def full(tier: str, nbytes: int, left: int) -> TierFull:
    return TierFull(
        f"tier {tier!r} is full: {format_nbytes(nbytes)} are needed and {format_nbytes(max(left, 0))} are free; "
        "move something else out first, or give the tier more room"
    )


def copy_bytes(source: Buffer, target: Buffer) -> None:
    """From one open block into another, whichever tiers they are in."""
    if isinstance(source, np.ndarray) and isinstance(target, np.ndarray):
        np.copyto(target, source)
        return
    import torch

    tensors = [torch.from_numpy(side) if isinstance(side, np.ndarray) else side for side in (target, source)]
    tensors[0].copy_(tensors[1])
