"""What the reading processes of one rank tell one another, in memory that they share."""

from __future__ import annotations

from argosy.errors import ShuffleError
from argosy.shuffle.arena import Arena

_MOST_WORKERS = 1024


class Board:
    """The present pass and its epoch; for each worker process the pass that it is in, and how much of it is read."""

    def __init__(self) -> None:
        self._numbers = Arena(2 + 2 * _MOST_WORKERS, 8)

    def open_pass(self, epoch: int) -> None:
        """By the process that the workers belong to."""
        numbers = self._numbers.numbers
        numbers[0] += 1
        numbers[1] = epoch
        numbers[3::2] = 0

    def join_pass(self, worker: int) -> int:
        """By a worker process, once in each pass; gives the epoch."""
        numbers = self._numbers.numbers
        if numbers[2 + 2 * worker] == numbers[0]:
            raise ShuffleError(
                "the samples of this epoch have not been made ready for worker processes; call set_epoch(epoch) before "
                "each epoch, as with a DistributedSampler, or use loader(batch_size, num_workers=...)"
            )
        numbers[2 + 2 * worker] = numbers[0]
        return int(numbers[1])

    def has_read(self, worker: int, count: int) -> None:
        self._numbers.numbers[3 + 2 * worker] = count

    @property
    def read(self) -> int:
        """By all workers in this pass."""
        return int(self._numbers.numbers[3::2].sum())
