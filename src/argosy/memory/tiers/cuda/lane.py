"""Copies between host and device beside the work of the device, on streams of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from argosy.memory.tiers.cuda.device import is_out_of_memory, torch_with_cuda
from argosy.memory.tiers.tier import full


@dataclass(frozen=True, kw_only=True, slots=True)
class Copy:
    """Bytes on the device, on their way or there."""

    tensor: Any
    arrived: Any
    """A CUDA event."""


class Lane:
    """Two side streams of one device, one each way: a bus carries both at the same time."""

    def __init__(self, device: int) -> None:
        self._torch = torch_with_cuda(device)
        self._device = device
        self._there = self._torch.cuda.Stream(device)
        self._back = self._torch.cuda.Stream(device)

    def room(self, nbytes: int) -> Copy:
        """Bytes on the device with nothing in them yet. Raises `TierFull` where it has no room."""
        torch = self._torch
        try:
            with torch.cuda.stream(self._there):
                tensor = torch.empty(nbytes, dtype=torch.uint8, device=f"cuda:{self._device}")
        except RuntimeError as error:
            if is_out_of_memory(error):
                raise full("hbm", nbytes, torch.cuda.mem_get_info(self._device)[0]) from error
            raise
        return Copy(tensor=tensor, arrived=self._there.record_event())

    def fetch(self, home: Any) -> Copy:
        """Starts a copy to the device. Raises `TierFull` where it has no room."""
        tensor = self.room(home.numel()).tensor
        with self._torch.cuda.stream(self._there):
            tensor.copy_(home, non_blocking=True)
        return Copy(tensor=tensor, arrived=self._there.record_event())

    def use(self, copy: Copy) -> Any:
        """What is queued from now on waits until the copy is there."""
        current = self._torch.cuda.current_stream(self._device)
        current.wait_event(copy.arrived)
        copy.tensor.record_stream(current)
        return copy.tensor

    def give_back(self, tensor: Any, home: Any) -> None:
        """Copies to the host once what is queued now is done, and waits for it."""
        self._back.wait_stream(self._torch.cuda.current_stream(self._device))
        with self._torch.cuda.stream(self._back):
            home.copy_(tensor, non_blocking=True)
        self._back.synchronize()
