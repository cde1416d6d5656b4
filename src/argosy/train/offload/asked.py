"""What a user asks for with `offload=` and `memory=`, checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from argosy import arguments
from argosy.calls import value
from argosy.units import parse_nbytes

KINDS = ("auto", "all")


@value()
@dataclass(frozen=True, kw_only=True, slots=True)
class Offload:
    """Which of a model's objects lie in slow memory between their uses."""

    kind: Literal["auto", "all"] = "auto"
    """As much as a plan finds worth it so that the rest fits into `memory`, or everything that can."""
    memory: str | int | None = None
    """Of fast memory, for each rank: like "8GiB". Unless told, what is free when training starts."""
    folder: str | Path | None = None
    """On a CPU: where the files of slow memory are, on a real disk. Unless told, the usual place for such files."""

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise (ValueError if isinstance(self.kind, str) else TypeError)(
                f"kind: offload={arguments.show(self.kind)} is not known; "
                "ask for 'auto' (by a measured plan), 'all' or None, or give a train.Offload(...)"
            )
        if self.folder is not None:
            arguments.path("folder", self.folder)
        if self.memory is not None and parse_nbytes(self.memory, "memory") <= 0:
            said = arguments.show(self.memory)
            raise ValueError(f"memory={said} leaves no fast memory to train in; give more, like '8GiB'")

    @property
    def nbytes(self) -> int | None:
        return None if self.memory is None else parse_nbytes(self.memory)


def offload_of(given: str | Offload | None, memory: str | int | None) -> Offload | None:
    """Raises `ValueError` for what cannot be meant."""
    if given is None:
        if memory is not None:
            raise ValueError(
                f"memory={arguments.show(memory)} says how much fast memory training may take, "
                "which only offloading can keep to; give offload='auto' too"
            )
        return None
    asked = given if isinstance(given, Offload) else Offload(kind=given)  # type: ignore[arg-type]
    if memory is None:
        return asked
    if asked.memory is not None:
        raise ValueError(f"memory is said twice: {asked.memory!r} and {arguments.show(memory)}; say it once")
    return replace(asked, memory=memory)
