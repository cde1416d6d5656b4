"""Functions of one number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from argosy.frame.expressions.common import is_number, plain
from argosy.frame.expressions.functions.rule import Bind, NoRule, Rule


def _number(types: Sequence[pa.DataType]) -> pa.DataType:
    kind = plain(types[0])
    if not (is_number(kind) or is_.is_null(kind)):
        raise NoRule(f"this needs a number, but got {types[0]}; cast it with .cast(...)")
    return kind


def _to_real(run: Callable[..., Any]) -> Bind:
    def bind(types: Sequence[pa.DataType], options: tuple[Any, ...]) -> Rule:
        kind = pa.float32() if is_.is_float32(_number(types)) else pa.float64()
        return Rule(takes=(kind,), gives=kind, run=lambda value: run(value, *options))

    return bind


def _keeping(run: Callable[..., Any]) -> Bind:
    """To a whole number, of the same type; an integer is one already."""

    def bind(types: Sequence[pa.DataType], _options: tuple[Any, ...]) -> Rule:
        kind = _number(types)
        return Rule(takes=(kind,), gives=kind, run=_same if is_.is_integer(kind) else run)

    return bind


def _same(value: Any) -> Any:
    return value


def _round(types: Sequence[pa.DataType], options: tuple[Any, ...]) -> Rule:
    (digits,) = options
    kind = _number(types)
    if is_.is_integer(kind) and digits >= 0:
        return Rule(takes=(kind,), gives=kind, run=_same)
    return Rule(takes=(kind,), gives=kind, run=lambda value: pc.round(value, digits, round_mode="half_to_even"))


def _negate(types: Sequence[pa.DataType], _options: tuple[Any, ...]) -> Rule:
    kind = plain(types[0])
    if is_.is_duration(kind):
        return Rule(takes=(kind,), gives=kind, run=pc.negate_checked)
    kind = _number(types)
    if is_.is_unsigned_integer(kind):
        kind = {8: pa.int16(), 16: pa.int32()}.get(kind.bit_width, pa.int64())
    return Rule(takes=(kind,), gives=kind, run=pc.negate_checked)


def _abs(types: Sequence[pa.DataType], _options: tuple[Any, ...]) -> Rule:
    kind = plain(types[0])
    if not is_.is_duration(kind):
        kind = _number(types)
    return Rule(takes=(kind,), gives=kind, run=pc.abs_checked)


def _is_nan(types: Sequence[pa.DataType], _options: tuple[Any, ...]) -> Rule:
    kind = _number(types)
    if is_.is_floating(kind):
        return Rule(takes=(kind,), gives=pa.bool_(), run=pc.is_nan)
    return Rule(takes=(pa.float64(),), gives=pa.bool_(), run=pc.is_nan)


def _log(value: Any, base: float | None = None) -> Any:
    return pc.ln(value) if base is None else pc.logb(value, pa.scalar(base, value.type))


FUNCTIONS: dict[str, Bind] = {
    "neg": _negate,
    "abs": _abs,
    "round": _round,
    "floor": _keeping(pc.floor),
    "ceil": _keeping(pc.ceil),
    "sqrt": _to_real(pc.sqrt),
    "exp": _to_real(pc.exp),
    "log": _to_real(_log),
    "is_nan": _is_nan,
}
