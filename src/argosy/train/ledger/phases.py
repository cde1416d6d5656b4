"""What the time of a training loop is spent on."""

from __future__ import annotations

from difflib import get_close_matches
from types import TracebackType
from typing import TYPE_CHECKING

from argosy.errors import TrainError

if TYPE_CHECKING:
    from argosy.train.ledger.ledger import Ledger

PHASES = ("data", "forward", "backward", "comm", "optimizer", "evaluation", "checkpoint", "other")
"""`comm` is exposed communication: what the loop waited for, not what was hidden behind computing."""
NOT_TRAINING = ("evaluation", "checkpoint")
NO_SECONDS = dict.fromkeys(PHASES, 0.0)


def training_seconds(seconds: dict[str, float]) -> float:
    """All phases but evaluations and checkpoints."""
    return sum(spent for phase, spent in seconds.items() if phase not in NOT_TRAINING)


def unknown_phase(phase: str) -> TrainError:
    near = get_close_matches(phase, PHASES, n=1)
    hint = f", did you mean {near[0]!r}?" if near else ""
    return TrainError(f"there is no phase {phase!r}{hint}; there are: {', '.join(PHASES)}")


class Phase:
    """A part of the loop, as a context. Inside another, that one pauses."""

    __slots__ = ("_ledger", "_name")

    def __init__(self, ledger: Ledger, name: str) -> None:
        self._ledger = ledger
        self._name = name

    def __enter__(self) -> None:
        self._ledger.enter(self._name)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ledger.leave()
