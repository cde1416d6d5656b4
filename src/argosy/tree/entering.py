"""Calls that a walk goes into instead of issuing them as one expression: something inside can be told apart."""

from __future__ import annotations

import ast
import inspect
from types import FunctionType
from typing import Any

from argosy.tree.expression import Version
from argosy.tree.kinds import declared_of, is_still, kind_of, of_class
from argosy.tree.loops import Loops
from argosy.tree.sites import CallSite, with_site

_MOST_DEEP = 6


class Entering(Loops):
    def run(self) -> Version:
        raise NotImplementedError

    def may_enter(self, node: ast.stmt) -> bool:
        """A statement that is one call of a function by its name, the result bound to one local variable or to none."""
        if not isinstance(node, (ast.Assign, ast.Expr)) or not isinstance(node.value, ast.Call):
            return False
        if not isinstance(node.value.func, ast.Name):
            return False
        targets = node.targets if isinstance(node, ast.Assign) else []
        local = self.program.source.local_names - self.program.source.shared
        return len(targets) < 2 and all(isinstance(target, ast.Name) and target.id in local for target in targets)

    def enters(self, node: ast.Assign | ast.Expr) -> bool:
        """Whether the walk went into such a call."""
        result = self.entered(node.value)
        if result is not None and isinstance(node, ast.Assign):
            self.variables[node.targets[0].id] = result  # type: ignore[attr-defined]
        return result is not None

    def entered(self, node: ast.expr) -> Version | None:
        """What a call gives that the walk went into; None when it does not go into it."""
        if not isinstance(node, ast.Call) or len(self.sites) >= _MOST_DEEP:
            return None
        function = self._function_of(node)
        program = self.program.of_callee(function) if function is not None else None
        if function is None or program is None or any(site.source is program.source for site in self.sites):
            return None
        if program.source.function.__code__ is self.program.source.function.__code__:
            return None
        if not program.has_something_to_tell_apart(self._has_big_argument(node)):
            return None
        variables = self._arguments(node, function)
        if variables is None:
            return None
        site = CallSite(self.program.source, node)
        callee = type(self)(program, self.flow, self.grain, variables, self.watcher)
        callee.sites = (*self.sites, site)
        callee.caller = self
        program.check()
        age = self.flow.age
        try:
            return callee.run()
        except Exception as error:
            raise with_site(error, site)  # noqa: B904
        finally:
            if age != self.flow.age:  # something opaque ran inside
                for frame in self._frames():
                    for version in frame.variables.values():
                        version.forget()

    def _function_of(self, node: ast.Call) -> FunctionType | None:
        if any(isinstance(argument, ast.Starred) for argument in node.args) or not isinstance(node.func, ast.Name):
            return None
        if any(word.arg is None for word in node.keywords) or node.func.id in self.program.source.local_names:
            return None
        function = self.program.global_value(node.func.id)
        if declared_of(function) is not None:
            return None
        if of_class(type(function), "__argosy_plain__"):
            function = function.plain
        return function if type(function) is FunctionType and not function.__closure__ else None

    def _has_big_argument(self, node: ast.Call) -> bool:
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        return self._has_big_input(frozenset(names))

    def _arguments(self, node: ast.Call, function: FunctionType) -> dict[str, Version] | None:
        """Versions by parameter; None when the call is for Python to refuse, or a default value may change."""
        signature = inspect.signature(function, follow_wrapped=False)
        words = {str(word.arg): word.value for word in node.keywords}
        try:
            bound = signature.bind(*node.args, **words)
        except TypeError:
            return None
        given: dict[str, Any] = bound.arguments
        if any(not isinstance(argument, ast.expr) for argument in given.values()):
            return None
        defaults = {name: signature.parameters[name].default for name in signature.parameters if name not in given}
        if not all(is_still(kind_of(default)) for default in defaults.values()):
            return None
        if not all(self._is_bound(argument) for argument in given.values()):
            return None
        place = {id(argument): name for name, argument in given.items()}
        versions = {place[id(node_)]: self._argument(node_) for node_ in [*node.args, *words.values()]}
        return {**versions, **{name: Version(default) for name, default in defaults.items()}}

    def _is_bound(self, node: ast.expr) -> bool:
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        return all(name in self.variables for name in names & self.program.source.local_names)

    def _argument(self, node: ast.expr) -> Version:
        if isinstance(node, ast.Name) and node.id in self.variables:
            return self.variables[node.id]
        return self.value(node)
