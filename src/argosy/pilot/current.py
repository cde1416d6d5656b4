"""The pilot that this process has open. Light to import, so that whoever has no pilot can ask."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argosy.pilot.pilot import Pilot

_made: dict[weakref.ref[Pilot], None] = {}
"""In the order in which they were made, until they are garbage. Each change is one call, so there is no lock that a
fork could leave held in its child."""


def current_pilot() -> Pilot | None:
    """The innermost open pilot of this process: the one made last that has not ended. May be asked from any thread.

    Nothing here keeps a pilot alive. The child of a fork has none until it makes its own.
    """
    for reference in reversed(list(_made)):
        pilot = reference()
        if pilot is not None and pilot.is_open:
            return pilot
    return None


def remember(pilot: Pilot) -> None:
    """For the pilot: it is up, and the innermost now."""
    _made[weakref.ref(pilot, _forget)] = None


def _forget(reference: weakref.ref[Pilot]) -> None:
    _made.pop(reference, None)


def _leave_to_parent() -> None:
    """In the child of a fork, which has only the thread that forked: no pilot runs here."""
    pilots = [reference() for reference in _made]
    _made.clear()
    for pilot in pilots:
        if pilot is not None:
            pilot.leave_to_parent()


os.register_at_fork(after_in_child=_leave_to_parent)
