"""Functions of strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from argosy.frame.expressions.common import is_text, plain
from argosy.frame.expressions.functions.rule import Bind, NoRule, Rule


def _on_text(run: Callable[..., Any], gives: pa.DataType | None = None) -> Bind:
    """A function of a string and the options; gives the string's own type where no other is named."""

    def bind(types: Sequence[pa.DataType], options: tuple[Any, ...]) -> Rule:
        kind = _text(types[0])
        return Rule(takes=(kind,), gives=gives or kind, run=lambda value: run(value, *options))

    return bind


def _text(kind: pa.DataType) -> pa.DataType:
    text = plain(kind)
    if is_.is_null(text):
        return pa.string()
    if not is_text(text):
        raise NoRule(f"this needs strings, but got {kind}; cast it with .cast('string')")
    return text


def _strip(value: Any, characters: str | None) -> Any:
    return pc.utf8_trim_whitespace(value) if characters is None else pc.utf8_trim(value, characters)


def _length(value: Any) -> Any:
    return pc.cast(pc.utf8_length(value), pa.int64())


def _contains(value: Any, pattern: str, literal: bool) -> Any:
    return pc.match_substring(value, pattern) if literal else pc.match_substring_regex(value, pattern)


def _replace(value: Any, pattern: str, replacement: str, literal: bool) -> Any:
    replace = pc.replace_substring if literal else pc.replace_substring_regex
    return replace(value, pattern, replacement)


def _slice(value: Any, offset: int, length: int | None) -> Any:
    rest = pc.utf8_slice_codeunits(value, offset)
    return rest if length is None else pc.utf8_slice_codeunits(rest, 0, length)


def _split(types: Sequence[pa.DataType], options: tuple[Any, ...]) -> Rule:
    kind = _text(types[0])
    (by,) = options
    return Rule(takes=(kind,), gives=pa.list_(kind), run=lambda value: pc.split_pattern(value, by))


def _to_datetime(value: Any, pattern: str) -> Any:
    return pc.strptime(value, pattern, "us")


def _to_date(value: Any, pattern: str) -> Any:
    return pc.cast(pc.strptime(value, pattern, "s"), pa.date32())


FUNCTIONS: dict[str, Bind] = {
    "str.upper": _on_text(pc.utf8_upper),
    "str.lower": _on_text(pc.utf8_lower),
    "str.strip": _on_text(_strip),
    "str.len_chars": _on_text(_length, pa.int64()),
    "str.contains": _on_text(_contains, pa.bool_()),
    "str.starts_with": _on_text(pc.starts_with, pa.bool_()),
    "str.ends_with": _on_text(pc.ends_with, pa.bool_()),
    "str.replace": _on_text(_replace),
    "str.slice": _on_text(_slice),
    "str.split": _split,
    "str.to_date": _on_text(_to_date, pa.date32()),
    "str.to_datetime": _on_text(_to_datetime, pa.timestamp("us")),
}
