"""The functions that can be computed in tiles, and how each is called on a tile."""

import ast
import builtins
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

ELEMENTWISE = frozenset(
    function
    for function in vars(np).values()
    if isinstance(function, np.ufunc) and function.signature is None and function.nout == 1
)

OPERATORS: dict[type[ast.AST], tuple[Callable[..., Any], np.ufunc | None]] = {
    ast.Add: (operator.add, np.add),
    ast.Sub: (operator.sub, np.subtract),
    ast.Mult: (operator.mul, np.multiply),
    ast.Div: (operator.truediv, np.true_divide),
    ast.FloorDiv: (operator.floordiv, np.floor_divide),
    ast.Mod: (operator.mod, np.remainder),
    ast.Pow: (operator.pow, None),  # x ** 2 is another loop than np.power(x, 2)
    ast.BitAnd: (operator.and_, np.bitwise_and),
    ast.BitOr: (operator.or_, np.bitwise_or),
    ast.BitXor: (operator.xor, np.bitwise_xor),
    ast.LShift: (operator.lshift, np.left_shift),
    ast.RShift: (operator.rshift, np.right_shift),
    ast.UAdd: (operator.pos, np.positive),
    ast.USub: (operator.neg, np.negative),
    ast.Invert: (operator.invert, np.invert),
    ast.Eq: (operator.eq, np.equal),
    ast.NotEq: (operator.ne, np.not_equal),
    ast.Lt: (operator.lt, np.less),
    ast.LtE: (operator.le, np.less_equal),
    ast.Gt: (operator.gt, np.greater),
    ast.GtE: (operator.ge, np.greater_equal),
}

REDUCTIONS: dict[Callable[..., Any], str] = {
    np.sum: "sum",
    np.mean: "mean",
    np.prod: "prod",
    np.max: "max",
    np.amax: "max",
    np.min: "min",
    np.amin: "min",
    np.any: "any",
    np.all: "all",
    np.argmax: "argmax",
    np.argmin: "argmin",
    np.linalg.norm: "norm",
}

METHODS = frozenset(REDUCTIONS.values()) - {"norm"}

PRODUCTS: tuple[Callable[..., Any], ...] = (np.matmul, np.dot)

ONLY_ONE_ANSWER = frozenset({"any", "all", "argmax", "argmin"})
"""Reductions whose answer does not depend on the order in which the elements are taken, whatever they are."""

STEPS_OF_REDUCTIONS: dict[str, tuple[np.ufunc, ...]] = {
    "sum": (np.add,),
    "mean": (np.add,),
    "prod": (np.multiply,),
    "max": (np.maximum,),
    "min": (np.minimum,),
    "norm": (np.multiply, np.add, np.sqrt),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Cast:
    """`x.astype(dtype)`."""

    dtype: np.dtype[np.generic]

    def __call__(self, array: Any) -> Any:
        return array.astype(self.dtype)


@dataclass(frozen=True, kw_only=True, slots=True)
class Power:
    """`x ** exponent` for one number as exponent: NumPy has loops of their own for some numbers."""

    exponent: float

    def __call__(self, array: Any) -> Any:
        return array**self.exponent


SQUARE = Power(exponent=2)

POWERS = tuple(Power(exponent=exponent) for exponent in (-1, 0, 0.5, 1, 2, 3, 2.7))


@dataclass(frozen=True, kw_only=True, slots=True)
class Reduction:
    """A reduction as the source calls it, its axes and `keepdims` bound."""

    name: str
    axes: tuple[int, ...] | None
    keepdims: bool

    def __call__(self, array: Any) -> Any:
        axes = self.axes[0] if self.axes is not None and len(self.axes) == 1 else self.axes
        if self.name == "norm":
            return np.linalg.norm(array, axis=axes, keepdims=self.keepdims)
        return getattr(array, self.name)(axis=axes, keepdims=self.keepdims)


def known_elementwise(function: object) -> Callable[..., Any] | None:
    """The function, if it is elementwise and all its arguments are arrays or numbers."""
    if function is builtins.abs:
        return np.absolute
    if function is np.where or function is np.clip or (isinstance(function, np.ufunc) and function in ELEMENTWISE):
        return function
    return None


def num_operands(function: Callable[..., Any]) -> int:
    return function.nin if isinstance(function, np.ufunc) else 3


def known_product(function: object) -> Callable[..., Any] | None:
    return next((known for known in PRODUCTS if known is function), None)


def known_reduction(function: object) -> str | None:
    """The name of the reduction that this function is."""
    return next((name for known, name in REDUCTIONS.items() if known is function), None)
