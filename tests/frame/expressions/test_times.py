"""Functions of dates and timestamps against Python's own."""

from __future__ import annotations

import datetime
from datetime import timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argosy.errors import TypeMismatch
from argosy.frame.expressions.evaluate import evaluate
from argosy.frame.expressions.nodes import Expr, col

MOMENTS = st.datetimes(datetime.datetime(1800, 1, 1), datetime.datetime(2200, 1, 1))
SPANS = st.timedeltas(timedelta(days=-9999), timedelta(days=9999))
UNITS = st.sampled_from(["ms", "us", "ns"])


def value_of(expr: Expr, value: object, kind: pa.DataType) -> object:
    result = evaluate(expr, pa.table({"t": pa.array([value], kind)}))
    if pa.types.is_timestamp(result.type):
        result = result.cast(pa.timestamp("us", result.type.tz), safe=False)
    if pa.types.is_duration(result.type):
        result = result.cast(pa.duration("us"), safe=False)
    return result[0].as_py()


@given(moment=MOMENTS, unit=UNITS)
def test_fields_of_a_moment_are_as_in_python(moment: datetime.datetime, unit: str) -> None:
    kind, t = pa.timestamp(unit), col("t").dt
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    assert value_of(t.year(), moment, kind) == moment.year
    assert value_of(t.month(), moment, kind) == moment.month
    assert value_of(t.day(), moment, kind) == moment.day
    assert value_of(t.hour(), moment, kind) == moment.hour
    assert value_of(t.minute(), moment, kind) == moment.minute
    assert value_of(t.second(), moment, kind) == moment.second
    assert value_of(t.weekday(), moment, kind) == moment.isoweekday()
    assert value_of(t.ordinal_day(), moment, kind) == moment.timetuple().tm_yday
    assert value_of(t.date(), moment, kind) == moment.date()
    assert value_of(t.strftime("%d/%m/%Y %H:%M:%S"), moment, kind) == moment.strftime("%d/%m/%Y %H:%M:%S")
    assert value_of(col("t").cast("date"), moment, kind) == moment.date()


@given(moment=MOMENTS, unit=UNITS)
def test_truncating_gives_the_start_of_the_unit(moment: datetime.datetime, unit: str) -> None:
    kind, t = pa.timestamp(unit), col("t").dt
    midnight = datetime.datetime(moment.year, moment.month, moment.day)
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    assert value_of(t.truncate("year"), moment, kind) == midnight.replace(month=1, day=1)
    assert value_of(t.truncate("month"), moment, kind) == midnight.replace(day=1)
    assert value_of(t.truncate("week"), moment, kind) == midnight - timedelta(days=moment.weekday())
    assert value_of(t.truncate("day"), moment, kind) == midnight
    assert value_of(t.truncate("hour"), moment, kind) == midnight.replace(hour=moment.hour)
    assert value_of(t.truncate("week"), moment.date(), pa.date32()) == (midnight - timedelta(moment.weekday())).date()
    assert value_of(t.truncate("hour"), moment.date(), pa.date32()) == moment.date()


@given(moment=MOMENTS, other=MOMENTS, span=SPANS)
def test_moments_differ_by_durations(moment: datetime.datetime, other: datetime.datetime, span: timedelta) -> None:
    kind = pa.timestamp("us")
    assert value_of(col("t") - other, moment, kind) == moment - other
    assert value_of(col("t") + span, moment, kind) == moment + span
    assert value_of(span + col("t"), moment, kind) == moment + span
    assert value_of(col("t") - span, moment, kind) == moment - span
    assert value_of(col("t") < other, moment, kind) == (moment < other)
    assert value_of((col("t") - other).dt.total_seconds(), moment, kind) == pytest.approx(
        (moment - other).total_seconds()
    )
    assert value_of((col("t") - other) > span, moment, kind) == ((moment - other) > span)


@given(day=st.dates(datetime.date(1800, 1, 1), datetime.date(2200, 1, 1)), other=MOMENTS, span=SPANS)
def test_dates_stay_dates_and_meet_moments_at_midnight(
    day: datetime.date, other: datetime.datetime, span: timedelta
) -> None:
    kind = pa.date32()
    midnight = datetime.datetime(day.year, day.month, day.day)
    assert value_of(col("t") + timedelta(days=span.days), day, kind) == day + timedelta(days=span.days)
    assert value_of(col("t") - other.date(), day, kind) == day - other.date()
    assert value_of(col("t") - other, day, kind) == midnight - other
    assert value_of(col("t") <= other, day, kind) == (midnight <= other)
    assert value_of(col("t").is_in([other.date(), day]), day, kind) is True
    assert value_of(col("t").dt.hour(), day, kind) == 0


@given(moment=MOMENTS, factor=st.integers(-9, 9), span=SPANS)
def test_durations_are_added_multiplied_and_compared(moment: datetime.datetime, factor: int, span: timedelta) -> None:
    kind = pa.duration("us")
    assert value_of(col("t") * factor, span, kind) == span * factor
    assert value_of(factor * col("t"), span, kind) == span * factor
    assert value_of(col("t") + span, span, kind) == 2 * span
    assert value_of(-col("t"), span, kind) == -span
    assert value_of(col("t").abs(), span, kind) == abs(span)
    if span:
        assert value_of((col("t") * 2) / col("t"), span, kind) == 2


@given(moment=MOMENTS)
def test_fields_of_a_moment_somewhere_are_those_of_the_clock_there(moment: datetime.datetime) -> None:
    moment = moment.replace(year=1950 + moment.year % 80, day=1)
    there = moment.replace(tzinfo=datetime.UTC).astimezone(ZoneInfo("Asia/Tokyo"))
    kind = pa.timestamp("us", "Asia/Tokyo")
    assert value_of(col("t").dt.hour(), there, kind) == there.hour
    assert value_of(col("t").dt.date(), there, kind) == there.date()
    assert value_of(col("t") == there, there, kind) is True


def test_a_moment_somewhere_and_one_nowhere_cannot_be_compared() -> None:
    with pytest.raises(TypeMismatch, match="cannot be compared"):
        value_of(col("t") < datetime.datetime(2020, 1, 1), None, pa.timestamp("us", "UTC"))
    with pytest.raises(TypeMismatch, match="needs dates or timestamps, but got int64"):
        value_of(col("t").dt.year(), 1, pa.int64())


def test_unknown_units_and_formats_are_refused() -> None:
    with pytest.raises(ValueError, match=r"unit must be 'year' or 'quarter' .* not 'fortnight'"):
        col("t").dt.truncate("fortnight")
    with pytest.raises(ValueError, match="whole seconds"):
        col("t").dt.strftime("%S.%f")


def test_a_cast_to_a_coarser_unit_is_the_start_of_that_unit_also_before_1970() -> None:
    table = pa.table({"t": pa.array([-1, -1000, 1999], pa.timestamp("ms", "Europe/Berlin"))})
    cast, cut = col("t").cast(pa.timestamp("s", "Europe/Berlin")), col("t").dt.truncate("second")
    assert evaluate(cast, table).cast(pa.int64()).to_pylist() == [-1, -1, 1]
    assert evaluate(cut, table).cast(pa.int64()).to_pylist() == [-1000, -1000, 1000]
