"""Dates, timestamps and durations: their fields, and their differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from argosy.frame.expressions.common import common_type, finer, plain
from argosy.frame.expressions.functions.rule import Bind, NoRule, Rule, named

SECONDS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
BELOW_A_DAY = ("hour", "minute", "second", "millisecond", "microsecond")


def arithmetic(op: str, left: pa.DataType, right: pa.DataType) -> Rule:
    """+ - * where one side is a time. A null stands for whatever makes sense beside the other side."""
    if op == "+" and is_.is_duration(left) and not is_.is_duration(right):
        if is_.is_null(right):
            right = left
        else:
            moved = arithmetic(op, right, left)
            return Rule(takes=moved.takes[::-1], gives=moved.gives, run=lambda a, b: moved.run(b, a))
    if is_.is_null(left) or is_.is_null(right):
        known = right if is_.is_null(left) else left
        other = {"+": pa.duration("s"), "-": known, "*": pa.int64()}[op]
        if is_.is_duration(known):
            other = pa.int64() if op == "*" else known
        left, right = (other, known) if is_.is_null(left) else (known, other)
        if op == "+" and not is_.is_duration(left) and not is_.is_duration(right):
            left, right = right, left
        return arithmetic(op, left, right)
    if is_.is_duration(left) and is_.is_duration(right) and op in ("+", "-"):
        kind = common_type(left, right)
        return Rule(takes=(kind, kind), gives=kind, run=pc.add_checked if op == "+" else pc.subtract_checked)
    kind = common_type(left, right)
    if op == "-" and kind is not None and not is_.is_duration(kind) and not is_.is_interval(kind):
        unit = "s" if is_.is_date(kind) else kind.unit
        return Rule(takes=(kind, kind), gives=pa.duration(unit), run=pc.subtract_checked)
    if op in ("+", "-") and is_.is_duration(right) and (is_.is_date(left) or is_.is_timestamp(left)):
        return _shift(op, left, right)
    if op == "*" and is_.is_duration(left) and is_.is_integer(right):
        return Rule(takes=(left, pa.int64()), gives=left, run=pc.multiply_checked)
    if op == "*" and is_.is_integer(left) and is_.is_duration(right):
        return Rule(takes=(pa.int64(), right), gives=right, run=lambda a, b: pc.multiply_checked(b, a))
    raise NoRule(f"{op} has no meaning for {named(left, right)}; cast one of them with .cast(...)")


def _shift(op: str, moment: pa.DataType, by: pa.DataType) -> Rule:
    """A moment some time later or earlier; a date stays a date."""
    run = pc.add_checked if op == "+" else pc.subtract_checked
    if is_.is_date(moment):
        takes = (pa.timestamp(by.unit), by)
        return Rule(takes=takes, gives=pa.date32(), run=lambda a, b: pc.cast(run(a, b), pa.date32()))
    unit = finer(moment.unit, by.unit)
    gives = pa.timestamp(unit, moment.tz)
    return Rule(takes=(gives, pa.duration(unit)), gives=gives, run=run)


def ratio(left: pa.DataType, right: pa.DataType) -> Rule:
    """How many times one duration is in another."""
    kind = common_type(left, right)
    return Rule(takes=(kind, kind), gives=pa.float64(), run=lambda a, b: pc.divide(_ticks(a), _ticks(b)))


def _ticks(value: Any) -> Any:
    return pc.cast(pc.cast(value, pa.int64()), pa.float64(), safe=False)


def _total_seconds(types: Sequence[pa.DataType], _options: tuple[Any, ...]) -> Rule:
    kind = pa.duration("us") if is_.is_null(types[0]) else types[0]
    if not is_.is_duration(kind):
        raise NoRule(f"this needs durations, but got {types[0]}; subtract two timestamps to get one")
    return Rule(takes=(kind,), gives=pa.float64(), run=lambda value: pc.divide(_ticks(value), SECONDS[kind.unit]))


def _moment(kind: pa.DataType) -> pa.DataType:
    moment = plain(kind)
    if is_.is_null(moment):
        return pa.timestamp("us")
    if not (is_.is_timestamp(moment) or is_.is_date(moment)):
        raise NoRule(f"this needs dates or timestamps, but got {kind}; see .str.to_date or .cast('timestamp[us]')")
    return moment


def _field(run: Callable[..., Any], gives: pa.DataType | None = None) -> Bind:
    """A number that belongs to the calendar."""

    def bind(types: Sequence[pa.DataType], _options: tuple[Any, ...]) -> Rule:
        return Rule(takes=(_moment(types[0]),), gives=gives or pa.int64(), run=run)

    return bind


def _clock(run: Callable[..., Any]) -> Bind:
    """A number that belongs to the clock; a date is at midnight."""

    def bind(types: Sequence[pa.DataType], _options: tuple[Any, ...]) -> Rule:
        kind = plain(types[0])
        if not is_.is_time(kind):
            kind = _moment(kind)
        return Rule(takes=(pa.timestamp("s") if is_.is_date(kind) else kind,), gives=pa.int64(), run=run)

    return bind


def _weekday(value: Any) -> Any:
    return pc.day_of_week(value, count_from_zero=False, week_start=1)


def _date(types: Sequence[pa.DataType], _options: tuple[Any, ...]) -> Rule:
    kind = _moment(types[0])
    local = is_.is_timestamp(kind) and kind.tz is not None

    def run(value: Any) -> Any:
        return pc.cast(pc.local_timestamp(value) if local else value, pa.date32())

    return Rule(takes=(kind,), gives=pa.date32(), run=run)


def _strftime(types: Sequence[pa.DataType], options: tuple[Any, ...]) -> Rule:
    (pattern,) = options
    kind = _moment(types[0])
    if is_.is_date(kind):
        return Rule(takes=(kind,), gives=pa.string(), run=lambda value: pc.strftime(value, pattern))
    seconds = pa.timestamp("s", kind.tz)

    def run(value: Any) -> Any:
        return pc.strftime(pc.cast(pc.floor_temporal(value, unit="second"), seconds), pattern)

    return Rule(takes=(kind,), gives=pa.string(), run=run)


def _truncate(types: Sequence[pa.DataType], options: tuple[Any, ...]) -> Rule:
    (unit,) = options
    kind = _moment(types[0])
    if is_.is_date(kind) and unit in BELOW_A_DAY:
        return Rule(takes=(kind,), gives=kind, run=lambda value: value)
    return Rule(takes=(kind,), gives=kind, run=lambda value: pc.floor_temporal(value, unit=unit))


FUNCTIONS: dict[str, Bind] = {
    "dt.year": _field(pc.year),
    "dt.month": _field(pc.month),
    "dt.day": _field(pc.day),
    "dt.hour": _clock(pc.hour),
    "dt.minute": _clock(pc.minute),
    "dt.second": _clock(pc.second),
    "dt.weekday": _field(_weekday),
    "dt.ordinal_day": _field(pc.day_of_year),
    "dt.date": _date,
    "dt.strftime": _strftime,
    "dt.truncate": _truncate,
    "dt.total_seconds": _total_seconds,
}
