"""Where this thread is: inside an expression, or inside so many walks."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argosy.tree.stops import Stops


class _Here(threading.local):
    expression = False
    """It runs an expression: a futurized function that is called there runs plainly."""
    parts: list[tuple[int, float, float]] | None = None
    """Where someone who watches wants thread, begin and end of each part of the expression that runs."""
    helped = 0.0
    """Seconds that were saved so far by doing expressions in parts."""
    stops: Stops | None = None
    """Who may tell this thread to leave off what it runs."""
    walks = 0
    """Walks around: functions that were called by opaque pieces of others."""


here = _Here()
