"""Where a plan runs: on the pilot that holds its persisted frames, else on the open one, else in this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from argosy.errors import FrameError, PilotClosed
from argosy.frame.plan import Operation, Resident
from argosy.pilot.current import current_pilot
from argosy.pilot.future import Future

if TYPE_CHECKING:
    from argosy.pilot.pilot import Pilot


def home_of(plan: Operation) -> Pilot | None:
    """The pilot whose ranks are to run the plan; None stands for this process."""
    owners = {id(owner): owner for owner in _owners(plan)}
    if any(not owner.is_open for owner in owners.values()):
        raise PilotClosed(
            "a frame was persisted on a pilot that has ended, and its rows ended with it; make it again from its "
            "source, or write with write_parquet() what is to outlive a pilot"
        )
    if len(owners) > 1:
        raise FrameError(
            f"frames are persisted on {len(owners)} pilots, and no rank holds rows of both; collect() the smaller one "
            "and go on with argosy.from_arrow of that, or write and read it"
        )
    return next(iter(owners.values()), None) or current_pilot()


def is_there(kept: Resident) -> bool:
    """Whether the rows of a persisted frame still are where they were left."""
    return all(owner.is_open for owner in _owners(kept))


def _owners(plan: Operation) -> Iterator[Pilot]:
    seen: set[int] = set()
    waiting = [plan]
    while waiting:
        operation = waiting.pop()
        if id(operation) in seen:
            continue
        seen.add(id(operation))
        waiting += operation.inputs
        if isinstance(operation, Resident) and isinstance(operation.future, Future):
            yield cast("Pilot", operation.future.owner)
