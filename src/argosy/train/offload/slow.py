"""What slow memory must offer to training."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import torch

Place = TypeVar("Place")
SMALL_NBYTES = 4096
"""A smaller tensor stays in fast memory: moving it costs more than it takes."""


class Slow(Protocol):
    """Places for the bytes of tensors. `flat` is always a tensor of uint8 that fills its place."""

    fast: str
    """Names of the two tiers."""
    slow: str
    asynchronous: bool
    """Moves go on while the device computes; the next one is begun ahead."""

    def hold(self, nbytes: int) -> Any:
        """A place. Raises `TierFull` where there is no room."""

    def write(self, place: Any, flat: torch.Tensor) -> None:
        """From the device, or from the host."""

    def read(self, place: Any) -> torch.Tensor:
        """New memory on the device, with these bytes."""

    def read_ahead(self, place: Any) -> None:
        """It will be read next: begin now, where moves go on by themselves."""

    def look(self, place: Any) -> torch.Tensor:
        """The bytes where they lie, on the host: for a checkpoint. Settle before reading; good until the next write."""

    def free(self, place: Any) -> None: ...

    def settle(self) -> None:
        """Waits for moves and for the device, so that a clock may be read."""

    def peak_nbytes(self) -> int | None:
        """The most fast memory in use since it was last asked, if the device counts it."""

    def close(self) -> None: ...


class Pool(Generic[Place]):
    """Places that were freed wait for the next tensor of their size: each step asks for the same ones again."""

    def __init__(self, make: Callable[[int], Place]) -> None:
        self._make = make
        self._idle: dict[int, list[Place]] = defaultdict(list)

    def take(self, nbytes: int) -> Place:
        idle = self._idle[nbytes]
        return idle.pop() if idle else self._make(nbytes)

    def give(self, nbytes: int, place: Place) -> None:
        self._idle[nbytes].append(place)

    def empty(self) -> list[Place]:
        left = [place for places in self._idle.values() for place in places]
        self._idle.clear()
        return left
