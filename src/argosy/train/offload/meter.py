"""What training takes: seconds of each window and of each object's moves, and bytes of fast memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from argosy.errors import TierFull
from argosy.train.offload.slow import Slow

WINDOWS = ("forward", "backward", "update")


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One training step."""

    windows: dict[str, float]
    """Seconds of each, moves included."""
    moves: dict[tuple[str, str], float]
    """Seconds that the moves of an object took in a window."""

    @property
    def seconds(self) -> float:
        return sum(self.windows.values())


class Meter:
    """For one rank. While it is `serial`, each move is waited for, so that its seconds are its own; while it is
    `exact`, each window ends when the device has done its work. Neither makes a difference on a CPU."""

    def __init__(self, slow: Slow) -> None:
        self.serial = True
        self.exact = True
        self.window = WINDOWS[0]
        self.fast_nbytes = 0
        """In fast memory now, of what is counted: parameters, gradients, states, saved activations."""
        self.peak_nbytes = 0
        self.saved: dict[str, int] = defaultdict(int)
        """The most bytes that an object's activations had at a time."""
        self._slow = slow
        self._live: dict[str, int] = defaultdict(int)
        self._moves: dict[tuple[str, str], float] = defaultdict(float)
        self._windows: dict[str, float] = defaultdict(float)
        self._began = 0.0

    # time

    def begin(self, window: str) -> None:
        """From here on it is this window."""
        self._settle()
        self.window = window
        self._began = perf_counter()

    def end(self) -> None:
        """The window is over."""
        self._settle()
        self._windows[self.window] += perf_counter() - self._began

    def step(self) -> Step:
        """What the step that ends now took."""
        ended = Step(windows=dict(self._windows), moves=dict(self._moves))
        self._windows.clear()
        self._moves.clear()
        return ended

    @contextmanager
    def move(self, name: str) -> Iterator[None]:
        """Around each move of an object."""
        if self.serial:
            self._slow.settle()
        began = perf_counter()
        try:
            yield
        except TierFull as error:
            raise TierFull(
                f"{name} cannot be offloaded: {error}; the step was not finished, and checkpoints are as they were"
            ) from error
        if self.serial:
            self._slow.settle()
        self._moves[self.window, name] += perf_counter() - began

    def _settle(self) -> None:
        if self.exact:
            self._slow.settle()

    # bytes

    def hold(self, nbytes: int) -> None:
        self.fast_nbytes += nbytes
        self.peak_nbytes = max(self.peak_nbytes, self.fast_nbytes)

    def release(self, nbytes: int) -> None:
        self.fast_nbytes -= nbytes

    def save(self, name: str, nbytes: int) -> None:
        """A backward pass waits for these bytes, wherever they lie."""
        self._live[name] += nbytes
        self.saved[name] = max(self.saved[name], self._live[name])

    def forget(self, name: str, nbytes: int) -> None:
        self._live[name] -= nbytes
