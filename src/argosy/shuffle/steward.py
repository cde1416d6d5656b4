"""Opens new passes for worker processes, while the process that they read for waits for their samples."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from argosy.shuffle.board import Board

_LOOK_SECONDS = 0.05


def serve(owner: Any, board: Board, open_pass: Callable[[Any], None]) -> None:
    """A thread, as long as the owner is there, that calls `open_pass(owner)` whenever a worker wants a new pass."""
    looked_after = weakref.ref(owner)

    def look() -> None:
        while True:
            time.sleep(_LOOK_SECONDS)
            there = looked_after()
            if there is None:
                return
            if board.is_wanted:
                try:
                    open_pass(there)
                except BaseException as error:  # the workers that wait raise it
                    board.fail(f"{type(error).__name__}: {error}")
                    return
            del there  # or it would never go

    threading.Thread(target=look, name="argosy-passes", daemon=True).start()
