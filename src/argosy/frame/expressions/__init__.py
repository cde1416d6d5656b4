"""Expressions: what to compute from the columns of a table, as values that can be looked at, rewritten and sent.

`expr` is what users write and `nodes` what it is made of; `types` says what comes out, `evaluate` computes it on one
table; `columns` takes expressions apart, `split` separates the aggregates in them, `arrow` translates predicates for
file scans. Each operation is one function in `functions`, which gives the type of the result and the way to compute it
in one place.
"""

from argosy.frame.expressions.nodes import Expr, col, count, lit, when

__all__ = ["Expr", "col", "count", "lit", "when"]
