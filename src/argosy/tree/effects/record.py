"""What a piece of a function does, given the kinds of its inputs: plain records."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from argosy.tree.kinds import AnyKind, kind_of

_MISSING = object()


class Opaque(Exception):
    """The piece cannot be analysed: which line, and why. It then runs in its turn, alone, in the caller's thread."""

    def __init__(self, reason: str, line: int, *, for_now: bool = False) -> None:
        self.reason = reason
        self.line = line
        self.for_now = for_now
        """What stands in the way is a value inside of the piece, whose kind will be known when it is there."""
        super().__init__(f"line {line}: {reason}")


@dataclass(frozen=True, slots=True)
class Access:
    """Memory that is read or written: that of an input (or an outer value), whole or at an index."""

    source: int
    """Which input; those after the last input are the outer values."""
    writes: bool
    index: ast.expr | None = None
    """Where, when it is one subscript of the input itself."""
    boxes_only: bool = False
    """A write that changes which elements lists, dicts and sets hold, and no array."""


@dataclass(frozen=True, slots=True)
class Outer:
    """A value that is not a local variable: a global of a module, or a captured one."""

    place: Any
    """The globals, or the cell."""
    name: str

    def get(self) -> Any:
        """Raises NameError-like errors of its own kind when it is not there: the caller then runs plainly."""
        if isinstance(self.place, dict):
            value = self.place.get(self.name, _MISSING)
            if value is not _MISSING:
                return value
            builtins = self.place["__builtins__"]
            names = builtins if isinstance(builtins, dict) else vars(builtins)
            return names[self.name]
        return self.place.cell_contents

    def __eq__(self, other: object) -> bool:
        return type(other) is Outer and other.place is self.place and other.name == self.name

    def __hash__(self) -> int:
        return hash((id(self.place), self.name))


@dataclass(frozen=True, slots=True)
class Guard:
    """Something outside of the function that the analysis relied on: it holds while it is of the same kind."""

    key: Any
    """Says what it is; guards of the same thing have the same."""
    look: Callable[[], Any]
    kind: AnyKind

    def holds(self) -> bool:
        try:
            return kind_of(self.look()) == self.kind
        except (KeyError, AttributeError, ValueError):
            return False


@dataclass(frozen=True, slots=True)
class Out:
    """What a variable holds afterwards."""

    kind: AnyKind
    sources: frozenset[int]
    """Inputs and outer values that it may share memory with."""
    group: int
    """Results with the same number may share memory with one another; -1: it has none that can change."""


@dataclass(frozen=True, slots=True)
class Effects:
    outs: tuple[Out, ...]
    accesses: tuple[Access, ...]
    links: tuple[tuple[int, ...], ...]
    """Inputs of which one may hold the other afterwards."""
    outers: tuple[Outer, ...]
    states: frozenset[str]
    """Hidden state, such as NumPy's global generator."""
    guards: tuple[Guard, ...]
    after: tuple[AnyKind, ...] = ()
    """The kinds of the inputs afterwards: a list may have come to hold something else."""
    waits: bool = False
    """It spends its time waiting for a pilot."""

    @property
    def only_reads(self) -> bool:
        """All it does to memory is to read whole inputs."""
        if self.outers or self.states or self.links:
            return False
        return not any(access.writes or access.index is not None for access in self.accesses)

    @property
    def writes(self) -> bool:
        """It changes memory or hidden state."""
        return bool(self.states) or any(access.writes for access in self.accesses)

    @property
    def changes_boxes(self) -> bool:
        """It may change what lists, dicts and sets hold."""
        return any(access.boxes_only for access in self.accesses)
