"""`col("s").str`: functions of strings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from argosy.arguments import flag, text, whole
from argosy.calls import value
from argosy.frame.expressions.expr import Expr
from argosy.frame.expressions.nodes import call

_MOST = 2**31 - 1
"""Characters that a text can have."""
_COUNT = "a number of characters, at least 0"


@value()
@dataclass(frozen=True, slots=True, eq=False)
class Strings:
    """Positions and lengths count characters, not bytes. A null string gives null."""

    input: Expr

    def upper(self) -> Expr:
        return call("str.upper", self.input)

    def lower(self) -> Expr:
        return call("str.lower", self.input)

    def strip(self, characters: str | None = None) -> Expr:
        """Without the white space, or these characters, at both ends."""
        given = None if characters is None else text("strip(): characters", characters)
        return call("str.strip", self.input, options=(given,))

    def len_chars(self) -> Expr:
        return call("str.len_chars", self.input)

    def contains(self, pattern: str, literal: bool = True) -> Expr:
        """Whether the pattern occurs in it: a plain text, or a regular expression (RE2) with `literal=False`."""
        options = (text("contains(): pattern", pattern), flag("contains(): literal", literal))
        return call("str.contains", self.input, options=options)

    def starts_with(self, prefix: str) -> Expr:
        return call("str.starts_with", self.input, options=(text("starts_with(): prefix", prefix),))

    def ends_with(self, suffix: str) -> Expr:
        return call("str.ends_with", self.input, options=(text("ends_with(): suffix", suffix),))

    def replace(self, pattern: str, value: str, literal: bool = True) -> Expr:
        """With all occurrences of the pattern replaced; `literal=False` takes a regular expression (RE2)."""
        options = (
            text("replace(): pattern", pattern),
            text("replace(): value", value),
            flag("replace(): literal", literal),
        )
        if not pattern:
            raise ValueError("replace(): pattern must not be an empty pattern; give it at least one character, not ''")
        return call("str.replace", self.input, options=options)

    def slice(self, offset: int, length: int | None = None) -> Expr:
        """`length` characters from `offset` on; a negative offset counts from the end."""
        count = None if length is None else whole("slice(): length", length, least=0, most=_MOST, wanted=_COUNT)
        return call(
            "str.slice", self.input, options=(whole("slice(): offset", offset, least=-_MOST, most=_MOST), count)
        )

    def split(self, by: str) -> Expr:
        """The list of the parts between the separators."""
        if not text("split(): by", by):
            raise ValueError("split(): by must not be an empty separator; give it at least one character, not ''")
        return call("str.split", self.input, options=(by,))

    def concat(self, *others: Any) -> Expr:
        """With other strings, or columns of strings, appended; null where one of them is null."""
        joined = self.input
        for other in others:
            joined = call("+", joined, other)
        return joined

    def to_integer(self) -> Expr:
        """The number it spells; a text that is no whole number is an error."""
        return self.strip().cast("int64")

    def to_date(self, format: str = "%Y-%m-%d") -> Expr:  # noqa: A002
        """The date it spells, in the notation of `strptime`; a text that does not fit is an error."""
        return call("str.to_date", self.input, options=(text("to_date(): format", format),))

    def to_datetime(self, format: str) -> Expr:  # noqa: A002
        """The timestamp (microseconds) it spells, in the notation of `strptime`."""
        return call("str.to_datetime", self.input, options=(text("to_datetime(): format", format),))
