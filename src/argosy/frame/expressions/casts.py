"""Casts: which there are, and how they are done."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from argosy.frame.expressions.common import finer, plain
from argosy.frame.expressions.functions.rule import NoRule, Rule

_UNIT_NAMES = {"s": "second", "ms": "millisecond", "us": "microsecond"}


def convert(value: Any, to: pa.DataType) -> Any:
    """The same value as a type that has room for it; fails where a large integer has none."""
    return value if value.type.equals(to) else pc.cast(value, to, safe=not is_.is_floating(to))


@lru_cache(maxsize=1024)
def cast_rule(kind: pa.DataType, to: pa.DataType) -> Rule:
    """How a user's cast is done. Fractions are cut off, those of a point in time downwards; what else would be lost
    fails."""
    if kind.equals(to):
        return Rule(takes=(kind,), gives=to, run=lambda value: value)
    source = plain(kind)
    options = pc.CastOptions(target_type=to, allow_float_truncate=is_.is_floating(to), allow_time_truncate=True)

    def run(value: Any) -> Any:
        result = pc.cast(_without_fraction(value, to), options=options)
        if is_.is_floating(to) and _has_new_infinity(value, result):
            raise pa.ArrowInvalid(f"a value is beyond the range of {to}")
        return result

    try:
        run(pa.chunked_array([], source))
    except (pa.ArrowException, NotImplementedError, KeyError) as error:
        raise NoRule(
            f"there is no cast from {kind} to {to}; go through a type that both know, such as string"
        ) from error
    return Rule(takes=(source,), gives=to, run=run)


def _has_new_infinity(value: Any, result: Any) -> bool:
    """Whether a number too large for the type of the result became infinite."""
    if not pc.any(pc.is_inf(_readable(result)), min_count=0).as_py():
        return False
    if not is_.is_floating(value.type):
        return bool(is_.is_integer(value.type) or is_.is_decimal(value.type))
    return bool(pc.any(pc.and_(pc.is_inf(_readable(result)), pc.is_finite(_readable(value)))).as_py())


def _readable(value: Any) -> Any:
    """Arrow asks nothing of half floats."""
    return pc.cast(value, pa.float32()) if is_.is_float16(value.type) else value


def _without_fraction(value: Any, to: pa.DataType) -> Any:
    """With the digits cut off that the type has no room for; whole numbers as decimals of any size."""
    kind = value.type
    if is_.is_integer(to) and (is_.is_floating(kind) or is_.is_decimal(kind)):
        return pc.trunc(value)
    if is_.is_decimal(to) and is_.is_decimal(kind) and to.scale < kind.scale:
        return pc.round(value, to.scale, round_mode="towards_zero")
    if is_.is_timestamp(to) and is_.is_timestamp(kind) and finer(kind.unit, to.unit) != to.unit:
        return pc.floor_temporal(value, unit=_UNIT_NAMES[to.unit])  # also before 1970
    if is_.is_decimal(to) and is_.is_integer(kind):
        return pc.cast(value, pa.decimal256(20 + max(to.scale, 0), max(to.scale, 0)))
    return value
