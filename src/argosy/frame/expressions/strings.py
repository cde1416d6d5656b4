"""`col("s").str`: functions of strings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from argosy.calls import value
from argosy.frame.expressions.expr import Expr
from argosy.frame.expressions.nodes import call


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
        return call("str.strip", self.input, options=(characters,))

    def len_chars(self) -> Expr:
        return call("str.len_chars", self.input)

    def contains(self, pattern: str, literal: bool = True) -> Expr:
        """Whether the pattern occurs in it: a plain text, or a regular expression (RE2) with `literal=False`."""
        return call("str.contains", self.input, options=(pattern, literal))

    def starts_with(self, prefix: str) -> Expr:
        return call("str.starts_with", self.input, options=(prefix,))

    def ends_with(self, suffix: str) -> Expr:
        return call("str.ends_with", self.input, options=(suffix,))

    def replace(self, pattern: str, value: str, literal: bool = True) -> Expr:
        """With all occurrences of the pattern replaced; `literal=False` takes a regular expression (RE2)."""
        if not pattern:
            raise ValueError("replace was asked for an empty pattern; give it at least one character")
        return call("str.replace", self.input, options=(pattern, value, literal))

    def slice(self, offset: int, length: int | None = None) -> Expr:
        """`length` characters from `offset` on; a negative offset counts from the end."""
        if length is not None and length < 0:
            raise ValueError(f"slice was asked for {length} characters; give it a length of at least 0")
        return call("str.slice", self.input, options=(offset, length))

    def split(self, by: str) -> Expr:
        """The list of the parts between the separators."""
        if not by:
            raise ValueError("split was asked for an empty separator; give it at least one character")
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
        return call("str.to_date", self.input, options=(format,))

    def to_datetime(self, format: str) -> Expr:  # noqa: A002
        """The timestamp (microseconds) it spells, in the notation of `strptime`."""
        return call("str.to_datetime", self.input, options=(format,))
