"""From a function to the syntax tree of its own source, or the reason why there is none to work with.

The source found in the file is compiled and compared with the code that will run, so a file that was edited after it
was imported, or a line that several functions share, is noticed.
"""

from __future__ import annotations
import __future__

import ast
import copy
import inspect
import linecache
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import CellType, CodeType, FunctionType
from typing import Any

from argosy.tree.compiling import codes_within, compiled, constants_of
from argosy.tree.files import File, file_of, found_alone
from argosy.tree.learning import learns
from argosy.tree.names import names_of, own_nodes, parameters_of
from argosy.tree.refused import refused
from argosy.tree.shared_names import caught_unbound, shared_names

_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_PIECE, _SELF, _DIRECT = "__argosy_piece__", "__argosy_self__", "__argosy_direct__"
HIDDEN_NAMES = tuple(f"__argosy_{number}__" for number in range(8))
"""Local variables of ours, for parts of a statement that is taken apart."""
_OURS: set[CodeType] = set()
"""Code that was compiled from pieces, inner functions among it: it is that of its source for sure."""


class NotCaptured(Exception):
    """Why a function runs plainly, as a whole."""

    def __init__(self, reason: str, line: int = 0) -> None:
        self.reason = reason
        self.line = line
        super().__init__(reason)


@dataclass(eq=False)
class Source:
    """A function's own syntax, with line numbers as in its file."""

    function: FunctionType
    tree: ast.FunctionDef
    filename: str
    futurized: Any = None
    """What the function's name stands for when it is decorated."""

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        return tuple(parameters_of(self.tree.args))

    @cached_property
    def own(self) -> list[ast.AST]:
        """The nodes of its own scope."""
        return list(own_nodes(self.tree))

    @cached_property
    def outer(self) -> frozenset[str]:
        """Names that the function says are global."""
        return frozenset(name for node in self.own if isinstance(node, ast.Global) for name in node.names)

    @cached_property
    def around(self) -> frozenset[str]:
        """Names that the function says are of a function around it."""
        return frozenset(name for node in self.own if isinstance(node, ast.Nonlocal) for name in node.names)

    @cached_property
    def local_names(self) -> frozenset[str]:
        own = frozenset(self.parameters) | names_of(self.tree.body).bound
        return (own - self.outer - self.around) | frozenset(HIDDEN_NAMES)

    @cached_property
    def shared(self) -> frozenset[str]:
        """Local variables that inner functions see change: each call keeps them in cells, as Python does."""
        found = shared_names(self.tree, self.parameters, self.local_names, self.function.__globals__)
        return found & self.local_names

    @cached_property
    def in_order(self) -> tuple[str, ...]:
        """The names of local variables in the order in which a frame has them."""
        code = self.function.__code__
        names = [*code.co_varnames, *code.co_cellvars]
        return tuple(dict.fromkeys(name for name in names if name in self.local_names))

    @cached_property
    def flags(self) -> int:
        return int(self.function.__code__.co_flags & _FUTURES)

    @cached_property
    def cells(self) -> dict[str, Any]:
        return dict(zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=True))

    @cached_property
    def direct(self) -> Any:
        """The plain function, with calls of itself that do not go through the futurized one.

        A recursion then has one frame a level, as without the decorator.
        """
        if not self._calls_itself:
            return self.function
        tree = self.tree
        arguments = _without_defaults(tree.args)
        arguments.kwonlyargs = [*arguments.kwonlyargs, ast.arg(_SELF), ast.arg(_DIRECT)]
        arguments.kw_defaults = [*arguments.kw_defaults, ast.Constant(None), ast.Constant(None)]
        whole = ast.FunctionDef(name=_PIECE, args=arguments, body=tree.body, decorator_list=[])
        made = self._function(ast.copy_location(whole, tree))
        made.__defaults__ = self.function.__defaults__
        made.__kwdefaults__ = {**(self.function.__kwdefaults__ or {}), _SELF: self.futurized, _DIRECT: made}
        return made

    @cached_property
    def _calls_itself(self) -> bool:
        named = any(isinstance(node, ast.Name) and node.id == self.name for node in ast.walk(self.tree))
        return self.futurized is not None and named and self.name not in self.local_names

    def line_of(self, line: int) -> str:
        return linecache.getline(self.filename, line).strip()

    @learns
    def make(self, parameters: list[str], body: list[ast.stmt], extra: dict[str, Any] | None = None) -> Any:
        """A function of these parameters over a part of the body, with the globals, closure and name of the whole.

        `extra` are values that the body needs under names of their own; they become defaults of keyword parameters.
        """
        hidden = dict(extra or {})
        if self._calls_itself:
            hidden.update({_SELF: self.futurized, _DIRECT: self.direct})
        arguments = _arguments(parameters, sorted(hidden))
        declared: list[ast.stmt] = [ast.Global(names=sorted(self.outer))] if self.outer else []
        elsewhere = (names_of(body).bound & (self.shared | self.around)) - self.outer
        if elsewhere:
            declared.append(ast.Nonlocal(names=sorted(elsewhere)))
            body = [without_annotations(statement, elsewhere) for statement in body]
        inner = ast.FunctionDef(name=_PIECE, args=arguments, body=[*declared, *body], decorator_list=[])
        made = self._function(ast.copy_location(inner, body[0]))
        made.__kwdefaults__ = hidden
        return made

    def _function(self, inner: ast.FunctionDef) -> FunctionType:
        if self._calls_itself:
            inner = _OwnCalls(self.name).visit(copy.deepcopy(inner))
        code = self.compiled(inner).replace(co_name=self.name)
        closure = tuple(self.cells.get(name) or CellType() for name in code.co_freevars)
        return FunctionType(code, self.function.__globals__, self.name, None, closure)

    def with_cells(self, function: FunctionType, cells: Mapping[str, CellType]) -> FunctionType:
        """The same, over the cells of one call."""
        names = function.__code__.co_freevars
        closure = tuple(cells.get(name) or own for name, own in zip(names, function.__closure__ or (), strict=True))
        made = FunctionType(function.__code__, function.__globals__, function.__name__, None, closure)
        made.__kwdefaults__ = function.__kwdefaults__
        return made

    def compiled(self, inner: ast.FunctionDef) -> CodeType:
        """The code of a function over this one's closure, with its constants and named as it is."""
        free = [*self.cells, *sorted(self.shared)]
        code = compiled(
            inner, self.filename, self.function.__code__.co_qualname, _arguments(free), self.flags, self._constants
        )
        _OURS.update([code, *codes_within(code)])
        return code

    @cached_property
    def _constants(self) -> dict[Any, Any]:
        return constants_of(self.function.__code__)


def _arguments(names: list[str], hidden: list[str] | None = None) -> ast.arguments:
    hidden = hidden or []
    return ast.arguments(posonlyargs=[], args=[ast.arg(name) for name in names], defaults=[],
                         kwonlyargs=[ast.arg(name) for name in hidden],
                         kw_defaults=[ast.Constant(None) for _ in hidden])  # fmt: skip


class _OwnCalls(ast.NodeTransformer):
    """`f(x)` becomes `(__argosy_direct__ if f is __argosy_self__ else f)(x)`: what the name stands for may change."""

    def __init__(self, name: str) -> None:
        self._name = name

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = node.func
        if isinstance(called, ast.Name) and called.id == self._name:
            same = ast.Compare(left=called, ops=[ast.Is()], comparators=[ast.Name(_SELF, ast.Load())])
            chosen = ast.IfExp(test=same, body=ast.Name(_DIRECT, ast.Load()), orelse=called)
            node.func = ast.fix_missing_locations(ast.copy_location(chosen, called))
        return node


def capture(function: Any) -> Source:
    if not isinstance(function, FunctionType):
        raise NotCaptured(f"{function!r} has no Python source: it is not a Python function")
    code = function.__code__
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise NotCaptured("a generator or coroutine runs step by step as it is asked", code.co_firstlineno)
    if function.__name__ == "<lambda>":
        raise NotCaptured("a lambda is one expression", code.co_firstlineno)
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise NotCaptured(f"the source of {function.__name__} is not to be had: there is no file {code.co_filename}")
    alone = found_alone(lines, code, code.co_flags & _FUTURES)
    if alone is not None and _looks(alone[1]) == _looks(code):
        return _not_refused(Source(function, alone[0], code.co_filename))
    try:
        file = file_of("".join(lines), code.co_filename)
    except SyntaxError as error:
        raise NotCaptured(f"the source of {function.__name__} does not parse: {error}") from error
    for node in file.functions.get((code.co_name, code.co_firstlineno), []):
        source = Source(function, node, code.co_filename)
        _check_same(source, file)
        return _not_refused(source)
    raise NotCaptured(f"the source of {function.__name__} is not where it should be: was {code.co_filename} edited?")


def _not_refused(source: Source) -> Source:
    reason = refused(source.tree, source.own, source.local_names)
    reason = reason or caught_unbound(source.tree, source.own, source.shared, source.parameters)
    if reason is not None:
        raise NotCaptured(*reason)
    return source


def _check_same(source: Source, file: File) -> None:
    """The source must be that of the code which runs."""
    code = source.function.__code__
    again = file.codes((code.co_name, code.co_firstlineno), source.flags)
    if code not in _OURS and not any(_looks(found) == _looks(code) for found in again):
        raise NotCaptured(f"the file of {source.name} was edited after it was imported", code.co_firstlineno)


def _looks(code: CodeType) -> Any:
    """All that makes two functions do the same."""
    constants = [
        _looks(constant) if isinstance(constant, CodeType) else (type(constant), repr(constant))
        for constant in code.co_consts
    ]
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, constants


class _WithoutAnnotations(ast.NodeTransformer):
    """`x: int = 1` as `x = 1`: what is said to be nonlocal may have no annotation, which nobody evaluates there."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def visit_FunctionDef(self, node: ast.AST) -> ast.AST:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef  # noqa: N815

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if not (isinstance(node.target, ast.Name) and node.target.id in self._names):
            return node
        made = ast.Pass() if node.value is None else ast.Assign(targets=[node.target], value=node.value)
        return ast.copy_location(made, node)


def without_annotations(statement: ast.stmt, names: frozenset[str]) -> ast.stmt:
    if not any(isinstance(node, ast.AnnAssign) for node in ast.walk(statement)):
        return statement
    return _WithoutAnnotations(names).visit(copy.deepcopy(statement))  # type: ignore[no-any-return]


def _without_defaults(arguments: ast.arguments) -> ast.arguments:
    """The same parameters; their defaults are set on the function made of them."""
    bare: list[ast.expr] = [ast.Constant(None) for _ in arguments.defaults]
    keywords: list[ast.expr | None] = [
        None if default is None else ast.Constant(None) for default in arguments.kw_defaults
    ]
    return ast.arguments(posonlyargs=arguments.posonlyargs, args=arguments.args, vararg=arguments.vararg,
                         kwonlyargs=arguments.kwonlyargs, kw_defaults=keywords, kwarg=arguments.kwarg,
                         defaults=bare)  # fmt: skip
