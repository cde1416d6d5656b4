"""`argosy top`: watch a run."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from argosy.cli.failing import or_leave
from argosy.events import FILE_NAME
from argosy.report.live import View
from argosy.report.runs import find_run
from argosy.report.screen import draw
from argosy.report.tail import Tail

FRAMES_PER_SECOND = 4


class Watch:
    """A run's folder and the view of it so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.view = View()
        self._tail = Tail(folder / FILE_NAME)
        self._restarts = 0

    def look(self) -> None:
        """Take in what was written since the last look."""
        events = self._tail.read()
        if self._tail.restarts != self._restarts:
            self._restarts = self._tail.restarts
            self.view = View()
        for event in events:
            self.view.add(event)

    def frame(self, now: float, num_lines: int) -> RenderableType:
        notes = []
        if self._tail.num_unreadable:
            notes.append(Text(f"{self._tail.num_unreadable} lines of {FILE_NAME} are no events", style="yellow"))
        if self.view.ended is not None:
            notes.append(Text(f"the run has ended; for its summary: argosy report {self.folder}"))
        return Group(draw(self.view, now, num_lines), *notes)


def top(
    run: Annotated[Path | None, typer.Argument(help="Folder of a run; the newest run when left out.")] = None,
    once: Annotated[bool, typer.Option("--once", help="Print one frame and leave.")] = False,
) -> None:
    """Show the ranks, tasks and throughput of a run, live.

    Example: argosy top --once
    """
    watch = Watch(or_leave(find_run, run))
    console = Console()
    watch.look()
    if once:
        console.print(watch.frame(time.time(), num_lines=console.height))
        return
    try:
        _follow(watch, console)
    except KeyboardInterrupt:
        return


def _follow(watch: Watch, console: Console) -> None:
    def frame() -> RenderableType:
        return watch.frame(time.time(), num_lines=max(5, console.height - 12))

    with Live(frame(), console=console, auto_refresh=False) as live:
        while watch.view.ended is None:
            time.sleep(1 / FRAMES_PER_SECOND)
            watch.look()
            live.update(frame(), refresh=True)
