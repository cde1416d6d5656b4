"""How far a measurement is, on stderr, where somebody can see it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_REFRESH_SECONDS = 0.2


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """To be told (done, of how many) after each run; None where stderr is not a terminal.

    It is drawn between runs only: a thread that draws would disturb what is being measured.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, auto_refresh=False) as progress:
        shown = progress.add_task(what, total=None)
        drawn = 0.0

        def tell(done: int, total: int) -> None:
            nonlocal drawn
            if done == total or time.monotonic() - drawn > _REFRESH_SECONDS:
                progress.update(shown, completed=done, total=total, refresh=True)
                drawn = time.monotonic()

        yield tell
