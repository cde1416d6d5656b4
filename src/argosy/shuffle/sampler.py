"""The order of an epoch, for torch's DataLoader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torch.utils.data import DistributedSampler

from argosy.shuffle.reading import Reading

if TYPE_CHECKING:
    from argosy.shuffle.partial_exchange import PartialExchange


class SlotSampler(DistributedSampler):
    """Slots of `PartialExchange.samples`, in reading order; each pass is an epoch.

    It is a DistributedSampler to those who would put one in the place of any other sampler, as Lightning does: then
    each rank would read a part of its own shard only.
    """

    def __init__(self, exchange: PartialExchange, reading: Reading) -> None:
        super().__init__(exchange, num_replicas=exchange.num_ranks, rank=exchange.rank)
        self._exchange = exchange
        self._reading = reading

    def __len__(self) -> int:
        return len(self._exchange)

    def __iter__(self) -> Iterator[int]:
        self._exchange.begin_pass()
        slots = self._reading.begin_samples().slots.tolist()
        self._reading.is_read_elsewhere()
        for count, slot in enumerate(slots, 1):
            self._exchange.has_come_to(count / len(slots))
            yield slot
        self._reading.done = True

    def set_epoch(self, epoch: int) -> None:
        """As of a DistributedSampler; all ranks must."""
        self._exchange.set_epoch(epoch)
