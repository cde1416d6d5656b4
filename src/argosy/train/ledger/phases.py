"""What the time of a training loop is spent on."""

from __future__ import annotations

from difflib import get_close_matches
from types import TracebackType
from typing import TYPE_CHECKING

from argosy.errors import TrainError

if TYPE_CHECKING:
    from argosy.train.ledger.laps import Laps

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

    __slots__ = ("_laps", "_name")

    def __init__(self, laps: Laps, name: str) -> None:
        self._laps = laps
        self._name = name

    def __enter__(self) -> None:
        laps = self._laps
        if laps.started:
            laps.lap(laps.within[-1])
        else:
            laps.start()
        laps.within.append(self._name)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        laps = self._laps
        laps.lap(laps.within.pop())
