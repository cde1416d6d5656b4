"""The operators + - * / // % ** on numbers, and + on strings. Those on dates and durations are in `time`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from argosy.frame.expressions.common import as_decimal, common_type, is_number, is_text, plain
from argosy.frame.expressions.functions import time
from argosy.frame.expressions.functions.rule import Bind, NoRule, Rule, named


def _numbers(op: str, types: Sequence[pa.DataType]) -> pa.DataType:
    """What the numbers have in common; null where both are null."""
    left, right = (plain(kind) for kind in types)
    if not all(is_number(kind) or is_.is_null(kind) for kind in (left, right)):
        hint = "cast truth values to int64" if is_.is_boolean(left) or is_.is_boolean(right) else "cast to a number"
        raise NoRule(f"{op} has no meaning for {named(*types)}; {hint} with .cast(...)")
    return common_type(left, right)


def _combining(op: str, run: Callable[..., Any]) -> Bind:
    """Addition and its like: integers stay integers, decimals grow."""

    def bind(types: Sequence[pa.DataType], _options: tuple[Any, ...]) -> Rule:
        left, right = (plain(kind) for kind in types)
        if is_.is_temporal(left) or is_.is_temporal(right):
            return time.arithmetic(op, left, right)
        common = common_type(left, right)
        if op == "+" and common is not None and is_text(common):
            return Rule(takes=(common, common), gives=common, run=_concat)
        kind = _numbers(op, types)
        if is_.is_decimal(kind):
            return _decimals(op, run, left, right)
        return Rule(takes=(kind, kind), gives=kind, run=run)

    return bind


def _concat(left: Any, right: Any) -> Any:
    return pc.binary_join_element_wise(left, right, pa.scalar("", left.type))


def _decimals(op: str, run: Callable[..., Any], left: pa.DataType, right: pa.DataType) -> Rule:
    """Computed with up to 76 digits, so that it fails only where the result has more than 38."""
    left, right = (common_type(left, right) if is_.is_null(kind) else as_decimal(kind) for kind in (left, right))
    precisions = [min(kind.precision, 37) if op == "*" else kind.precision for kind in (left, right)]
    if op == "*":
        scale = left.scale + right.scale
        digits = sum(precisions) + 1
    else:
        scale = max(left.scale, right.scale)
        digits = max(left.precision - left.scale, right.precision - right.scale) + scale + 1
    if scale > 37 or digits > 76:
        raise NoRule(f"the result for {named(left, right)} has too many digits; cast one of them to fewer")
    gives = pa.decimal128(min(digits, 38), scale)
    takes = tuple(pa.decimal256(digits, kind.scale) for digits, kind in zip(precisions, (left, right), strict=True))
    return Rule(takes=takes, gives=gives, run=lambda a, b: pc.cast(run(a, b), gives))


def _divide(types: Sequence[pa.DataType], _options: tuple[Any, ...]) -> Rule:
    left, right = (plain(kind) for kind in types)
    if is_.is_duration(left) and is_.is_duration(right):
        return time.ratio(left, right)
    kind = _numbers("/", types)
    gives = pa.float32() if is_.is_float32(kind) else pa.float64()
    return Rule(takes=(gives, gives), gives=gives, run=pc.divide)


def _whole(op: str, whole: Callable[..., Any], real: Callable[..., Any]) -> Bind:
    """Division with a whole result, and its remainder."""

    def bind(types: Sequence[pa.DataType], _options: tuple[Any, ...]) -> Rule:
        kind = _numbers(op, types)
        if is_.is_decimal(kind):
            raise NoRule(f"{op} has no meaning for decimals; cast to float64 or int64 with .cast(...)")
        return Rule(takes=(kind, kind), gives=kind, run=whole if is_.is_integer(kind) else real)

    return bind


def _not_zero(divisor: Any) -> Any:
    """Null in place of zero."""
    zero = pa.scalar(0, divisor.type)
    return pc.if_else(pc.equal(divisor, zero), pa.scalar(None, divisor.type), divisor)


def _wrong_side(remainder: Any, divisor: Any) -> Any:
    """Where division towards zero left a remainder with another sign than the divisor's."""
    zero = pa.scalar(0, remainder.type)
    return pc.and_(pc.not_equal(remainder, zero), pc.xor(pc.less(remainder, zero), pc.less(divisor, zero)))


def _floor_divide_whole(left: Any, right: Any) -> Any:
    divisor = _not_zero(right)
    quotient = pc.divide_checked(left, divisor)
    if is_.is_unsigned_integer(quotient.type):
        return quotient
    remainder = pc.subtract(left, pc.multiply(quotient, divisor))
    below = pc.subtract(quotient, pa.scalar(1, quotient.type))
    return pc.if_else(_wrong_side(remainder, divisor), below, quotient)


def _modulo_whole(left: Any, right: Any) -> Any:
    divisor = _not_zero(right)
    if is_.is_unsigned_integer(divisor.type):
        return pc.subtract(left, pc.multiply(pc.divide_checked(left, divisor), divisor))
    minus_one = pc.equal(divisor, pa.scalar(-1, divisor.type))
    safe = pc.if_else(minus_one, pa.scalar(1, divisor.type), divisor)  # the smallest integer has no quotient by -1
    remainder = pc.subtract(left, pc.multiply(pc.divide_checked(left, safe), safe))
    return pc.if_else(_wrong_side(remainder, safe), pc.add(remainder, safe), remainder)


def _of_reals(run: Callable[..., Any]) -> Callable[..., Any]:
    """Arrow has no remainder of floats, and a quotient that is rounded before it is cut off does not fit to one:
    1.0 // 0.1 is 9.0, for 0.1 is a little more than a tenth. NumPy has both."""

    def divide(left: Any, right: Any) -> Any:
        length = len(left) if isinstance(left, pa.ChunkedArray) else len(right)
        sides = [_numpy(side, length) for side in (left, right)]
        with np.errstate(all="ignore"):
            result = run(sides[0], sides[1])
        valid = pc.and_(pc.is_valid(left), pc.is_valid(right))
        return pc.if_else(valid, pa.chunked_array([pa.array(result)]), pa.scalar(None, left.type))

    return divide


def _numpy(side: Any, length: int) -> Any:
    if isinstance(side, pa.ChunkedArray):
        return pc.fill_null(side, pa.scalar(0, side.type)).to_numpy()
    value = side.as_py() if side.is_valid else 0
    return np.full(length, value, dtype=side.type.to_pandas_dtype())


def _power(types: Sequence[pa.DataType], options: tuple[Any, ...]) -> Rule:
    """To a constant whole power."""
    (exponent,) = options
    kind = _numbers("**", (types[0], types[0]))
    if is_.is_integer(kind):
        return Rule(takes=(kind,), gives=kind, run=lambda base: _whole_power(base, exponent))
    kind = kind if is_.is_float32(kind) else pa.float64()
    return Rule(takes=(kind,), gives=kind, run=lambda base: pc.power(base, pa.scalar(float(exponent), kind)))


def _whole_power(base: Any, exponent: int) -> Any:
    if exponent > 64:
        small = pc.all(pc.less_equal(pc.abs(pc.cast(base, pa.float64(), safe=False)), 1.0)).as_py()
        if small is False:
            raise pa.ArrowInvalid("overflow")
        exponent = 64 if exponent % 2 == 0 else 63
    return pc.power_checked(base, pa.scalar(exponent, base.type))


def _power_real(types: Sequence[pa.DataType], _options: tuple[Any, ...]) -> Rule:
    kind = _numbers("**", types)
    kind = kind if is_.is_float32(kind) else pa.float64()
    return Rule(takes=(kind, kind), gives=kind, run=pc.power)


FUNCTIONS: dict[str, Bind] = {
    "+": _combining("+", pc.add_checked),
    "-": _combining("-", pc.subtract_checked),
    "*": _combining("*", pc.multiply_checked),
    "/": _divide,
    "//": _whole("//", _floor_divide_whole, _of_reals(np.floor_divide)),
    "%": _whole("%", _modulo_whole, _of_reals(np.mod)),
    "power": _power,
    "**": _power_real,
}
