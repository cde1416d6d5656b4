"""The fold for each aggregate, given what all ranks know about its column."""

from __future__ import annotations

import pyarrow as pa

from argosy.frame.folds.chosen import Best, First
from argosy.frame.folds.facts import Facts
from argosy.frame.folds.fold import Fold
from argosy.frame.folds.moments import Variance
from argosy.frame.folds.sums import Count, DecimalSum, Mean, Sum, WideSum
from argosy.frame.folds.together import NumUnique, Quantile
from argosy.frame.plan import Agg


def choose_fold(agg: Agg, kind: pa.DataType, facts: Facts, has_keys: bool) -> Fold:
    """`has_keys`: each group has at least one row."""
    match agg.kind:
        case "len":
            return Count(every_row=True)
        case "count":
            return Count(every_row=agg.column is None)
        case "sum":
            if pa.types.is_decimal(kind):
                return DecimalSum(kind, facts.most, str(agg.column))
            counts = facts.has_nulls or not has_keys
            return WideSum(kind, counts) if _is_wide(kind, facts) else Sum(kind, counts)
        case "mean":
            return Mean(WideSum(kind, True) if _is_wide(kind, facts) else Sum(kind, True))
        case "var" | "std":
            scale = kind.scale if pa.types.is_decimal(kind) else 0
            taken_off = 1 if agg.parameter is None else agg.parameter
            return Variance(taken_off, agg.kind == "std", facts.beyond_floats, scale)
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


def _is_wide(kind: pa.DataType, facts: Facts) -> bool:
    """Whether a sum of integers may leave 64 bits."""
    return pa.types.is_integer(kind) and facts.most >= 1 << 63
