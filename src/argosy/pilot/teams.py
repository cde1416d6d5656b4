"""Sets of ranks that have worked together: their communicator is made once, and each task gets a copy of it."""

from __future__ import annotations

_MOST_TEAMS = 512


class Teams:
    """Numbers for sets of processes. A number names one communicator on all of its ranks, and is never used again.

    The controller decides which are alive, because all ranks of a team must agree on it.
    """

    def __init__(self) -> None:
        self._number_of: dict[tuple[int, ...], int] = {}
        self._next = 0

    @property
    def oldest(self) -> int:
        """Ranks may forget all teams below this number."""
        return next(iter(self._number_of.values()), self._next)

    def number(self, processes: tuple[int, ...]) -> int:
        """The team of these processes (by their serial numbers, in the order of their ranks), new if there was none."""
        number = self._number_of.get(processes)
        if number is None:
            number = self._number_of[processes] = self._next
            self._next += 1
            if len(self._number_of) > _MOST_TEAMS:
                del self._number_of[next(iter(self._number_of))]
        return number

    def disband(self, processes: tuple[int, ...]) -> None:
        """Their communicator cannot be trusted any more: a task on it did not end well."""
        self._number_of.pop(processes, None)
