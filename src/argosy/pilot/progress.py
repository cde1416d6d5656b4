"""A line for whoever waits at a terminal; silence everywhere else."""

from __future__ import annotations

import sys

from argosy.pilot.controller import Controller

_SHOW_AFTER_SECONDS = 1.0


def waiting_for(controller: Controller) -> None:
    """Until no task is left. After a second a progress bar shows how many are."""
    if controller.wait_until_idle(_SHOW_AFTER_SECONDS if sys.stderr.isatty() else None):
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    total = controller.num_open
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("waiting for tasks", total=total)
        while not controller.wait_until_idle(0.2):
            total = max(total, controller.num_open)
            progress.update(bar, total=total, completed=total - controller.num_open)
