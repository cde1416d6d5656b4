"""`col("t").dt`: functions of dates, timestamps and durations."""

from __future__ import annotations

from dataclasses import dataclass

from argosy.arguments import one_of, show, text
from argosy.calls import value
from argosy.frame.expressions.expr import Expr
from argosy.frame.expressions.nodes import call

UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond")


@value()
@dataclass(frozen=True, slots=True, eq=False)
class Times:
    """Fields of a timestamp with a time zone are those of its local time. Differences are made with `-`."""

    input: Expr

    def year(self) -> Expr:
        return call("dt.year", self.input)

    def month(self) -> Expr:
        return call("dt.month", self.input)

    def day(self) -> Expr:
        return call("dt.day", self.input)

    def hour(self) -> Expr:
        return call("dt.hour", self.input)

    def minute(self) -> Expr:
        return call("dt.minute", self.input)

    def second(self) -> Expr:
        return call("dt.second", self.input)

    def weekday(self) -> Expr:
        """Monday is 1, Sunday is 7."""
        return call("dt.weekday", self.input)

    def ordinal_day(self) -> Expr:
        """The day of the year, from 1 on."""
        return call("dt.ordinal_day", self.input)

    def date(self) -> Expr:
        return call("dt.date", self.input)

    def strftime(self, format: str) -> Expr:  # noqa: A002
        """As text in the notation of `strftime`, in whole seconds."""
        if "%f" in text("strftime(): format", format):
            raise ValueError(f"strftime(): format was {show(format)}; it writes whole seconds, %f has no meaning here")
        return call("dt.strftime", self.input, options=(format,))

    def truncate(self, unit: str) -> Expr:
        """The start of the year, quarter, month, week (Monday), day, hour, minute, second, ... that it lies in."""
        one_of("truncate(): unit", unit, UNITS)
        return call("dt.truncate", self.input, options=(unit,))

    def total_seconds(self) -> Expr:
        """A duration as a number of seconds, with fractions."""
        return call("dt.total_seconds", self.input)
