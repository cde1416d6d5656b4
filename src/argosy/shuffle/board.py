"""What the reading processes of one rank tell one another, in memory that they share."""

from __future__ import annotations

import os
import time

from argosy.errors import ShuffleError
from argosy.shuffle.store.arena import Arena

_MOST_WORKERS = 1024
_PASS, _EPOCH, _WANTED, _FAILED = range(4)
_FIRST_WORKER = 4
_LOOK_SECONDS = 0.01


class Board:
    """The present pass and its epoch; for each worker process the pass that it is in, and how much of it is read.

    A worker that comes for a second pass wants a new one, and waits until the process it belongs to has opened it.
    """

    def __init__(self) -> None:
        self._numbers = Arena(_FIRST_WORKER + 2 * _MOST_WORKERS, 8)
        self._words = Arena(1, 4096)

    def open_pass(self, epoch: int) -> None:
        """By the process that the workers belong to."""
        numbers = self._numbers.numbers
        numbers[_FIRST_WORKER + 1 :: 2] = 0
        numbers[_EPOCH] = epoch
        numbers[_PASS] += 1

    def join_pass(self, worker: int) -> int:
        """By a worker process, at the begin of each pass; gives the epoch."""
        numbers = self._numbers.numbers
        own = _FIRST_WORKER + 2 * worker
        if numbers[own] == numbers[_PASS]:
            wanted = numbers[_WANTED] = numbers[_PASS] + 1
            parent = os.getppid()
            while numbers[_PASS] < wanted:
                if numbers[_FAILED]:
                    raise ShuffleError(bytes(self._words.pages[0]).rstrip(b"\0").decode(errors="replace"))
                if os.getppid() != parent:
                    raise ShuffleError("the process that this worker reads for is gone")
                time.sleep(_LOOK_SECONDS)
        numbers[own] = numbers[_PASS]
        return int(numbers[_EPOCH])

    @property
    def is_wanted(self) -> bool:
        """Whether a worker waits for a new pass."""
        numbers = self._numbers.numbers
        return bool(numbers[_WANTED] > numbers[_PASS] and not numbers[_FAILED])

    def fail(self, words: str) -> None:
        """There will be no new pass: tell those who wait why."""
        told = words.encode()[: self._words.page_nbytes]
        self._words.pages[0, : len(told)] = bytearray(told)
        self._numbers.numbers[_FAILED] = 1

    def has_read(self, worker: int, count: int) -> None:
        self._numbers.numbers[_FIRST_WORKER + 2 * worker + 1] = count

    @property
    def read(self) -> int:
        """By all workers in this pass."""
        return int(self._numbers.numbers[_FIRST_WORKER + 1 :: 2].sum())
