"""From a piece to an expression under way: which versions it takes, whom it waits for, what it will overwrite."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from argosy.tree.effects import Access, Effects, Outer
from argosy.tree.executor import current_executor
from argosy.tree.expression import Expression, Version
from argosy.tree.flow import Flow
from argosy.tree.grain import Grain
from argosy.tree.kinds import MADE, RESULT, UNKNOWN, AnyKind, Box, Closure, kind_of, nbytes_of
from argosy.tree.learning import learns
from argosy.tree.memory import Token
from argosy.tree.piece import Piece
from argosy.tree.plan import Plan
from argosy.tree.program import Program
from argosy.tree.regions import Region, region_of
from argosy.tree.sites import CallSite
from argosy.tree.states import DONE
from argosy.tree.watch import Touch, Watcher

_UNSURE = frozenset({RESULT, MADE, UNKNOWN})
_HOLDERS = frozenset({list, dict, set, tuple, FunctionType})
_SLICE = "__argosy_slice__"
_SMALL_NBYTES = 1 << 14
_SHORT_SECONDS = 50e-6
_FAR_FROM_OVERFLOW = 1 << 40
_NBYTES_COPIED_PER_SECOND = 4e9
_IN_AN_INDEX = (
    ast.Name, ast.Constant, ast.Slice, ast.Tuple, ast.UnaryOp, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Mult,
    ast.Load,
)  # fmt: skip


class Issuer:
    """The variables of one call of one function, and the flow that its expressions go to."""

    caller: Issuer | None = None
    sites: tuple[CallSite, ...] = ()
    """The calls by which the walk came to this function, the outermost first."""

    def __init__(
        self, program: Program, flow: Flow, grain: Grain, variables: dict[str, Version], watcher: Watcher | None = None
    ) -> None:
        self.watcher = watcher
        self.program = program
        self.flow = flow
        self.grain = grain
        self._in_place = grain.limit
        self.variables = variables
        self._outers: dict[Outer, Version] = {}
        self._outers_age = flow.age

    def issue(self, piece: Piece) -> tuple[Version, ...] | None:
        """The versions it will give, its outs bound to them; None when it must run in its turn."""
        variables = self.variables
        if piece.shared:
            return None
        try:
            versions = [variables[name] for name in piece.inputs]
        except KeyError:
            return None
        plan = piece.plans.get(tuple([version.kind_known for version in versions]))  # type: ignore[misc]
        if plan is not None and plan.is_simple:
            return (self._simply(piece, plan, versions),)
        plan = self.program.plan(piece, tuple([self.kind(version) for version in versions]))
        if plan.opaque is not None:
            plan = self._known_better(piece, versions, plan)
        effects = plan.effects
        if effects is None or (effects.waits and (_is_loop(piece) or current_executor() is None)):
            return None  # a loop whose iterations wait is entered, so that they wait side by side
        if effects.writes:
            if not self.flow.tracks:
                self._track()
            if self._writes_outside(effects, versions):
                return None
        outs = self._under_way(plan, effects, versions)
        for name, version in zip(piece.outs, outs[1:] if piece.is_value else outs, strict=True):
            variables[name] = version
        return outs

    def _simply(self, piece: Piece, plan: Plan, versions: list[Version]) -> Version:
        """The short way for what is met most: arrays and numbers are read, and one new value is made."""
        flow = self.flow
        if flow.failing:
            flow.drain()
        flow.seq = seq = flow.seq + 1
        expression = Expression(seq, plan, plan.function, versions)
        before = [maker for version in versions if (maker := version.maker) is not None and maker.state != DONE]
        if flow.tracks:
            self._read(expression, plan.only_reads, versions, before)
            out = plan.effects.outs[0]  # type: ignore[union-attr]
            made = Version(None, out.kind, Token() if out.group != -1 else None, flow.age, expression)
        else:
            made = Version(None, plan.effects.outs[0].kind, None, -1, expression)  # type: ignore[union-attr]
        expression.outs = (made,)
        if self.sites:
            expression.sites = self.sites
        expression.estimate = seconds = plan.seconds
        if self.watcher is not None:
            self._tell(self.watcher, expression, versions, versions)
        flow.issue(expression, before, seconds is not None and seconds < self._in_place)
        if piece.outs:
            self.variables[piece.outs[0]] = made
        return made

    def _read(
        self, expression: Expression, numbers: tuple[int, ...], versions: list[Version], before: list[Expression]
    ) -> None:
        """Note that it reads these, whole, and add to `before` who writes them."""
        age = self.flow.age
        for number in numbers:
            version = versions[number]
            token = self.token(version) if version.token_age != age else version.token
            if token is not None:
                if token.parent is not None:
                    token = token.root()
                if token.writers:
                    before += token.waits_for(False, None)
                token.add(expression, False, None)

    def _track(self) -> None:
        """Something will be written: from now on it is known who reads and writes what. What came before has ended."""
        self.flow.drain()
        self.flow.track()
        self.program.writes = True

    def _writes_outside(self, effects: Effects, versions: list[Version]) -> bool:
        """It writes memory that may have other addresses: who reads it there is not known."""
        for access in effects.accesses:
            if access.writes:
                number = access.source
                inside = number < len(versions)
                version = versions[number] if inside else self._outer(effects.outers[number - len(versions)])
                token = self.token(version)
                if token is not None and token.outside:
                    return True
        return False

    def changes_nothing(self, piece: Piece) -> bool:
        """It could be evaluated twice, and binds nothing."""
        if piece.outs or piece.shared or not all(name in self.variables for name in piece.inputs):
            return False
        plan = self.program.plan(piece, tuple([self.kind(self.variables[name]) for name in piece.inputs]))
        effects = plan.effects
        return effects is not None and not effects.states and not any(access.writes for access in effects.accesses)

    def kind(self, version: Version) -> AnyKind:
        """The kind of a value, looked at when it is there and everything that changes it has ended."""
        known = version.kind_known
        if version.stale:
            self.wait(version)
            self.settle(version)
            version.stale, known = False, None
        if known is None or (known in _UNSURE and version.ready):
            if type(version.value) in _HOLDERS:
                self.settle(version)
            found = kind_of(version.value)
            if found is UNKNOWN and known is MADE:
                return MADE
            version.kind_known = known = found
        return known

    def settle(self, version: Version) -> None:
        """Wait for everything that writes the memory of a value."""
        if not self.flow.tracks or self.flow.idle:
            return
        if version.token_age != self.flow.age and type(version.value) in _HOLDERS:
            self.flow.drain()  # sooner than all that it holds is looked at
            return
        token = self.token(version)
        if token is not None:
            for expression in token.waits_for(False, None):
                self.flow.wait_for(expression)

    def _known_better(self, piece: Piece, versions: list[Version], plan: Plan) -> Plan:
        """Wait for inputs whose kind is not known yet, and look again."""
        unsure = [version for version in versions if not version.ready and version.kind_known in _UNSURE]
        for version in unsure:
            self.wait(version)
        return self.program.plan(piece, tuple([self.kind(version) for version in versions])) if unsure else plan

    def _changed(self, effects: Effects, versions: list[Version]) -> None:
        """Containers may hold something else from now on; under other names than here nobody knows how."""
        changed = []
        for version, kind in zip(versions, effects.after, strict=True):
            if isinstance(kind, Box):
                version.kind_known = kind
                changed.append(version)
        everywhere = [version for frame in self._frames() for version in frame.variables.values()]
        others = [version for version in everywhere if version not in versions and _may_hold(version)]
        tokens = [(version, self.token(version)) for version in [*changed, *others]]  # looking one up may unite others
        roots = {token.root() for version, token in tokens[: len(changed)] if token is not None}
        for version, token in tokens[len(changed) :]:
            if token is not None and token.root() in roots:
                version.stale = True

    def _frames(self) -> Iterator[Issuer]:
        """This call, and those from which the walk came to it."""
        frame: Issuer | None = self
        while frame is not None:
            yield frame
            frame = frame.caller

    def wait(self, version: Version) -> Any:
        maker = version.maker
        if maker is not None:
            self.flow.wait_for(maker)
        return version.value

    def _under_way(self, plan: Plan, effects: Effects, versions: list[Version]) -> tuple[Version, ...]:
        flow = self.flow
        if flow.failing:
            flow.drain()
        function = plan.function or plan.runner(flow.pool, self.grain, all(map(_is_small, versions)))
        flow.seq += 1
        expression = Expression(flow.seq, plan, function, versions)
        before = [maker for version in versions if (maker := version.maker) is not None and maker.state != DONE]
        sources = versions
        if not flow.tracks:
            outs = expression.outs = tuple([Version(None, out.kind, None, -1, expression) for out in effects.outs])
        elif plan.only_reads:
            self._read(expression, plan.only_reads, versions, before)
            outs = expression.outs = self._outs(effects, sources, expression)
        else:
            sources = self._touched(plan, effects, versions, expression, before)
            outs = expression.outs = self._outs(effects, sources, expression)
        if self.watcher is not None:
            self._tell(self.watcher, expression, versions, sources)
        expression.sites = self.sites
        expression.waits = effects.waits
        expression.estimate = None if effects.waits else plan.seconds
        in_place = self.grain.in_place(expression.estimate)
        if not self.grain.always and (
            (plan.alone and plan.runs_alone()) or (expression.saves and _keeping_costs_more(expression))
        ):
            flow.drain()  # in its turn nothing has to be kept
            in_place, before = True, []
        flow.issue(expression, before, in_place)
        return outs

    def _touched(
        self, plan: Plan, effects: Effects, versions: list[Version], expression: Expression, before: list[Expression]
    ) -> list[Version]:
        """Note which memory it touches, and add to `before` whom it must wait for because of that."""
        sources = versions
        if effects.outers:
            sources = [*versions, *[self._outer(outer) for outer in effects.outers]]
        touched: list[tuple[Token, bool, Region | None]] = []
        for access in effects.accesses:
            version = sources[access.source]
            token = self.token(version)
            if token is None:
                continue
            region = self._region(plan, access, version, versions) if access.index is not None else None
            before += token.waits_for(access.writes, region)
            touched.append((token, access.writes, region))
            if access.writes:
                index = region.index if region is not None else None
                expression.saves = [*expression.saves, (version, index, access.boxes_only)]
        expression.writes = bool(expression.saves or effects.states)
        for name in effects.states:
            token = self.flow.memory.state(name)
            before += token.waits_for(True, None)
            touched.append((token, True, None))
        for token, writes, region in touched:
            token.root().add(expression, writes, region)
        for link in effects.links:
            self._unite([sources[number] for number in link])
        if effects.changes_boxes:
            self._changed(effects, versions)
        return sources

    @learns
    def _tell(self, watcher: Watcher, expression: Expression, versions: list[Version], sources: list[Version]) -> None:
        """Who makes its variables, and which memory it touches by which name."""
        effects, names = expression.plan.effects, expression.plan.piece.inputs
        inputs = [
            (version.maker, name) for name, version in zip(names, versions, strict=True) if version.maker is not None
        ]
        names = [*names, *[outer.name for outer in effects.outers]]
        touches = []
        for access in effects.accesses:
            version = sources[access.source]
            token = self.token(version)
            if token is not None:
                region = self._region(expression.plan, access, version, versions) if access.index is not None else None
                touches.append(Touch(token, access.writes, region, names[access.source]))
        touches += [Touch(self.flow.memory.state(state), True, None, state) for state in sorted(effects.states)]
        watcher.issued(expression, inputs, touches, self.program.source.name)

    def _outer(self, outer: Outer) -> Version:
        if self._outers_age != self.flow.age:
            self._outers.clear()
            self._outers_age = self.flow.age
        version = self._outers.get(outer)
        if version is None:
            version = self._outers[outer] = Version(outer.get())
        return version

    def token(self, version: Version) -> Token | None:
        if version.token_age != self.flow.age:
            if type(version.value) in _HOLDERS:
                self.flow.drain()  # what it holds is looked at, so nobody may be changing it
            version.token = self.flow.memory.token_of(version.value)
            version.token_age = self.flow.age
        return version.token.root() if version.token is not None else None

    def _region(self, plan: Plan, access: Access, version: Version, versions: list[Version]) -> Region | None:
        if not version.ready or type(version.value) is not np.ndarray:
            return None
        index = plan.indices.get(access)
        if index is None:
            index = plan.indices[access] = _index_of(plan.piece, access.index)
        function, places = index
        if function is None:
            return None
        values = []
        for place in places:
            if not versions[place].ready:
                return None
            value = versions[place].value
            if type(value) is np.int64 and abs(int(value)) < _FAR_FROM_OVERFLOW and not _multiplies(access.index):
                value = int(value)
            if type(value) is not int:  # arithmetic with others may warn, or wrap
                return None
            values.append(value)
        return region_of(version.value, function(*values))

    def _unite(self, versions: list[Version]) -> None:
        tokens = [token for token in map(self.token, versions) if token is not None]
        for token in tokens[1:]:
            tokens[0].unite(token)

    def _outs(self, effects: Effects, sources: list[Version], maker: Expression) -> tuple[Version, ...]:
        if not effects.outs:
            return ()
        age = self.flow.age
        if len(effects.outs) == 1 and not effects.outs[0].sources:
            out = effects.outs[0]
            return (Version(None, out.kind, Token() if out.group != -1 else None, age, maker),)
        groups: dict[int, Token] = {}
        outs = []
        for out in effects.outs:
            token: Token | None = None
            if out.group != -1:
                token = groups.get(out.group)
                for number in out.sources:
                    other = self.token(sources[number])
                    if other is not None:
                        token = other if token is None else token.unite(other)
                groups[out.group] = token = token or Token()
            outs.append(Version(None, out.kind, token, age, maker))
        return tuple(outs)


def _is_small(version: Version) -> bool:
    """There, and shorter than any tile."""
    return version.ready and nbytes_of(version.value) < _SMALL_NBYTES


def _keeping_costs_more(expression: Expression) -> bool:
    """Than the work itself, as far as that is known."""
    if expression.estimate is None:
        return False
    nbytes = sum(nbytes_of(version.value) for version, index, _ in expression.saves if index is None and version.ready)
    return nbytes / _NBYTES_COPIED_PER_SECOND > max(expression.estimate, _SHORT_SECONDS)


def _may_hold(version: Version) -> bool:
    known = version.kind_known
    return known is None or known in _UNSURE or isinstance(known, (Box, Closure))


def _is_loop(piece: Piece) -> bool:
    return not isinstance(piece.part, ast.expr) and isinstance(piece.part[0], (ast.For, ast.While))


def _index_of(piece: Piece, index: Any) -> tuple[Callable[..., Any] | None, tuple[int, ...]]:
    """A function that gives an index of integers and slices, and which inputs it takes; None for other indices."""
    if not all(isinstance(node, _IN_AN_INDEX) for node in ast.walk(index)):
        return None, ()
    names = sorted({node.id for node in ast.walk(index) if isinstance(node, ast.Name)})
    if not all(name in piece.inputs for name in names):
        return None, ()
    body = ast.copy_location(ast.Return(value=_as_value(index)), index)
    return piece.source.make(names, [body], {_SLICE: slice}), tuple(piece.inputs.index(name) for name in names)


def _multiplies(index: Any) -> bool:
    return any(isinstance(node, ast.Mult) for node in ast.walk(index))


def _as_value(index: ast.expr) -> ast.expr:
    if isinstance(index, ast.Slice):
        bounds = [bound or ast.Constant(None) for bound in (index.lower, index.upper, index.step)]
        maker = ast.Call(func=ast.Name(_SLICE, ast.Load()), args=list(bounds), keywords=[])
        return ast.copy_location(maker, index)
    if isinstance(index, ast.Tuple):
        return ast.copy_location(ast.Tuple([_as_value(part) for part in index.elts], ast.Load()), index)
    return index
