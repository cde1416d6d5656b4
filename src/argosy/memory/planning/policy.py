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
    """What there is to see when a window has ended: the past alone. Objects are columns 0 to n-1, in one order for a
    whole run."""

    step: int
    """How many windows had ended before this one: 0 says that a new run has begun, and what a policy remembers of
    another run is to be forgotten."""
    window_name: str
    sizes: NDArray[np.int64]
    """[n] bytes."""
    resident: NDArray[np.bool_]
    """[n] was it fast in the window that has just ended?"""
    recent: NDArray[np.float64]
    """[n] seconds that the object cost in that window by being slow, or would have cost: the others as they were."""
    capacity: int
    """Bytes that the fast objects may have together."""
    moves: Moves


class Policy(Protocol):
    """Decides after each window which objects are fast in the next one."""

    def decide(self, observation: Observation) -> Set[int]:
        """The columns of all objects that shall be fast; they must fit into the capacity together."""
        ...
