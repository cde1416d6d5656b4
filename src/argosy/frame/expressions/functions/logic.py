"""Truth values, with Kleene's three: true, false and unknown; and what asks about null."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from argosy.frame.expressions.common import common_type, plain
from argosy.frame.expressions.functions.rule import Bind, NoRule, Rule, named


def _on_truth(run: Callable[..., Any]) -> Bind:
    def bind(types: Sequence[pa.DataType], _options: tuple[Any, ...]) -> Rule:
        kinds = [plain(kind) for kind in types]
        if not all(is_.is_boolean(kind) or is_.is_null(kind) for kind in kinds):
            raise NoRule(f"this needs truth values, but got {named(*types)}; compare with something, as in x != 0")
        return Rule(takes=(pa.bool_(),) * len(types), gives=pa.bool_(), run=run)

    return bind


def _on_anything(run: Callable[..., Any]) -> Bind:
    def bind(types: Sequence[pa.DataType], _options: tuple[Any, ...]) -> Rule:
        return Rule(takes=(plain(types[0]),), gives=pa.bool_(), run=run)

    return bind


def _fill_null(types: Sequence[pa.DataType], _options: tuple[Any, ...]) -> Rule:
    kind = common_type(*types)
    if kind is None:
        raise NoRule(f"{named(*types)} have no type in common; give a value of type {types[0]} or cast the column")
    return Rule(takes=(kind, kind), gives=kind, run=pc.coalesce)


FUNCTIONS: dict[str, Bind] = {
    "&": _on_truth(pc.and_kleene),
    "|": _on_truth(pc.or_kleene),
    "^": _on_truth(pc.xor),
    "~": _on_truth(pc.invert),
    "is_null": _on_anything(pc.is_null),
    "is_not_null": _on_anything(pc.is_valid),
    "fill_null": _fill_null,
}
