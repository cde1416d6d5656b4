"""What all ranks know about a column before its values are folded."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from argosy.comm.ranks import Ranks
from argosy.frame.expressions.common import plain

_EXACT = 1 << 53
"""Up to here floats tell whole numbers apart."""


@dataclass(frozen=True, slots=True)
class Facts:
    """About one column, over all ranks."""

    has_nulls: bool = True
    most: int = 0
    """No sum of its integers, or of its decimals without their point, is larger, either way."""
    beyond_floats: bool = False
    """Floats do not tell all of these whole numbers apart."""


def facts_of(column: pa.ChunkedArray, ranks: Ranks) -> Facts:
    """Collective."""
    everybody = ranks.allgather((_ends(column), len(column), column.null_count > 0))
    has_nulls = any(nulls for _, _, nulls in everybody)
    ends = [one for ends, _, _ in everybody for one in ends]
    if not ends:
        return Facts(has_nulls)
    largest = max(map(abs, ends))
    return Facts(has_nulls, largest * sum(rows for _, rows, _ in everybody), largest > _EXACT)


def _ends(column: pa.ChunkedArray) -> tuple[int, ...]:
    """The smallest and the largest of its integers or decimals, the latter without their point."""
    is_decimal = pa.types.is_decimal(column.type)
    if not (is_decimal or pa.types.is_integer(column.type)) or len(column) == column.null_count:
        return ()
    ends = pc.min_max(column.cast(plain(column.type)))
    return tuple(_whole(ends[word].as_py(), column.type) for word in ("min", "max"))


def _whole(value: Any, kind: pa.DataType) -> int:
    if not isinstance(value, Decimal):
        return int(value)
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    number: int = int("".join(map(str, digits))) * 10 ** (exponent + kind.scale)
    return -number if sign else number
