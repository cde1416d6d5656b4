"""Compiling a part of a function so that nothing of it shows: names and constants are those of the whole."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, TypeVar

from argosy.tree.warned import hear

_T = TypeVar("_T")


def compiled(
    inner: ast.FunctionDef, filename: str, qualified: str, free: ast.arguments, flags: int, constants: dict[Any, Any]
) -> CodeType:
    """The code of a function as if it stood where `qualified` says, with free variables that it may use.

    It is put into functions and classes of those names, so that inner functions have the names that they should have,
    and private names are those of the class.
    """
    *around, name = qualified.split(".")
    inner.name = name
    node: ast.FunctionDef | ast.ClassDef = inner
    while around:
        if around[-1] == "<locals>":
            around.pop()
            function = ast.FunctionDef(name=around.pop(), args=_NO_ARGUMENTS, body=[node], decorator_list=[])
            node = ast.copy_location(function, inner)
        else:
            made = ast.ClassDef(name=around.pop(), bases=[], keywords=[], body=[node], decorator_list=[])
            node = ast.copy_location(made, inner)
    outermost = node.name
    depth = sum(part != "<locals>" for part in qualified.split("."))
    taken = {argument.arg for argument in free.args}
    body: list[ast.stmt] = [node] if outermost in taken else [ast.Global(names=[outermost]), node]
    factory = ast.copy_location(ast.FunctionDef(name=_FACTORY, args=free, body=body, decorator_list=[]), inner)
    module = ast.fix_missing_locations(ast.Module(body=[factory], type_ignores=[]))
    code: CodeType = quietly(lambda: compile(module, filename, "exec", flags, True))
    for _ in range(depth + 1):
        code = next(constant for constant in code.co_consts if isinstance(constant, CodeType))
    return with_constants(code, constants)


_FACTORY = "__argosy_factory__"
_WITHIN = f"{_FACTORY}.<locals>."
LOCALS = "__argosy_locals__"
"""A constant that stands for the builtin function, whatever its name stands for there."""
_FACTORY = "__argosy_factory__"
_WITHIN = f"{_FACTORY}.<locals>."
LOCALS = "__argosy_locals__"
"""A constant that stands for the builtin function, whatever its name stands for there."""
_NO_ARGUMENTS = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


def quietly(work: Callable[[], _T]) -> _T:
    """What the compiler has to say it said when the file was imported."""
    before = hear([])
    try:
        return work()
    except SyntaxError:  # the warning was made an error
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()
    finally:
        hear(before)


def codes_within(code: CodeType) -> Iterator[CodeType]:
    """All that are within."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes_within(constant)


def constants_of(code: CodeType) -> dict[Any, Any]:
    """The constants of a function and of what is in it, by what makes two of them the same."""
    found: dict[Any, Any] = {}
    for one in (code, *codes_within(code)):
        for constant in one.co_consts:
            _enter(constant, found)
    return found


def _enter(constant: Any, found: dict[Any, Any]) -> None:
    if not isinstance(constant, CodeType):
        found.setdefault(_sameness(constant), constant)
        if isinstance(constant, (tuple, frozenset)):
            for element in constant:
                _enter(element, found)


def with_constants(code: CodeType, known: dict[Any, Any]) -> CodeType:
    """The code with these constants in the place of equal ones, so that `is` has the same answer."""
    constants: list[Any] = []
    for one in code.co_consts:
        if isinstance(one, CodeType):
            constants.append(with_constants(one, known))
        elif one == LOCALS:
            constants.append(locals)
        else:
            own = one.removeprefix(_WITHIN) if isinstance(one, str) else one  # a class says its name by a constant
            constants.append(known.get(_sameness(own), own))
    return code.replace(co_consts=tuple(constants), co_qualname=code.co_qualname.removeprefix(_WITHIN))


def _sameness(constant: Any) -> Any:
    if isinstance(constant, tuple):
        return tuple, tuple(map(_sameness, constant))
    if isinstance(constant, frozenset):
        return frozenset, frozenset(map(_sameness, constant))
    return type(constant), repr(constant) if isinstance(constant, (float, complex)) else constant
