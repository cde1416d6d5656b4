"""From the source of an expression to its parts."""

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from argosy.tree.tiles.functions import (
    METHODS,
    OPERATORS,
    SQUARE,
    Cast,
    Reduction,
    known_elementwise,
    known_product,
    known_reduction,
    num_operands,
)
from argosy.tree.tiles.parts import Apply, Global, Literal, Part, Product, Reduce, Variable, View
from argosy.tree.tiles.view import basic_index

LookUp = Callable[[str], object]


class CannotCut(Exception):
    """Something in the expression is not known to be elementwise; the expression is computed whole."""


class Parser:
    """Turns one expression into `parts`, in Python's order of evaluation; `names` are the local variables it meets."""

    def __init__(self, look_up: LookUp) -> None:
        self.names: list[str] = []
        self.parts: list[Part] = []
        self._look_up = look_up

    def add(self, node: ast.expr) -> int:
        """Add the parts of an expression, and return the place of the last of them."""
        if (dotted := _dotted(node)) is not None and not self._is_local(dotted):
            return self._put(Global(get=self._getter(dotted)))
        match node:
            case ast.Name(id=name):
                if name not in self.names:
                    self.names.append(name)
                return self._put(Variable(place=self.names.index(name)))
            case ast.Constant(value=value):
                return self._put(Literal(value=value))
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                return self._put(Product(operands=(self.add(left), self.add(right)), call=operator.matmul))
            case ast.BinOp(left=left, op=op, right=right) | ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._operator(op, left, right)
            case ast.UnaryOp(op=op, operand=operand):
                return self._operator(op, operand)
            case ast.Subscript(value=value, slice=subscript):
                index = basic_index(subscript, self._is_newaxis)
                if index is None:
                    raise CannotCut
                return self._put(View(operand=self.add(value), index=index))
            case ast.Attribute(value=value, attr="T"):
                return self._put(View(operand=self.add(value), index=None))
            case ast.Call():
                return self._call(node)
        raise CannotCut

    def _operator(self, op: ast.AST, *operands: ast.expr) -> int:
        if type(op) not in OPERATORS:
            raise CannotCut
        if (
            isinstance(op, ast.Pow)
            and isinstance(operands[1], ast.Constant)
            and type(operands[1].value) is int
            and operands[1].value == 2
        ):
            return self._put(Apply(operands=(self.add(operands[0]),), call=SQUARE, ufunc=np.square, is_operator=True))
        call, ufunc = OPERATORS[type(op)]
        places = tuple(self.add(operand) for operand in operands)
        return self._put(Apply(operands=places, call=call, ufunc=ufunc, is_operator=True))

    def _call(self, node: ast.Call) -> int:
        if any(keyword.arg is None for keyword in node.keywords) or any(isinstance(a, ast.Starred) for a in node.args):
            raise CannotCut
        dotted = _dotted(node.func)
        function = None if dotted is None or self._is_local(dotted) else self._getter(dotted)()
        if (elementwise := known_elementwise(function)) is not None:
            if node.keywords or len(node.args) != num_operands(elementwise):
                raise CannotCut
            return self._apply(elementwise, node.args)
        if (product := known_product(function)) is not None:
            return self._product(node, product, node.args)
        if function is np.transpose and len(node.args) == 1 and not node.keywords:
            return self._put(View(operand=self.add(node.args[0]), index=None))
        if (reduction := known_reduction(function)) is not None and node.args:
            return self._reduce(reduction, node.args[0], node.args[1:], node.keywords)
        if not isinstance(node.func, ast.Attribute):
            raise CannotCut
        return self._method(node, node.func.value, node.func.attr)

    def _method(self, node: ast.Call, value: ast.expr, name: str) -> int:
        if name in METHODS:
            return self._reduce(name, value, node.args, node.keywords)
        if node.keywords:
            raise CannotCut
        match name, len(node.args):
            case "astype", 1:
                return self._put(Apply(operands=(self.add(value),), call=Cast(dtype=self._dtype(node.args[0]))))
            case "clip", 2:
                return self._apply(np.clip, [value, *node.args])
            case "dot", 1:
                return self._product(node, np.dot, [value, *node.args])
            case "transpose", 0:
                return self._put(View(operand=self.add(value), index=None))
        raise CannotCut

    def _apply(self, function: Callable[..., Any], arguments: list[ast.expr]) -> int:
        places = tuple(self.add(argument) for argument in arguments)
        return self._put(
            Apply(operands=places, call=function, ufunc=function if isinstance(function, np.ufunc) else None)
        )

    def _product(self, node: ast.Call, function: Callable[..., Any], arguments: list[ast.expr]) -> int:
        if node.keywords or len(arguments) != 2:
            raise CannotCut
        return self._put(Product(operands=(self.add(arguments[0]), self.add(arguments[1])), call=function))

    def _reduce(self, name: str, value: ast.expr, arguments: list[ast.expr], keywords: list[ast.keyword]) -> int:
        given: dict[str | None, ast.expr] = {keyword.arg: keyword.value for keyword in keywords}
        if arguments and name != "norm":  # the second argument of norm is its order
            given["axis"] = arguments[0]
        if len(arguments) > 1 or (arguments and name == "norm") or not given.keys() <= {"axis", "keepdims"}:
            raise CannotCut
        axes, keepdims = (_literal(given.get(key), default) for key, default in (("axis", None), ("keepdims", False)))
        if type(axes) is int:
            axes = (axes,)
        if (
            not (axes is None or (type(axes) is tuple and all(type(axis) is int for axis in axes)))
            or type(keepdims) is not bool
        ):
            raise CannotCut
        if axes is not None and len(axes) != 1 and (name in ("argmax", "argmin", "norm") or not axes):
            raise CannotCut
        return self._put(Reduce(operand=self.add(value), call=Reduction(name=name, axes=axes, keepdims=keepdims)))

    def _dtype(self, node: ast.expr) -> np.dtype[np.generic]:
        dotted = _dotted(node)
        what = _literal(node, None) if dotted is None or self._is_local(dotted) else self._getter(dotted)()
        if not isinstance(what, str | type | np.dtype):
            raise CannotCut
        try:
            return np.dtype(what)
        except TypeError as error:
            raise CannotCut from error

    def _is_newaxis(self, node: ast.expr) -> bool:
        dotted = _dotted(node)
        if dotted is not None and not self._is_local(dotted):
            return self._getter(dotted)() is None
        return isinstance(node, ast.Constant) and node.value is None

    def _is_local(self, dotted: str) -> bool:
        try:
            self._look_up(dotted.partition(".")[0])
        except KeyError:
            return True
        return False

    def _getter(self, dotted: str) -> Callable[[], object]:
        look_up = self._look_up
        return lambda: look_up(dotted)

    def _put(self, part: Part) -> int:
        self.parts.append(part)
        return len(self.parts) - 1


def _dotted(node: ast.expr) -> str | None:
    """`np.linalg.norm` as text; None if it is not a name with attributes."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name) if (before := _dotted(value)) is not None:
            return f"{before}.{name}"
    return None


def _literal(node: ast.expr | None, default: object) -> Any:
    if node is None:
        return default
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        raise CannotCut from error
