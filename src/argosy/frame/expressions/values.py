"""Sets of values to look for, as `is_in` takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from argosy.arguments import shallow, show
from argosy.errors import TypeMismatch
from argosy.frame.expressions.common import as_decimal, common_type
from argosy.frame.expressions.literals import scalar_of, settled_type, text_of


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Values:
    """A set of values to look for; equal to another with the same values in the same order."""

    array: pa.Array
    weak: bool
    """Plain numbers, which take the type of the column that is looked at where they fit."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Values) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.array.type, self.weak, tuple(text_of(one) for one in self.array)

    def __len__(self) -> int:
        return len(self.array)

    def __repr__(self) -> str:
        shown = ", ".join(text_of(one) for one in self.array[:8])
        return f"[{shown}, ... {len(self.array)} values]" if len(self.array) > 8 else f"[{shown}]"


def values_of(values: Iterable[Any]) -> Values:
    """From anything that can be iterated over, or an Arrow array where the type matters."""
    if isinstance(values, (str, bytes)):
        raise TypeMismatch(f"is_in wants a list of values, but got {show(values)}; write is_in([{show(values)}])")
    if isinstance(values, pa.ChunkedArray):
        return Values(array=values.combine_chunks(), weak=False)
    if isinstance(values, pa.Array):
        return Values(array=values, weak=False)
    try:
        every = list(values)
    except Exception as error:
        raise TypeMismatch(f"is_in wants a list of values, but got {show(values)}") from error
    shallow("is_in(): values", every)
    kinds = {type(value) for value in every if value is not None}
    weak = all(issubclass(kind, (int, float, np.integer, np.floating)) and kind is not bool for kind in kinds)
    if len(kinds) <= 1:
        with suppress(Exception):  # beyond int64 each has its own type; what no value can be is told of below
            return Values(array=pa.array(every), weak=weak)
    return _mixed(every, weak)


def _mixed(every: Sequence[Any], weak: bool) -> Values:
    """Values of several types, as the type that they have in common."""
    scalars = [scalar_of(value)[0] for value in every]
    kinds = {scalar.type for scalar in scalars}
    common = reduce(lambda left, right: left if left is None else common_type(left, right), kinds)
    if common is None:
        shown = ", ".join(sorted(str(kind) for kind in kinds))
        raise TypeMismatch(f"is_in wants values of one type, but got {shown}; cast them to one type")
    if common == pa.int64() and pa.uint64() in kinds:
        common, weak = as_decimal(pa.uint64()), False
    return Values(array=pa.array([scalar.as_py() for scalar in scalars], common), weak=weak)


def settled_values(values: Values, beside: pa.DataType) -> pa.DataType:
    """The type that a set of weak numbers takes beside a column of this type."""
    ends = pc.min_max(values.array)
    kinds = {settled_type(end, beside) for end in (ends["min"], ends["max"]) if end.is_valid}
    return kinds.pop() if len(kinds) == 1 else values.array.type
