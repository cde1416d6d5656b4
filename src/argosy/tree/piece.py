"""Pieces of a function: a statement, a test or a value, compiled by itself as a function of the variables it reads.

A piece that falls off its end gives the variables it binds. A whole compound statement that runs plainly also says how
it ended: by falling off its end, or by a break, continue or return that reaches outside of it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from argosy.tree.effects import Opaque, analyse
from argosy.tree.endings import ITEMS, Escapes, as_it_runs, at, copied, in_sight, run_once, truth, unbound
from argosy.tree.kinds import AnyKind
from argosy.tree.learning import learns
from argosy.tree.names import names_of
from argosy.tree.plan import Plan
from argosy.tree.source import Source

_MOST_PLANS = 64


class Piece:
    """`inputs` and `outs` are names of local variables; `outs` are all bound when it falls off its end, if `sure`."""

    def __init__(
        self, source: Source, part: Sequence[ast.stmt] | ast.expr, role: str, missing: frozenset[str] = frozenset()
    ) -> None:
        """`missing` are variables that are known to be unbound before it."""
        self.source = source
        self._missing = missing
        self.items = role in ("rest", "stretch")
        """It is the rest or a stretch of a loop, over an iterator that comes as the first argument."""
        self.part = part
        self.role = role
        """simple: gives what it binds; value: gives itself; test: gives its truth; block, rest (of a `for`) and
        stretch (of a loop): gives how it ended too.

        A value or test that binds variables by `:=` gives a tuple of itself and them."""
        self.is_value = isinstance(part, ast.expr)
        names = names_of(part)
        self.shared = (names.exposed | names.bound) & source.shared
        """Variables in it that inner functions see change: it runs in its turn."""
        local = source.local_names - source.shared
        exposed = names.exposed & local
        bound = names.bound & local
        deleted = {
            target.id
            for node in ([part] if isinstance(part, ast.expr) else part)
            for inner in ast.walk(node)
            if isinstance(inner, ast.Delete)
            for target in inner.targets
            if isinstance(target, ast.Name)
        }
        self.outs = tuple(sorted(bound))
        self.unsure = (bound - names.surely) | (deleted & local)
        """May be unbound afterwards, unless they were bound before and are not deleted."""
        self.deletes = bool(deleted)
        if role in ("block", "rest", "stretch"):  # may end before it has bound them
            self.unsure = bound
        if self.items:
            exposed = names_of(as_it_runs(part, role)).exposed & local
        self.exposed = exposed
        self.inputs = tuple(sorted((exposed | self.unsure) - missing))
        self.line = part.lineno if isinstance(part, ast.expr) else part[0].lineno
        self.plans: dict[tuple[AnyKind, ...], Plan] = {}
        self.count_before = 0
        self.seconds_before = 0.0
        """In its turn, and by plans that were forgotten."""
        self._function: Any = None
        self._functions: dict[tuple[str, ...], Any] = {}

    def plan(self, kinds: tuple[AnyKind, ...]) -> Plan:
        plan = self.plans.get(kinds)
        if plan is None:
            if len(self.plans) > _MOST_PLANS:
                self.plans.clear()
            plan = self.plans[kinds] = self._analysed(kinds)
        return plan

    def _analysed(self, kinds: tuple[AnyKind, ...]) -> Plan:
        try:
            if self.shared:
                raise Opaque(f"{min(self.shared)} is a variable of an inner function too", self.line)
            if self.role in ("block", "rest", "stretch"):
                raise Opaque("a whole statement in its turn", self.line)
            part: Any = truth(self.part) if self.role == "test" else self.part  # type: ignore[arg-type]
            # the truth of a test is asked for, so it is read
            return Plan(self, kinds, analyse(self.source, part, self.inputs, kinds, self.outs), None)
        except Opaque as opaque:
            line = opaque.line or self.line
            return Plan(self, kinds, None, Opaque(opaque.reason, line, for_now=opaque.for_now))

    @cached_property
    @learns
    def forks(self) -> list[Any]:
        """How it can be cut into stretches of rounds, by its syntax: at most one way."""
        from argosy.tree.fork import fork_of

        cut = fork_of(self)
        return [cut] if cut is not None else []

    @cached_property
    @learns
    def tilings(self) -> list[Any]:
        """How it can be cut into tiles, by its syntax: at most one way."""
        from argosy.tree.tiling import tiling_of

        cut = tiling_of(self)
        return [cut] if cut is not None else []

    @property
    def cuts(self) -> list[Any]:
        return [] if self.shared else [*self.forks, *self.tilings]

    def ending(self) -> ast.stmt:
        """The statement that gives what a simple piece binds."""
        return self.body()[-1]

    def forget(self) -> None:
        """Something outside that was relied on has changed."""
        self.count_before, self.seconds_before = self.count, self.seconds
        self.plans.clear()
        self.__dict__.pop("forks", None)
        self.__dict__.pop("tilings", None)

    def function(self) -> Any:
        """Of its inputs."""
        if self._function is None:
            self._function = self._compiled([ITEMS, *self.inputs] if self.items else list(self.inputs), frozenset())
        return self._function

    def in_frame(self, there: tuple[str, ...]) -> Any:
        """Of all variables that are there, so that who looks at the frame sees them as in the user's function."""
        made = self._functions.get(there)
        if made is None:
            missing = frozenset(self.inputs) - frozenset(there)
            made = self._compiled([ITEMS, *there] if self.items else list(there), missing, self.source.shared)
            self._functions[there] = made
        return made

    @learns
    def _compiled(self, parameters: list[str], missing: frozenset[str], seen: frozenset[str] = frozenset()) -> Any:
        body = self.body()
        first = [*unbound(missing | (self._missing - set(parameters)), body[0]), *in_sight(seen, body[0])]
        return self.source.make(parameters, [*first, *body])

    def body(self) -> list[ast.stmt]:
        """As it is compiled."""
        part = self.part
        if isinstance(part, ast.expr):
            value = part if self.role == "value" else truth(part)
            if self.outs:
                value = at(ast.Tuple([value, *[ast.Name(name, ast.Load()) for name in self.outs]], ast.Load()), part)
            return [at(ast.Return(value=value), part)]
        last = part[-1]
        if self.role == "simple":
            names = [ast.Name(name, ast.Load()) for name in self.outs]
            result = names[0] if len(names) == 1 else ast.Tuple(list(names), ast.Load()) if names else None
            return [*part, at(ast.Return(value=result), last)]
        *body, end = run_once(as_it_runs(part, self.role), last, self.role == "stretch")
        return [*body, at(end, last)]

    @cached_property
    def escapes(self) -> bool:
        """A break, continue or return in it reaches outside."""
        if isinstance(self.part, ast.expr):
            return False
        finder = Escapes()
        finder.several(copied(statement) for statement in self.part)
        return finder.jumps or finder.returns

    @property
    def count(self) -> int:
        """How often it ran in walked calls."""
        return self.count_before + sum(plan.count for plan in self.plans.values())

    @property
    def seconds(self) -> float:
        """How long it ran in walked calls, in all."""
        return self.seconds_before + sum(plan.total for plan in self.plans.values())

    @property
    def statement(self) -> ast.stmt:
        """Of a piece that is one."""
        assert not isinstance(self.part, ast.expr)
        return self.part[0]

    @property
    def text(self) -> str:
        if isinstance(self.part, ast.expr):
            return ast.unparse(self.part)
        return ast.unparse(self.part[0]).split("\n")[0]
