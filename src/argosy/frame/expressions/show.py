"""An expression as text, the way a user would write it: for `explain()` and for errors."""

from __future__ import annotations

import json

from argosy.frame.expressions.expr import Expr
from argosy.frame.expressions.literals import text_of
from argosy.frame.expressions.nodes import Aggregation, Alias, Call, Cases, Cast, Column, Literal
from argosy.frame.expressions.values import Values

INFIX = frozenset(["==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "power"])
PREFIX = {"neg": "-", "~": "~"}


def show(expr: Expr) -> str:
    match expr:
        case Column():
            return f"col({json.dumps(expr.name, ensure_ascii=False)})"
        case Literal():
            return f"lit({text_of(expr.scalar)})"
        case Cast():
            return f"{_operand(expr.input)}.cast({str(expr.to)!r})"
        case Alias():
            return f"{_operand(expr.input)}.alias({expr.name!r})"
        case Aggregation(input=None):
            return "count()"
        case Aggregation():
            given = "" if expr.parameter is None else repr(expr.parameter)
            return f"{_operand(expr.inputs[0])}.{expr.kind}({given})"
        case Cases():
            chain = ".".join(f"when({_argument(test)}).then({_argument(value)})" for test, value in expr.branches)
            return f"{chain}.otherwise({_argument(expr.default)})"
        case Call():
            return _show_call(expr)
    raise TypeError(f"{type(expr).__name__} is not an expression that can be shown")


def _show_call(expr: Call) -> str:
    if expr.op in PREFIX:
        return PREFIX[expr.op] + _operand(expr.args[0])
    if expr.op == "power":
        return f"{_operand(expr.args[0])} ** {expr.options[0]}"
    if expr.op in INFIX:
        left, right = expr.args
        if isinstance(left, Literal) and isinstance(right, Literal):
            return f"{show(left)} {expr.op} {_operand(right)}"
        return f"{_infix_operand(left)} {expr.op} {_infix_operand(right)}"
    subject, *others = expr.args
    if expr.op in ("at_least", "at_most"):
        bound = _argument(others[0])
        return (
            f"{_operand(subject)}.clip({bound})" if expr.op == "at_least" else f"{_operand(subject)}.clip(high={bound})"
        )
    given = [_argument(other) for other in others] + [_option(option) for option in expr.options if option is not None]
    return f"{_operand(subject)}.{expr.op}({', '.join(given)})"


def _operand(expr: Expr) -> str:
    """As the subject of a method: an operation in infix form gets parentheses."""
    return f"({show(expr)})" if isinstance(expr, Call) and (expr.op in INFIX or expr.op in PREFIX) else show(expr)


def _infix_operand(expr: Expr) -> str:
    if isinstance(expr, Literal):
        return text_of(expr.scalar)
    return f"({show(expr)})" if isinstance(expr, Call) and expr.op in INFIX else show(expr)


def _argument(expr: Expr) -> str:
    return text_of(expr.scalar) if isinstance(expr, Literal) else show(expr)


def _option(option: object) -> str:
    if isinstance(option, Values):
        return repr(option)
    return json.dumps(option, ensure_ascii=False) if isinstance(option, str) else repr(option)
