"""How far a measurement is: told by a bar on stderr, where somebody can see it, or by a function of the caller."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from argosy import arguments

Progress: TypeAlias = Callable[[int, int], object]
"""Told after each run: how many are done, and of how many, as far as is known by then."""

_REFRESH_SECONDS = 0.2


@contextmanager
def bar(what: str) -> Iterator[Progress | None]:
    """To be told (done, of how many) after each run; None where stderr is not a terminal.

    It is drawn between runs only: a thread that draws would disturb what is being measured.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Bar(*columns, console=Console(stderr=True), auto_refresh=False) as shown:
        task = shown.add_task(what, total=None)
        drawn = 0.0

        def tell(done: int, total: int) -> None:
            nonlocal drawn
            if done == total or time.monotonic() - drawn > _REFRESH_SECONDS:
                shown.update(task, completed=done, total=total, refresh=True)
                drawn = time.monotonic()

        yield tell


@contextmanager
def shown(progress: Any, what: str) -> Iterator[Progress | None]:
    """A caller's function as it is; True is a bar, False and None are silence."""
    if not callable(progress) and progress is not None and not isinstance(progress, bool):
        wanted = "True, False, None or a function that is told (done, of how many)"
        raise TypeError(f"progress must be {wanted}, not {arguments.show(progress)}")
    if progress is True:
        with bar(what) as tell:
            yield tell
    else:
        yield progress or None


class Steps:
    """Several measurements as one: runs are counted through, of as many as are expected by now."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._done = 0
        self._expected = 0
        self._ended: list[float] = []
        """When runs ended, since the last `expect`."""

    def expect(self, more: int) -> None:
        """So many from here on."""
        self._expected = self._done + more
        self._ended = []

    def __call__(self, _done: int, _of: int) -> None:
        self._done += 1
        self._ended.append(time.monotonic())
        if self._progress is not None:
            self._progress(self._done, max(self._done, self._expected))

    @property
    def seconds_a_run(self) -> float:
        """With all that lies between one run and the next, since the last `expect`; 0 before the second run."""
        ended = self._ended
        return (ended[-1] - ended[0]) / (len(ended) - 1) if len(ended) > 1 else 0.0

    def end(self) -> None:
        """No more will come, whatever was expected."""
        if self._progress is not None and self._done < self._expected:
            self._progress(self._done, self._done)
