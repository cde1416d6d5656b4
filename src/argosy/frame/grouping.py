"""Groups of rows with equal keys, on the way to one row for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from argosy.calls import value
from argosy.frame.arguments import Named, named_expressions, require_distinct, require_key, row_type, unused
from argosy.frame.expressions.nodes import Expr, col
from argosy.frame.expressions.split import split_aggregates
from argosy.frame.plan import Aggregate, Operation, Project
from argosy.frame.rewrite.expressions import column_name, selected

if TYPE_CHECKING:
    from argosy.frame.dataframe import DataFrame


@value()
class GroupBy:
    """What `group_by` returns; `agg` makes a frame of it again. Nulls form one group, and so do NaNs."""

    def __init__(self, plan: Operation, keys: Named, frame: Callable[[Operation], DataFrame]) -> None:
        for name, expr in keys:
            require_key("group_by", name, row_type("group_by", expr, plan.schema))
        self._plan = plan
        self._keys = keys
        self._frame = frame

    def agg(self, *aggregates: Expr, **named: Any) -> DataFrame:
        """One row for each group: the keys, then these aggregates, such as `total=col("a").sum()`.

        Without aggregates the distinct keys; without keys one row for all, also when there are none.
        """
        wanted = named_expressions("agg", aggregates, named)
        names = [name for name, _ in self._keys]
        require_distinct("agg", [*names, *(name for name, _ in wanted)])
        below, columns = self._with_keys()
        split = split_aggregates(wanted, columns, below.schema)
        before = Project(input=below, columns=split.before)
        groups = Aggregate(input=before, keys=tuple(columns), aggs=split.aggs)
        results = split.after[len(columns) :]
        keys = [(name, col(column)) for name, column in zip(names, columns, strict=True)]
        return self._frame(Project(input=groups, columns=(*keys, *results)))

    def _with_keys(self) -> tuple[Operation, list[str]]:
        """The plan with computed keys as columns, and the names of all keys in it.

        A computed key whose name is taken gets another one for now, so that the aggregates still see the column.
        """
        there = self._plan.schema.names
        spare = iter(unused("group_key_", len(self._keys), there))
        columns: list[str] = []
        computed: list[tuple[str, Expr]] = []
        for name, expr in self._keys:
            if column_name(expr) == name:
                columns.append(name)
                continue
            columns.append(next(spare) if name in there else name)
            computed.append((columns[-1], expr))
        if not computed:
            return self._plan, columns
        return Project(input=self._plan, columns=(*selected(there), *computed)), columns
