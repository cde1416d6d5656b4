"""Takes expressions apart: which columns they read, what they are called, where they can be split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce

from argosy.errors import FrameError
from argosy.frame.expressions.nodes import Aggregation, Alias, Call, Column, Expr, as_expr, lit

__all__ = ["as_expr", "columns_of", "conjunction", "conjuncts", "has_aggregate", "name_of", "substitute", "walk"]


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and all below it, inputs first."""
    for one in expr.inputs:
        yield from walk(one)
    yield expr


def columns_of(expr: Expr) -> frozenset[str]:
    """The names of the columns that it reads."""
    return frozenset(one.name for one in walk(expr) if isinstance(one, Column))


def has_aggregate(expr: Expr) -> bool:
    return any(isinstance(one, Aggregation) for one in walk(expr))


def substitute(expr: Expr, by_name: Mapping[str, Expr]) -> Expr:
    """The expression with these columns replaced, all at once."""
    if isinstance(expr, Column):
        return by_name.get(expr.name, expr)
    if not expr.inputs:
        return expr
    return expr.with_inputs(*(substitute(one, by_name) for one in expr.inputs))


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """The conditions that all have to be true for the expression to be true."""
    if isinstance(expr, Alias):
        return conjuncts(expr.input)
    if isinstance(expr, Call) and expr.op == "&":
        left, right = expr.args
        return conjuncts(left) + conjuncts(right)
    return (expr,)


def conjunction(exprs: Iterable[Expr]) -> Expr:
    """The condition that all of these are true; true where there are none."""
    every = list(exprs)
    return reduce(lambda left, right: left & right, every) if every else lit(True)


def name_of(expr: Expr) -> str:
    """What the result is called: its alias, else the only column that it reads."""
    if isinstance(expr, Alias):
        return expr.name
    names = columns_of(expr)
    if len(names) != 1:
        raise FrameError(f"{expr!r} has no name of its own; give it one with .alias('name') or as a keyword, name=...")
    return next(iter(names))
