"""How far a run has come: in steps, in samples, and in its epoch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from argosy.shuffle.cut import Cut
from argosy.shuffle.steps import EpochSteps


@dataclass(frozen=True, kw_only=True, slots=True)
class Position:
    """How far a run has come. `epoch` is the one of the next step; of it `done` steps of `steps` are over."""

    epoch: int = 0
    step: int = 0
    samples: int = 0
    steps: EpochSteps | None = None
    done: int = 0
    before: tuple[Cut, ...] = field(default=())
    """What a run that was stopped had taken of this epoch."""

    def after(self, steps: EpochSteps, number: int) -> Position:
        """One step later: it was the `number`-th of these."""
        over = number + 1 == steps.num_steps
        return Position(
            epoch=self.epoch + over,
            step=self.step + 1,
            samples=self.samples + steps.num_global(number),
            steps=None if over else steps,
            done=0 if over else number + 1,
        )

    @property
    def at_end_of_epoch(self) -> bool:
        return self.done == 0

    @property
    def taken(self) -> tuple[Cut, ...]:
        """Of the epoch of the next step."""
        return self.before if self.steps is None else self.steps.taken(self.done)

    def as_dict(self) -> dict[str, Any]:
        taken = [cut.as_dict() for cut in self.taken]
        return {"epoch": self.epoch, "step": self.step, "samples": self.samples, "taken": taken}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Position:
        taken = tuple(Cut.from_dict(cut) for cut in record["taken"])
        return cls(epoch=record["epoch"], step=record["step"], samples=record["samples"], before=taken)
