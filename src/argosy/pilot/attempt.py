"""One run of a task: which of its ranks are still in it, and what it came to."""

from __future__ import annotations

from enum import Enum, auto

from argosy.pilot.protocol import Cause, Lost, Outcome, Raised
from argosy.pilot.shape import Shape
from argosy.resources import Slots


class Verdict(Enum):
    """What an attempt came to when all of its ranks had left or were lost."""

    DONE = auto()
    FAILED = auto()
    """`Attempt.cause` says why."""
    UNSTARTED = auto()
    """It never ran: it does not count."""
    ORPHANED = auto()
    """Ranks left as if a peer had died, but nobody did."""


class Attempt:
    """One run of a task. It is over when `left` is empty."""

    __slots__ = (
        "cause",
        "gone",
        "grace_ends",
        "left",
        "number",
        "orphan",
        "replaced",
        "slots",
        "stopping",
        "unreturned",
        "unstarted",
    )

    def __init__(self, number: int, slots: Slots) -> None:
        self.number = number
        self.slots = slots
        self.left = set(slots.ranks)
        """Ranks that are still in it."""
        self.gone: set[int] | None = None
        """Ranks that died in it, or after they had left it."""
        self.unreturned: set[int] | None = None
        """Ranks that left without a value."""
        self.cause: Cause | None = None
        """The first thing that went wrong."""
        self.stopping = False
        self.grace_ends = 0.0
        """When ranks that have not left after a stop are replaced."""
        self.replaced = False
        self.unstarted = False
        self.orphan: int | None = None
        """The first rank that stopped though nobody had told it to."""

    def end_without_value(self, rank: int, outcome: Outcome) -> None:
        """A rank left, and not because it returned. The others must be told to stop."""
        if self.unreturned is None:
            self.unreturned = set()
        self.unreturned.add(rank)
        if outcome is Outcome.RAISED:
            self.cause = self.cause or Raised(rank, self.number)
        elif outcome is Outcome.UNSTARTED:
            self.unstarted = True
        elif not self.stopping and self.orphan is None:
            self.orphan = rank

    def lose(self, rank: int) -> None:
        """A rank died. The others must be told to stop."""
        self.left.discard(rank)
        self.cause = self.cause or Lost(rank)
        if self.gone is None:
            self.gone = set()
        self.gone.add(rank)

    @property
    def size(self) -> int:
        """How many ranks it still holds."""
        return len(self.slots.ranks) - len(self.gone or ())

    def verdict(self) -> Verdict:
        """What it came to. Values on every rank are a success, even if a timeout came between."""
        if not self.unreturned and not self.gone:
            return Verdict.DONE
        if self.cause is not None:
            return Verdict.FAILED
        return Verdict.UNSTARTED if self.unstarted else Verdict.ORPHANED

    def returned(self) -> tuple[int, ...]:
        """The living ranks that left with a value."""
        without = self.left | (self.unreturned or set()) | (self.gone or set())
        return tuple(rank for rank in self.slots.ranks if rank not in without)


class Running:
    """How many attempts run, of each shape and size."""

    __slots__ = ("num_attempts", "sizes")

    def __init__(self) -> None:
        self.num_attempts = 0
        self.sizes: dict[Shape, dict[int, int]] = {}

    def add(self, shape: Shape, size: int) -> None:
        self.num_attempts += 1
        sizes = self.sizes.get(shape)
        if sizes is None:
            sizes = self.sizes[shape] = {}
        sizes[size] = sizes.get(size, 0) + 1

    def remove(self, shape: Shape, size: int) -> None:
        self.num_attempts -= 1
        sizes = self.sizes[shape]
        sizes[size] -= 1
        if not sizes[size]:
            del sizes[size]
            if not sizes:
                del self.sizes[shape]
