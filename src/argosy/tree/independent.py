"""Loops whose iterations, and comprehensions whose elements, do not depend on one another; by syntax and kinds."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from argosy.tree.effects import Opaque
from argosy.tree.effects.analyse import Interpreter, analysing
from argosy.tree.effects.record import Outer
from argosy.tree.effects.values import ATOM_SKETCH, Sketch
from argosy.tree.kinds import ATOM, AnyKind
from argosy.tree.names import Comprehension, jumps, names_of
from argosy.tree.source import Source


@dataclass(frozen=True, slots=True)
class Independence:
    """What must hold of the values themselves: arrays that are written share memory with nothing else that is read."""

    written: tuple[tuple[str, int], ...]
    """Arrays that iterations store into, each at the loop variable along this axis."""
    outers: tuple[Outer, ...]
    """What is read from outside of the function."""
    waits: bool = False
    """They spend their time waiting for a pilot."""


def independent_iterations(
    source: Source, loop: ast.For, inputs: Sequence[str], kinds: Sequence[AnyKind]
) -> Independence | None:
    """Of a loop over a range: every iteration writes memory of its own, and reads no other's."""
    assert isinstance(loop.target, ast.Name)
    counter = loop.target.id
    names = names_of(loop.body)
    carried = names.exposed & names.bound
    if jumps(loop.body) and names.bound:
        return None
    if carried or counter in names.bound or not (names.bound & source.local_names) <= names.surely:
        return None
    with analysing():
        try:
            interpreter = _started(source, inputs, kinds)
            if not _changes_nothing(source, loop.iter, inputs, kinds):
                return None
            interpreter.bind(loop.target, ATOM_SKETCH)
            interpreter.block(loop.body)
        except Opaque:
            return None
    judged = _judged(interpreter, inputs, counter, names.bound)
    return judged if judged is not None and not judged.waits else None


def independent_elements(
    source: Source, comprehension: Comprehension, inputs: Sequence[str], kinds: Sequence[AnyKind]
) -> Independence | None:
    """Of a comprehension: computing an element changes nothing."""
    with analysing():
        try:
            interpreter = _started(source, inputs, kinds)
            interpreter.comprehension(comprehension)
        except Opaque:
            return None
    judged = _judged(interpreter, inputs, "", frozenset())
    return judged if judged is not None and not judged.written else None


def _changes_nothing(source: Source, node: ast.expr, inputs: Sequence[str], kinds: Sequence[AnyKind]) -> bool:
    """What is iterated over is evaluated before the first iteration, maybe twice."""
    one = _started(source, inputs, kinds)
    one.evaluate(node)
    return not one.writes and not one.states and not one.waits


def _started(source: Source, inputs: Sequence[str], kinds: Sequence[AnyKind]) -> Interpreter:
    environment = {
        name: Sketch(kind, frozenset() if kind is ATOM else frozenset({number}))
        for number, (name, kind) in enumerate(zip(inputs, kinds, strict=True))
    }
    return Interpreter(source, environment)


def _judged(one: Interpreter, inputs: Sequence[str], counter: str, bound: frozenset[str]) -> Independence | None:
    sources: list[Any] = [*range(len(inputs)), *one.outers.values()]
    if one.states or any(len(one.classes.members(frozenset({s}), sources)) > 1 for s in sources):
        return None
    written: dict[str, int] = {}
    for sketch, boxes_only in one.writes:
        touched = one.classes.members(sketch.origins, sources)
        if not touched:
            continue  # memory that the iteration made itself
        axis = _axis_of(sketch, counter, inputs, bound)
        if boxes_only or axis is None or written.setdefault(sketch.via[0], axis) != axis:  # type: ignore[index]
            return None
    places = {list(inputs).index(name): axis for name, axis in written.items()}
    for sketch in one.reads:
        for origin in one.classes.members(sketch.origins, sources):
            if origin in places and _axis_of(sketch, counter, inputs, bound) != places[origin]:
                return None
    return Independence(tuple(written.items()), tuple(one.outers), one.waits)


def _axis_of(sketch: Sketch, counter: str, inputs: Sequence[str], bound: frozenset[str]) -> int | None:
    """The axis at which a subscript of an input has the loop variable, and nothing before it that moves axes."""
    if sketch.via is None or sketch.via[0] not in inputs or sketch.via[0] in bound:
        return None
    if sketch.origins != frozenset({list(inputs).index(sketch.via[0])}):
        return None
    index = sketch.via[1]
    for axis, part in enumerate(index.elts if isinstance(index, ast.Tuple) else [index]):
        if isinstance(part, ast.Name) and part.id == counter:
            return axis
        if not isinstance(part, ast.Slice) and not _is_whole_number(part):
            return None
    return None


def _is_whole_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int
