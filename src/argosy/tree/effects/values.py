"""Values as the analysis sees them: their kind, and where their memory may come from."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from argosy.tree.kinds import ATOM, AnyKind, join

Origin = Any
"""An input's number, ("outer", number), or ("made", line, column) for memory made by the piece itself."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is known of a value: its kind, and the origins of memory it may share or hold."""

    kind: AnyKind
    origins: frozenset[Origin] = frozenset()
    via: tuple[str, ast.expr] | None = None
    """It is this subscript of this variable, so touching it touches that region only."""


ATOM_SKETCH = Sketch(ATOM)


def join_sketches(one: Sketch | None, other: Sketch | None) -> Sketch:
    if one is None or other is None:
        found = one or other
        assert found is not None
        return found
    if one == other:
        return one
    via = one.via if one.via == other.via else None
    return Sketch(join(one.kind, other.kind), one.origins | other.origins, via)


Environment = dict[str, Sketch]


def join_environments(one: Environment, other: Environment) -> Environment:
    """Of two ways to one point. A variable that only one way binds keeps that kind: on the other, reading it raises."""
    joined = dict(one)
    for name, sketch in other.items():
        joined[name] = join_sketches(one.get(name), sketch)
    return joined


class Classes:
    """Origins of which one may hold or be the other (union-find)."""

    def __init__(self) -> None:
        self._parent: dict[Origin, Origin] = {}

    def find(self, origin: Origin) -> Origin:
        parent = self._parent
        while origin in parent:
            origin = parent[origin]
        return origin

    def unite(self, *groups: frozenset[Origin]) -> None:
        roots = {self.find(origin) for group in groups for origin in group}
        if len(roots) > 1:
            first, *rest = sorted(roots, key=repr)
            for other in rest:
                self._parent[other] = first

    def members(self, origins: frozenset[Origin], candidates: list[Origin]) -> list[Origin]:
        roots = {self.find(origin) for origin in origins}
        return [candidate for candidate in candidates if self.find(candidate) in roots]

    def state(self) -> int:
        return len(self._parent)
