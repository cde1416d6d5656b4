"""Who performs the runs of a study: the ranks of a pilot, or this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from contextlib import contextmanager
from typing import Any

from argosy.errors import NoMPI, TrainError
from argosy.train.links import Link, measure
from argosy.train.study.runs import Assignment, perform
from argosy.train.study.settings import Settings

Done = Callable[[Assignment], None]
"""Told of each run that has ended."""


class Crew:
    """This process, one run after the other."""

    def perform(self, assignments: Sequence[Assignment], done: Done) -> None:
        for assignment in assignments:
            perform(assignment)
            done(assignment)

    def link(self) -> Link | None:
        """Between ranks, measured; None where there are no two of them."""
        return None


class PilotCrew(Crew):
    """The ranks of a pilot. Virtual workers share a rank, and runs go side by side; real ones are a rank each, and runs
    go one after the other, so that none slows another down."""

    def __init__(self, pilot: Any, num_ranks: int, virtual: bool) -> None:
        self._pilot = pilot
        self._num_ranks = num_ranks
        self._virtual = virtual

    def perform(self, assignments: Sequence[Assignment], done: Done) -> None:
        if not self._virtual:
            for one in assignments:
                self._submit(one, one.workers).result()
                done(one)
            return
        # Runs of few workers take many small steps, so they take longest: they start first.
        futures = {self._submit(one, 1): one for one in sorted(assignments, key=lambda one: one.workers)}
        for future in as_completed(futures):
            future.result()
            done(futures[future])

    def _submit(self, one: Assignment, ranks: int) -> Any:
        name = f"{one.workers} workers, seed {one.seed}"
        return self._pilot.submit(perform, one, ranks=ranks, retries=1, name=name)

    def link(self) -> Link | None:
        return measure(self._pilot) if self._num_ranks > 1 else None


@contextmanager
def crew_of(settings: Settings, *, ranks: int | None, num_runs: int) -> Iterator[Crew]:
    """Whatever ends the block ends the runs that are under way."""
    from argosy.pilot.pilot import Pilot

    if settings.virtual:
        wanted = min(ranks or len(os.sched_getaffinity(0)), num_runs)
    else:
        most = max(settings.all_workers)
        wanted = ranks or most
        if wanted < most:
            raise TrainError(
                f"{most} workers need {most} ranks, but --ranks is {wanted}; ask for more ranks, or for virtual workers"
            )
    if not num_runs or (settings.virtual and wanted < 2):
        yield Crew()
        return
    try:
        pilot = Pilot(ranks=wanted, name="scale")
    except NoMPI:
        if not settings.virtual:
            raise
        yield Crew()
        return
    with pilot:
        yield PilotCrew(pilot, wanted, settings.virtual)
