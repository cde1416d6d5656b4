"""The fold for each aggregate, given what all ranks know about its column."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from argosy.comm.ranks import Ranks
from argosy.frame.folds.chosen import Best, First
from argosy.frame.folds.fold import Fold
from argosy.frame.folds.moments import Variance
from argosy.frame.folds.sums import Count, DecimalSum, Mean, Sum, WideSum
from argosy.frame.folds.together import NumUnique, Quantile
from argosy.frame.plan import Agg


@dataclass(frozen=True, slots=True)
class Facts:
    """About one column, over all ranks."""

    has_nulls: bool = True
    is_wide: bool = False
    """A sum of its integers may leave 64 bits."""


def facts_of(column: pa.ChunkedArray, ranks: Ranks) -> Facts:
    """Collective."""
    largest = 0
    if pa.types.is_integer(column.type) and len(column):
        ends = pc.min_max(column)
        if ends["max"].is_valid:
            largest = max(abs(ends["min"].as_py()), abs(ends["max"].as_py()))
    everybody = ranks.allgather((largest, len(column), column.null_count > 0))
    most = max(one for one, _, _ in everybody) * sum(rows for _, rows, _ in everybody)
    return Facts(any(nulls for _, _, nulls in everybody), most >= 1 << 63)


def choose_fold(agg: Agg, kind: pa.DataType, facts: Facts, has_keys: bool) -> Fold:
    """`has_keys`: each group has at least one row."""
    match agg.kind:
        case "len":
            return Count(every_row=True)
        case "count":
            return Count(every_row=agg.column is None)
        case "sum":
            if pa.types.is_decimal(kind):
                return DecimalSum()
            counts = facts.has_nulls or not has_keys
            return WideSum(kind, counts) if facts.is_wide else Sum(kind, counts)
        case "mean":
            return Mean(WideSum(kind, True) if facts.is_wide else Sum(kind, True))
        case "var" | "std":
            return Variance(1 if agg.parameter is None else agg.parameter, agg.kind == "std")
        case "min" | "all":
            return Best(largest=False)
        case "max" | "any":
            return Best(largest=True)
        case "first" | "last":
            return First(last=agg.kind == "last")
        case "n_unique":
            return NumUnique()
        case "median" | "quantile":
            return Quantile(0.5 if agg.kind == "median" else float(agg.parameter))
    raise ValueError(f"unknown aggregate {agg.kind!r}")
