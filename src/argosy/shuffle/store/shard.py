"""One rank's samples, by slot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from torch.utils.data import Dataset, default_collate

from argosy.shuffle.holdings import Ids
from argosy.shuffle.seal import Seal
from argosy.shuffle.store.chains import Chains
from argosy.shuffle.store.packing import Layout, unpickled
from argosy.shuffle.store.slots import Slots


class Shard(Dataset):
    """A map-style Dataset that worker processes can read while other samples arrive."""

    def __init__(
        self, slots: Slots | Chains, layout: Layout | None, transform: Callable[[Any], Any] | None, seal: Seal
    ) -> None:
        self.slots = slots
        self._seal = seal
        self.layout = layout
        self._transform = transform

    def __len__(self) -> int:
        return len(self.slots)

    def __getitem__(self, slot: int) -> Any:
        if not 0 <= slot < len(self):
            raise IndexError(f"slot {slot} of a shard with {len(self)} samples")
        sample = self.stored(slot)
        return sample if self._transform is None else self._transform(sample)

    def __getitems__(self, slots: list[int]) -> list[Any]:
        return [self[slot] for slot in slots]

    def stored(self, slot: int) -> Any:
        """Before any transform."""
        if isinstance(self.slots, Chains):
            return unpickled(self.slots.packed(slot), self._seal)
        assert self.layout is not None, "samples of one size have one"
        return self.layout.unpack(self.slots.rows(np.array([slot]))[0])

    def batch(self, slots: Ids, collate: Callable[[list[Any]], Any] | None = None) -> Any:
        """Some samples, put together as by default_collate, or by `collate`."""
        plain = self._transform is None and collate is None
        if plain and self.layout is not None and isinstance(self.slots, Slots):
            return self.layout.batch(self.slots.rows(slots))
        return (collate or default_collate)(self.__getitems__(slots.tolist()))
