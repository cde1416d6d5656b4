"""Values that stay on their ranks: which are where, and where lost ones are made again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum, auto


class Value(Enum):
    """Where the kept value of a task stands."""

    NONE = auto()
    """Not made yet."""
    HELD = auto()
    LOST = auto()
    """A rank that had a piece of it died."""
    REMAKING = auto()


class Kept:
    """The value of one kept task."""

    __slots__ = ("ranks", "users", "value", "waiters")

    def __init__(self) -> None:
        self.value = Value.NONE
        self.ranks: tuple[int, ...] = ()
        """Where it is, or was."""
        self.users: dict[int, None] = {}
        """Tasks, not over yet, that run on it."""
        self.waiters: list[int] = []
        """Tasks that wait until it is made again."""


class Residents:
    """Which kept values have a piece on which rank, and where a lost set of ranks went."""

    def __init__(self) -> None:
        self._on_rank: dict[int, dict[int, None]] = {}
        self._moved: dict[tuple[int, ...], tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len({task for tasks in self._on_rank.values() for task in tasks})

    def hold(self, task: int, ranks: Sequence[int]) -> None:
        for rank in ranks:
            self._on_rank.setdefault(rank, {})[task] = None

    def drop(self, task: int, ranks: Sequence[int]) -> None:
        for rank in ranks:
            tasks = self._on_rank[rank]
            del tasks[task]
            if not tasks:
                del self._on_rank[rank]

    def on(self, rank: int) -> list[int]:
        """The tasks that left a value there."""
        return list(self._on_rank.get(rank, ()))

    def home(
        self, ranks: tuple[int, ...], dead: Sequence[int], node_of_rank: Sequence[int], most: Callable[[int], int]
    ) -> tuple[int, ...] | None:
        """Where a value that was on these ranks is made again: there, with another rank for each that is gone for good.

        Values that shared their ranks move to the same ranks, so that a task can still run on both. None when there is
        no rank left; `most` says how many ranks a node can take.
        """
        if not any(dead[rank] for rank in ranks):
            return ranks
        moved = self._moved.get(ranks)
        if moved is None or any(dead[rank] for rank in moved):
            moved = _substitute(ranks, dead, node_of_rank, most)
            if moved is None:
                return None
            self._moved[ranks] = moved
        return moved


def _substitute(
    ranks: tuple[int, ...], dead: Sequence[int], node_of_rank: Sequence[int], most: Callable[[int], int]
) -> tuple[int, ...] | None:
    """The same ranks with the nearest living one in place of each dead one. Linear in the ranks of the allocation."""
    chosen = {rank for rank in ranks if not dead[rank]}
    on_node = Counter(node_of_rank[rank] for rank in chosen)
    for lost in ranks:
        if not dead[lost]:
            continue
        node = node_of_rank[lost]
        near = sorted(
            (abs(node_of_rank[rank] - node), rank) for rank in range(len(dead)) if not dead[rank] and rank not in chosen
        )
        found = next((rank for _, rank in near if on_node[node_of_rank[rank]] < most(node_of_rank[rank])), None)
        if found is None:
            return None
        chosen.add(found)
        on_node[node_of_rank[found]] += 1
    return tuple(sorted(chosen))
