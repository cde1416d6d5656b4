"""Beside a CPU: fast memory is RAM, slow memory any tier whose blocks lie on the host, mapped files as a rule."""

from __future__ import annotations

import torch

from argosy.memory.tiers.tier import Block, Tier
from argosy.train.offload.slow import Pool


class OnHost:
    """Slow memory over a tier of the host. A `Slow`. Every move is over when its call returns."""

    fast = "ram"
    asynchronous = False

    def __init__(self, tier: Tier) -> None:
        tier.check()
        self.slow = tier.name
        self._pool: Pool[Block] = Pool(tier.hold)
        self._held: dict[int, Block] = {}

    def hold(self, nbytes: int) -> Block:
        block = self._pool.take(nbytes)
        self._held[id(block)] = block
        return block

    def write(self, place: Block, flat: torch.Tensor) -> None:
        torch.from_numpy(place.open()).copy_(flat)
        place.rest(written=True)

    def read(self, place: Block) -> torch.Tensor:
        flat = torch.empty(place.nbytes, dtype=torch.uint8)
        flat.copy_(torch.from_numpy(place.open()))
        place.rest(written=False)
        return flat

    def read_ahead(self, _place: Block) -> None:
        """Nothing goes on by itself here."""

    def look(self, place: Block) -> torch.Tensor:
        return torch.from_numpy(place.open())

    def free(self, place: Block) -> None:
        if self._held.pop(id(place), None) is not None:  # else all were closed before
            self._pool.give(place.nbytes, place)

    def settle(self) -> None:
        """Nothing is ever under way."""

    def peak_nbytes(self) -> int | None:
        return None

    def close(self) -> None:
        for block in [*self._pool.empty(), *self._held.values()]:
            block.free()
        self._held.clear()
