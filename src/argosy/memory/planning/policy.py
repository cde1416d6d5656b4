"""What decides online which objects are fast next, and all that it may know when it does."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from argosy.memory.moves import Moves


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """What there is to see when a window is about to begin: the past, and its name. Objects are columns 0 to n-1, in
    one order for a whole run."""

    step: int
    """How many windows have ended: 0 says that a new run begins, and what a policy remembers of another run is to be
    forgotten."""
    window_name: str
    """Of the window that ended last; "" before the first."""
    sizes: NDArray[np.int64]
    """[n] bytes."""
    resident: NDArray[np.bool_]
    """[n] is it fast?"""
    recent: NDArray[np.float64]
    """[n] seconds that the object cost in the window that ended last by being slow, or would have cost: the others as
    they were; zeros before the first."""
    capacity: int
    """Bytes that the fast objects may have together."""
    moves: Moves
    next_name: str = ""
    """Of the window that is about to begin; "" where nobody says."""


class Policy(Protocol):
    """Decides before each window which objects are fast in it."""

    def decide(self, observation: Observation) -> Set[int]:
        """The columns of all objects that shall be fast; they must fit into the capacity together."""
        ...
