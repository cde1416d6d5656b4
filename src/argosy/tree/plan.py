"""What was learnt of a piece for inputs of certain kinds."""

from __future__ import annotations

from typing import Any

from argosy.tree.effects import Effects, Opaque
from argosy.tree.grain import TOO_SHORT_TO_CUT, Grain
from argosy.tree.kinds import ARRAY, ATOM, MADE, RESULT, UNKNOWN, VALUE, AnyKind
from argosy.tree.pool import Pool

_LOOK_AGAIN = 100
_MAY_BE_ARRAYS = frozenset({ARRAY, VALUE, RESULT, MADE, UNKNOWN})
_SIMPLE_KINDS = frozenset({ATOM, ARRAY, VALUE})


class Plan:
    """A piece with inputs of certain kinds: what it does, or why that is not known, and how long it took."""

    __slots__ = (
        "_held_up", "alone", "count", "effects", "function", "indices", "is_simple", "kinds", "only_reads", "opaque",
        "piece", "seconds", "total",
    )  # fmt: skip

    def __init__(self, piece: Any, kinds: tuple[AnyKind, ...], effects: Effects | None, opaque: Opaque | None) -> None:
        self.piece = piece
        self.kinds = kinds
        self.effects = effects
        self.opaque = opaque
        self.seconds: float | None = None
        """Per run, a moving mean."""
        self.count = 0
        self.total = 0.0
        """Runs, and their seconds together."""
        self.indices: dict[Any, Any] = {}
        self.alone = False
        """It is better run with nothing beside it: it was held up by others again and again."""
        self._held_up = 0
        self.is_simple = False
        """The short way of issuing will do."""
        self.function: Any = None
        """What runs it, when that is always the same."""
        self.only_reads: tuple[int, ...] = ()
        """The inputs it reads, when it does nothing else to memory."""
        if effects is not None and effects.only_reads:
            self.only_reads = tuple(access.source for access in effects.accesses)

    def runner(self, pool: Pool, grain: Grain, is_small: bool = False) -> Any:
        """What runs it when its inputs are there: in parts where it can be cut, else plainly.

        `is_small`: of its inputs so much is known that there is nothing to make tiles of.
        """
        function = self.piece.function()
        short = self.seconds is not None and self.seconds < TOO_SHORT_TO_CUT
        if not short or grain.always or (self.effects is not None and self.effects.waits):
            no_tiles = not grain.always and (short or (is_small and self.seconds is None))
            no_tiles = no_tiles or _MAY_BE_ARRAYS.isdisjoint(self.kinds)
            for cut in self.piece.forks if no_tiles else self.piece.cuts:
                run = cut.runner(self, pool, grain)
                if run is not None:
                    return run
        if short and not (grain.always and self.piece.forks):
            self.function = function
            self.is_simple = self._makes_one_value()
        return function

    def _makes_one_value(self) -> bool:
        """It reads arrays and numbers and makes one new value, and nothing else."""
        effects = self.effects
        if effects is None or effects.waits or not effects.only_reads or not _SIMPLE_KINDS.issuperset(self.kinds):
            return False
        return len(effects.outs) == 1 and not effects.outs[0].sources

    def took(self, seconds: float) -> None:
        mean = self.seconds
        self.count += 1
        self.total += seconds
        self.seconds = mean = seconds if mean is None else mean + 0.3 * (seconds - mean)
        if mean > 2 * TOO_SHORT_TO_CUT and self.function is not None:
            self.function, self.is_simple = None, False  # it has become longer: look at the parts

    def was_held_up(self) -> None:
        """Twice is enough; some time later it is tried again."""
        self._held_up += 1
        self.alone = self._held_up >= 2

    def runs_alone(self) -> bool:
        """Whether this run is better one with nothing beside it."""
        if self.alone and self.count % _LOOK_AGAIN == 0:
            self.alone, self._held_up = False, 1
        return self.alone
