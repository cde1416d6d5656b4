"""Memory of the host that the device can reach by itself: slower by the width of the bus between them."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

from argosy import arguments
from argosy.memory.tiers.cuda.device import is_out_of_memory, torch_with_cuda, wait_for_stream
from argosy.memory.tiers.cuda.lane import Lane
from argosy.memory.tiers.cuda.staged import StagedBlock, Staging
from argosy.memory.tiers.tier import Room, asked_nbytes, full
from argosy.resources.discover.memory import available_nbytes

Mode: TypeAlias = Literal["zero-copy", "staged"]


class PinnedHost:
    """Page-locked memory of the host; values in it are CUDA tensors all the same.

    zero-copy    kernels read and write it across the bus, byte by byte as they touch them: best for what is touched
                 once or sparsely; what a kernel reads again crosses the bus again
    staged       a window works on a copy in the device's memory, made on a stream of its own when the object is first
                 taken, and copied back if it was written. The device needs room for the objects of one window, and for
                 one more: with `prefetch` the object that came next the last time is copied ahead, while windows before
                 its own still run. What it then costs depends on how long those take, so a law is further off than
                 without.

    torch takes page-locked memory in powers of two and keeps what is freed for the next object.
    """

    name = "pinned"

    def __init__(
        self, device: int = 0, mode: Mode = "zero-copy", *, prefetch: bool = True, capacity: str | int | None = None
    ) -> None:
        arguments.one_of("mode", mode, get_args(Mode))
        self.device = arguments.whole("device", device, least=0)
        self.mode: Mode = mode
        self._prefetch = arguments.flag("prefetch", prefetch)
        self._room = Room(self.name, capacity)
        self._staging: Staging | None = None

    def check(self) -> None:
        torch_with_cuda(self.device)

    def hold(self, nbytes: int) -> ZeroCopyBlock | StagedBlock:
        nbytes = asked_nbytes(nbytes)
        torch = torch_with_cuda(self.device)
        self._room.claim(nbytes, free=available_nbytes())
        try:
            with torch.cuda.device(self.device):
                home = torch.empty(max(nbytes, 1), dtype=torch.uint8, pin_memory=True)[:nbytes]
        except (RuntimeError, MemoryError) as error:
            self._room.release(nbytes)
            if is_out_of_memory(error):
                raise full(self.name, nbytes, available_nbytes()) from error
            raise
        if self.mode == "zero-copy":
            return ZeroCopyBlock(home, self)
        if self._staging is None:
            self._staging = Staging(Lane(self.device), prefetch=self._prefetch)
        return StagedBlock(home, self._staging, release=self._room.release)

    def settle(self) -> None:
        wait_for_stream(self.device)

    def release(self, nbytes: int) -> None:
        self._room.release(nbytes)


class ZeroCopyBlock:
    """The host's bytes under the address that the device knows them by."""

    def __init__(self, home: Any, tier: PinnedHost) -> None:
        import torch

        self.nbytes: int = home.numel()
        self._tier = tier
        seen = _OnDevice(home) if self.nbytes else ()
        self._tensor = torch.as_tensor(seen, dtype=torch.uint8, device=f"cuda:{tier.device}")

    def open(self) -> Any:
        return self._tensor

    def rest(self, *, written: bool) -> None:
        """It is where it belongs. Waits for what was written, so that the time of a move is all of it."""
        if written:
            self._tier.settle()

    def free(self) -> None:
        """Waits first: torch does not know of kernels that still use these bytes."""
        torch_with_cuda(self._tier.device).cuda.synchronize(self._tier.device)
        self._tier.release(self.nbytes)
        self._tensor = None


class _OnDevice:
    """What torch asks of an array that is in a device's reach. The tensor over it keeps it, and so the bytes, alive."""

    def __init__(self, home: Any) -> None:
        self._home = home
        self.__cuda_array_interface__ = {
            "shape": (home.numel(),),
            "typestr": "|u1",
            "data": (home.data_ptr(), False),
            "strides": None,
            "version": 3,
        }
