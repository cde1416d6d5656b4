"""Beside a GPU: fast memory is the device's, slow memory is page-locked memory of the host."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from argosy.errors import TierFull
from argosy.train.offload.slow import Pool
from argosy.units import format_nbytes


@dataclass(kw_only=True, slots=True, eq=False)
class Page:
    """Page-locked bytes, and a copy on the device that is on its way."""

    host: torch.Tensor
    ahead: torch.Tensor | None = None
    arrived: torch.cuda.Event | None = None


class Pinned:
    """A `Slow`. Copies run on one stream of their own, so they keep their order; the computing stream waits for what
    it needs, and a copy to the host waits for what computes it."""

    fast = "hbm"
    slow = "pinned"
    asynchronous = True

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._copies = torch.cuda.Stream(device)
        self._pool: Pool[Page] = Pool(_page)

    def hold(self, nbytes: int) -> Page:
        return self._pool.take(nbytes)

    def write(self, place: Page, flat: torch.Tensor) -> None:
        place.ahead = None
        if flat.device.type == "cpu":
            self._copies.synchronize()
            place.host.copy_(flat)
            return
        self._copies.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(self._copies):
            place.host.copy_(flat, non_blocking=True)
        flat.record_stream(self._copies)

    def read(self, place: Page) -> torch.Tensor:
        self.read_ahead(place)
        flat, place.ahead = place.ahead, None
        assert flat is not None
        computing = torch.cuda.current_stream(self._device)
        computing.wait_event(place.arrived)
        flat.record_stream(computing)
        return flat

    def read_ahead(self, place: Page) -> None:
        if place.ahead is None:
            with torch.cuda.stream(self._copies):
                place.ahead = torch.empty(len(place.host), dtype=torch.uint8, device=self._device)
                place.ahead.copy_(place.host, non_blocking=True)
                place.arrived = self._copies.record_event()

    def look(self, place: Page) -> torch.Tensor:
        return place.host

    def free(self, place: Page) -> None:
        place.ahead = None
        self._pool.give(len(place.host), place)

    def settle(self) -> None:
        torch.cuda.synchronize(self._device)

    def peak_nbytes(self) -> int | None:
        peak: int = torch.cuda.max_memory_allocated(self._device)
        torch.cuda.reset_peak_memory_stats(self._device)
        return peak

    def close(self) -> None:
        self.settle()
        self._pool.empty()


def _page(nbytes: int) -> Page:
    try:
        return Page(host=torch.empty(nbytes, dtype=torch.uint8, pin_memory=True))
    except (RuntimeError, MemoryError) as error:
        raise TierFull(
            f"tier 'pinned' is full: the host gave no {format_nbytes(nbytes)} of page-locked memory; "
            "free some, or give the device more to keep: memory="
        ) from error
