"""Batches of an epoch: equally many on all ranks, and known exactly when it comes to a resume."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from torch.utils.data import DataLoader

from argosy import arguments
from argosy.shuffle.reading import Reading
from argosy.shuffle.steps import EpochSteps

if TYPE_CHECKING:
    from argosy.shuffle.partial_exchange import PartialExchange


class Loader:
    """One epoch each time it is iterated. Its state is where the last batch that was handed out ended.

    Without worker processes batches of samples that have one form are one copy out of the store; otherwise a
    `DataLoader` of torch reads the samples, with its worker processes kept from epoch to epoch.
    """

    def __init__(
        self,
        exchange: PartialExchange,
        reading: Reading,
        batch_size: int,
        *,
        num_workers: int,
        options: Mapping[str, Any],
    ) -> None:
        batch_size = arguments.whole("batch_size", batch_size, least=1)
        num_workers = arguments.whole("num_workers", num_workers, least=0, most=1024)
        self.exchange = exchange
        self.batch_size = batch_size
        self._reading = reading
        self._num_workers = num_workers
        self._options = dict(options)
        self._num_batches = Reading(reading.holdings, reading.rank).steps(batch_size).num_steps
        self._torch: DataLoader | None = None
        self._numbers = _Numbers()
        if num_workers or set(options) - {"collate_fn"}:
            self._torch = self._made()

    def __len__(self) -> int:
        """Batches of a whole epoch, also where one that was begun before has fewer left: it is asked once for all."""
        return self._num_batches

    def __iter__(self) -> Iterator[Any]:
        self.exchange.begin_pass()
        steps = self._reading.begin_steps(self.batch_size)
        for step, batch in enumerate(self._batches(steps), steps.start + 1):
            self._reading.has_read(step)
            self._reading.done = step == steps.num_steps
            self.exchange.has_come_to(step / steps.num_steps)
            yield batch

    def set_epoch(self, epoch: int) -> None:
        self.exchange.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        return self.exchange.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.exchange.load_state_dict(state)

    def _batches(self, steps: EpochSteps) -> Iterator[Any]:
        todo = range(steps.start, steps.num_steps)
        if self._torch is None:
            shard = self.exchange.samples
            for step in todo:
                yield shard.batch(steps.slots(step), self._options.get("collate_fn"))
            return
        self._numbers.lists = (steps.slots(step).tolist() for step in todo)
        yield from self._torch

    def _made(self) -> DataLoader:
        options = {"persistent_workers": self._num_workers > 0, **self._options}
        return DataLoader(self.exchange.samples, batch_sampler=self._numbers, num_workers=self._num_workers, **options)


class _Numbers:
    """The slots of each batch, for torch's DataLoader."""

    lists: Iterator[list[int]] = iter(())

    def __iter__(self) -> Iterator[list[int]]:
        return self.lists
