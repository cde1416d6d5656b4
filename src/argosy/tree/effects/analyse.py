"""The effects of a piece of a function on its inputs, and of calls into functions whose source is at hand."""

from __future__ import annotations

import ast
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import FunctionType
from typing import Any

from argosy.tree.effects.calls import Arguments
from argosy.tree.effects.record import Access, Effects, Opaque, Out, Outer
from argosy.tree.effects.statements import Statements
from argosy.tree.effects.values import ATOM_SKETCH, Environment, Origin, Sketch
from argosy.tree.kinds import NEVER, AnyKind, Box, Closure, is_still
from argosy.tree.source import NotCaptured, Source, capture

_ROUNDS = 4
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Assert)


def analyse(
    source: Source, statements: Sequence[ast.stmt] | ast.expr, inputs: Sequence[str], kinds: Sequence[AnyKind],
    outs: Sequence[str],
) -> Effects:  # fmt: skip
    """What a piece does when its inputs are of these kinds. Raises Opaque.

    The first result of an expression is itself; then, as for statements, come the variables named by `outs`, and the
    value that is returned when there is a return among them. Only a single simple statement or an expression says at
    which index it touches an array: in a longer piece the variables of the index may change under way.
    """
    environment = _environment(inputs, kinds)
    with analysing():
        one = Interpreter(source, environment)
        if isinstance(statements, ast.expr):
            results = [one.evaluate(statements), *[one.environment.get(name, Sketch(NEVER)) for name in outs]]
        else:
            one.block(list(statements))
            results = [one.environment.get(name, Sketch(NEVER)) for name in outs]
            if one.returned is not None:
                results.append(one.returned)
        simple = isinstance(statements, ast.expr) or (len(statements) == 1 and isinstance(statements[0], _SIMPLE))
        return one.effects(len(inputs), results, inputs if simple else (), frozenset(outs))


def _environment(names: Sequence[str], kinds: Sequence[AnyKind]) -> Environment:
    for name, kind in zip(names, kinds, strict=True):
        if isinstance(kind, Box) and kind.tag == "iterator":
            raise Opaque(f"{name} is an iterator, which is used up as it is read", 0)
    environment: Environment = {}
    for number, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        sketch = Sketch(kind, frozenset() if is_still(kind) else frozenset({number}))
        environment[name] = environment[_value_of(number)] = sketch
    return environment


def _value_of(number: int) -> str:
    """The name under which an input is followed itself, whatever becomes of the variable."""
    return f"<input {number}>"


_ANALYSIS = threading.RLock()


def analysing() -> AbstractContextManager[Any]:
    """One analysis at a time: what is remembered of functions is shared."""
    return _ANALYSIS


class Interpreter(Statements):
    def effects(
        self, num_inputs: int, results: list[Sketch], inputs: Sequence[str], bound: frozenset[str] = frozenset()
    ) -> Effects:
        """`inputs` are the names whose subscripts are told apart, unless the index uses one that is bound here."""
        outers = list(self.outers)
        sources: list[Origin] = [*range(num_inputs), *self.outers.values()]
        number_of = {origin: number for number, origin in enumerate(sources)}
        accesses: dict[Access, None] = {}
        touched = [(sketch, False, False) for sketch in self.reads]
        touched += [(sketch, True, boxes_only) for sketch, boxes_only in self.writes]
        for sketch, writes, boxes_only in touched:
            if sketch.via is not None and sketch.via[0] in inputs and len(sketch.origins) == 1:
                (origin,) = sketch.origins
                used = {node.id for node in ast.walk(sketch.via[1]) if isinstance(node, ast.Name)}
                own = origin == list(inputs).index(sketch.via[0])
                if own and not (used | {sketch.via[0]}) & bound and self._alone(origin, sources):
                    accesses[Access(number_of[origin], writes, sketch.via[1])] = None
                    continue
            for origin in self.classes.members(sketch.origins, sources):
                if boxes_only and origin in self.kept_whole:
                    raise Opaque("a list, dict or set that is not a local variable is changed", 0)
                accesses[Access(number_of[origin], writes, None, boxes_only)] = None
        for sketch in results:  # what a result may be or hold is one from now on, for all of them
            self.classes.unite(sketch.origins)
        links = self._links(sources, number_of)
        return Effects(
            outs=tuple(self._out(sketch, sources, number_of) for sketch in results),
            accesses=tuple(accesses),
            links=links,
            outers=tuple(outers),
            states=frozenset(self.states),
            guards=tuple(self.guards.values()),
            after=tuple(self.inputs_after(num_inputs)),
            waits=self.waits,
        )

    @property
    def kept_whole(self) -> set[Origin]:
        """Memory from outside whose kind was looked at, so containers there must not change."""
        return {*self.outers.values(), *self.closure_origins}

    def inputs_after(self, num_inputs: int) -> list[AnyKind]:
        found = [self.environment.get(_value_of(number)) for number in range(num_inputs)]
        return [sketch.kind if sketch is not None else NEVER for sketch in found]

    def _alone(self, origin: Origin, sources: list[Origin]) -> bool:
        return len(self.classes.members(frozenset({origin}), sources)) == 1

    def _links(self, sources: list[Origin], number_of: dict[Origin, int]) -> tuple[tuple[int, ...], ...]:
        groups: dict[Origin, list[int]] = {}
        for origin in sources:
            groups.setdefault(self.classes.find(origin), []).append(number_of[origin])
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    def _out(self, sketch: Sketch, sources: list[Origin], number_of: dict[Origin, int]) -> Out:
        if not sketch.origins:
            return Out(sketch.kind, frozenset(), -1)
        shared = frozenset(number_of[origin] for origin in self.classes.members(sketch.origins, sources))
        return Out(sketch.kind, shared, hash(self.classes.find(next(iter(sketch.origins)))) & 0x7FFFFFFF)

    # calls of functions whose source is at hand

    def source_call(self, node: ast.Call, function: FunctionType, given: Arguments, held: Sketch | None,
                    closure: Closure | None) -> Sketch:  # fmt: skip
        bound = self.bound_arguments(node, function, given)
        names = list(bound)
        effects = _summary(function, tuple(bound[name].kind for name in names), closure, node)
        self.guards.update((guard.key, guard) for guard in effects.guards)
        self.states |= effects.states
        self.waits |= effects.waits
        sketches = [bound[name] for name in names]
        if closure is not None:
            assert held is not None
            sketches.append(held)
        sketches += [self._outer_sketch(outer) for outer in effects.outers]
        for access in effects.accesses:
            touched = sketches[access.source]
            if not access.writes:
                self.read(touched)
            elif touched.origins:
                self.writes.append((touched, access.boxes_only))
        for link in effects.links:
            self.classes.unite(*[sketches[number].origins for number in link])
        for sketch, after in zip(sketches, effects.after, strict=False):
            if isinstance(after, Box):
                self.widen(sketch, after.item)
        (result,) = effects.outs
        if is_still(result.kind):
            return Sketch(result.kind)
        return self.made(node, result.kind, *[sketches[number] for number in result.sources])

    def _outer_sketch(self, outer: Outer) -> Sketch:
        return self.outer(outer, None)


_Key = tuple[Any, ...]
_SUMMARIES: dict[_Key, Effects | Opaque] = {}
_SOURCES: dict[Any, Source | NotCaptured] = {}
_ASSUMED: dict[_Key, Effects] = {}
"""What is assumed of functions that are being analysed: they call themselves."""
_MOST = 4096

_NOTHING = Effects((Out(NEVER, frozenset(), -1),), (), (), (), frozenset(), ())


def _summary(function: FunctionType, kinds: tuple[AnyKind, ...], closure: Closure | None, node: ast.AST) -> Effects:
    """What a call of a function does to its arguments, and to what it captured as one more input."""
    key = (function.__code__, id(function.__globals__), kinds, closure)
    known = _SUMMARIES.get(key)
    if isinstance(known, Effects) and not all(guard.holds() for guard in known.guards):
        known = None
    if isinstance(known, Opaque):
        raise Opaque(known.reason, getattr(node, "lineno", 0))
    if known is not None:
        return known
    if key in _ASSUMED:
        return _ASSUMED[key]
    if len(_SUMMARIES) > _MOST:
        _SUMMARIES.clear()
    outermost = not _ASSUMED
    _ASSUMED[key] = _NOTHING
    try:
        effects = _settled(function, kinds, closure, key, node)
    except Opaque as opaque:
        reason = Opaque(f"{function.__name__}, line {opaque.line}: {opaque.reason}", getattr(node, "lineno", 0))
        if outermost:
            _SUMMARIES[key] = Opaque(reason.reason, reason.line)  # what was raised holds on to frames
        raise reason from opaque
    finally:
        del _ASSUMED[key]
    if outermost:
        _SUMMARIES[key] = effects
    return effects


def _settled(function: FunctionType, kinds: tuple[AnyKind, ...], closure: Closure | None, key: _Key,
             node: ast.AST) -> Effects:  # fmt: skip
    source = source_of(function, node)
    for _ in range(_ROUNDS):
        effects = _once(source, kinds, closure)
        if effects == _ASSUMED[key]:
            return effects
        if _same_but_guards(effects, _ASSUMED[key]):
            return effects
        _ASSUMED[key] = effects
    raise Opaque("what its calls of itself do does not settle", getattr(node, "lineno", 0))


def _same_but_guards(one: Effects, other: Effects) -> bool:
    return (one.outs, one.accesses, one.links, one.outers, one.states, one.after) == (
        other.outs, other.accesses, other.links, other.outers, other.states, other.after,
    )  # fmt: skip


def _once(source: Source, kinds: tuple[AnyKind, ...], closure: Closure | None) -> Effects:
    names = list(source.parameters)
    inner = Interpreter(source, _environment(names, kinds))
    num_inputs = len(names)
    if closure is not None:
        inner.cell_kinds = dict(zip(source.cells, closure.cells, strict=True))
        inner.closure_origins = frozenset({num_inputs})
        num_inputs += 1
    inner.block(source.tree.body)
    return inner.effects(num_inputs, [inner.returned or ATOM_SKETCH], ())


def source_of(function: FunctionType, node: ast.AST) -> Source:
    """The source of a function that is called; for closures, of its code."""
    key = (function.__code__, id(function.__globals__))
    found = _SOURCES.get(key)
    if found is None:
        if len(_SOURCES) > _MOST:
            _SOURCES.clear()
        try:
            found = capture(function)
        except NotCaptured as error:
            found = NotCaptured(error.reason, error.line)
        _SOURCES[key] = found
    if isinstance(found, NotCaptured):
        raise Opaque(f"{function.__name__}: {found.reason}", getattr(node, "lineno", 0))
    return found
