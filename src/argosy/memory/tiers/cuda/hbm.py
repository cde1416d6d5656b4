"""The device's own memory."""

from __future__ import annotations

from typing import Any

from argosy import arguments
from argosy.memory.tiers.cuda.device import is_out_of_memory, torch_with_cuda, wait_for_stream
from argosy.memory.tiers.tier import Room, asked_nbytes, full


class Hbm:
    """Memory of CUDA device `device`, taken through torch's allocator; values in it are CUDA tensors."""

    name = "hbm"

    def __init__(self, device: int = 0, capacity: str | int | None = None) -> None:
        self.device = arguments.whole("device", device, least=0)
        self._room = Room(self.name, capacity)

    def check(self) -> None:
        torch_with_cuda(self.device)

    def hold(self, nbytes: int) -> HbmBlock:
        nbytes = asked_nbytes(nbytes)
        torch = torch_with_cuda(self.device)
        self._room.claim(nbytes)
        try:
            return HbmBlock(torch.empty(nbytes, dtype=torch.uint8, device=f"cuda:{self.device}"), self)
        except (RuntimeError, MemoryError) as error:
            self._room.release(nbytes)
            if is_out_of_memory(error):
                raise full(self.name, nbytes, torch.cuda.mem_get_info(self.device)[0]) from error
            raise

    def settle(self) -> None:
        wait_for_stream(self.device)

    def release(self, nbytes: int) -> None:
        self._room.release(nbytes)


class HbmBlock:
    """Work on it is done in the order of the device's stream, so it may be freed while a kernel still reads it."""

    def __init__(self, tensor: Any, tier: Hbm) -> None:
        self.nbytes: int = tensor.numel()
        self._tensor = tensor
        self._tier = tier

    def open(self) -> Any:
        return self._tensor

    def rest(self, *, written: bool) -> None:
        """The device keeps what it has. Waits for what was written, so that the time of a move is all of it."""
        if written:
            self._tier.settle()

    def free(self) -> None:
        self._tier.release(self.nbytes)
        self._tensor = None
