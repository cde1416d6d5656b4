"""From what a user passes to a method of a frame to named expressions and names that are known to be there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from argosy import arguments
from argosy.errors import TypeMismatch, UnknownColumn
from argosy.frame.expressions.columns import as_expr, has_aggregate, name_of
from argosy.frame.expressions.nodes import Expr, col
from argosy.frame.expressions.types import type_of

Named = tuple[tuple[str, Expr], ...]
"""Columns to be: each a name and the expression that computes it."""


def named_expressions(method: str, items: Sequence[str | Expr], named: Mapping[str, Any]) -> Named:
    """Positional names and expressions, then keywords; a keyword's plain value is a literal.

    A list in place of the positional items is taken for them, since `select(["a", "b"])` can mean only one thing.
    """
    pairs = [(item, col(item)) if isinstance(item, str) else _named(method, item) for item in flat(items)]
    pairs += [(name, as_expr(value)) for name, value in named.items()]
    require_distinct(method, [name for name, _ in pairs])
    return tuple(pairs)


def _named(method: str, item: object) -> tuple[str, Expr]:
    if isinstance(item, Mapping):
        raise TypeError(f'{method}() takes no dictionary; write keywords, such as name=col("a").sum()')
    if not isinstance(item, Expr):
        raise TypeError(
            f"{method}() takes names and expressions, not {arguments.show(item)}; "
            "write a value as a keyword: name=lit(...)"
        )
    return name_of(item), item


def flat(items: Sequence[Any]) -> Sequence[Any]:
    """The items, or those of the one list that was passed in their place."""
    if len(items) == 1 and isinstance(items[0], list | tuple):
        return items[0]
    return items


def require_distinct(method: str, names: Iterable[str]) -> None:
    """No two columns of a result have one name."""
    for name, times in Counter(names).items():
        if times > 1:
            raise ValueError(
                f"{method}() makes {times} columns called {name!r}; give each a name of its own, with alias"
            )


def require_columns(method: str, names: Sequence[Any], schema: pa.Schema) -> tuple[str, ...]:
    """The names, each that of a column that is there."""
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{method}() takes names of columns, not {arguments.show(name)}")
        if name not in schema.names:
            raise UnknownColumn(name, schema.names)
    return tuple(names)


def row_type(method: str, expr: Expr, schema: pa.Schema) -> pa.DataType:
    """The type of an expression that has one value for each row."""
    if has_aggregate(expr):
        raise TypeMismatch(
            f"{method}() needs one value for each row, but {expr!r} is an aggregate; "
            "compute it with group_by().agg() and join it to the rows"
        )
    return type_of(expr, schema)


def require_rows(method: str, named: Named, schema: pa.Schema) -> None:
    """Each expression has one value for each row and a type."""
    for _, expr in named:
        row_type(method, expr, schema)


def require_key(method: str, name: str, kind: pa.DataType) -> None:
    """Rows can be grouped, matched and sorted by plain values only."""
    if pa.types.is_nested(kind):
        raise TypeMismatch(
            f"{method}() cannot use {name!r} as a key, since it is {kind}; take a part of it or cast it to a string"
        )


def require_count(method: str, what: str, number: object, bits: int = 63) -> int:
    """A number of rows."""
    return arguments.whole(
        f"{method}(): {what}", number, least=0, most=2**bits - 1, wanted="a whole number of 0 or more"
    )


def require_seed(method: str, number: object) -> int:
    return require_count(method, "seed", number, bits=128)


def unused(prefix: str, number: int, taken: Iterable[str]) -> list[str]:
    """Names for so many temporary columns, none of them taken."""
    there = set(taken)
    names: list[str] = []
    index = 0
    while len(names) < number:
        if (name := f"{prefix}{index}") not in there:
            names.append(name)
        index += 1
    return names
