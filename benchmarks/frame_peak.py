"""The most memory that the ranks of a pilot had, together."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType

from argosy import Pilot

_EVERY_SECONDS = 0.05


class Peak:
    """Watches all ranks while its block runs.

    `high_water` is the sum of each rank's own peak of resident memory, as the kernel keeps it: never too low, as the
    ranks need not have had theirs at the same time, and shared pages count for each. `sampled` is the largest sum seen
    at one time, with shared pages counted once: never too high. Nothing is taken off, not even the interpreter.
    """

    def __init__(self, pilot: Pilot) -> None:
        num_ranks = pilot.allocation.num_ranks
        here = pilot.submit(lambda: __import__("os").getpid(), ranks=num_ranks).results()
        self._folders = [Path(f"/proc/{pid}") for pid in here]
        self._over = threading.Event()
        self._sampler = threading.Thread(target=self._sample, daemon=True)
        self.high_water = 0
        self.sampled = 0

    def __enter__(self) -> Peak:
        for folder in self._folders:
            (folder / "clear_refs").write_text("5")  # what was the peak before does not count
        self._sampler.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        self._sampler.join()
        if kind is None:
            self.high_water = sum(_kib(folder / "status", "VmHWM:") for folder in self._folders) * 1024

    def _sample(self) -> None:
        while not self._over.wait(_EVERY_SECONDS):
            try:
                now = sum(_kib(folder / "smaps_rollup", "Pss:") for folder in self._folders) * 1024
            except OSError:  # a rank has ended, which whoever waits for it will say
                return
            self.sampled = max(self.sampled, now)


def _kib(path: Path, name: str) -> int:
    """The figure on the line of this name, in KiB."""
    return next(int(line.split()[1]) for line in path.read_text().splitlines() if line.startswith(name))
