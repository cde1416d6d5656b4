"""To which sides of a join a condition on its result may go.

| how       | on columns of the left | on columns of the right | on the keys |
|-----------|------------------------|-------------------------|-------------|
| inner     | left                   | right                   | both        |
| left      | left                   | -                       | both        |
| right     | -                      | right                   | both        |
| full      | -                      | -                       | both        |
| semi anti | left                   | (has none)              | both        |
| cross     | left                   | right                   | (has none)  |

In a left join the rows that the right loses by a condition on the keys belong to rows that the left loses as well; the
same goes for the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from argosy.frame.expressions.columns import columns_of, substitute
from argosy.frame.expressions.nodes import Expr, col
from argosy.frame.names import joined_names
from argosy.frame.plan import Join
from argosy.frame.rewrite.expressions import cannot_fail, same_for_equal_keys


def filters_of_join(join: Join, conditions: Sequence[Expr]) -> tuple[list[Expr], list[Expr], list[Expr]]:
    """Conditions for the left, for the right (in the right's names), and those that stay above."""
    keys = dict(zip(join.left_on, join.right_on, strict=True))
    from_left = {name for name in join.left.schema.names if name not in keys}
    left_may = join.how in ("inner", "left", "semi", "anti", "cross")
    from_right = _right_columns(join) if join.how in ("inner", "right", "cross") else {}
    to_left: list[Expr] = []
    to_right: list[Expr] = []
    above: list[Expr] = []
    for one in conditions:
        used = columns_of(one)
        of_keys = used <= keys.keys() and same_for_equal_keys(one, join.schema)
        if not used or not cannot_fail(one, join.schema):
            above.append(one)
        elif of_keys:
            to_left.append(one)
            to_right.append(substitute(one, {name: col(other) for name, other in keys.items()}))
        elif left_may and used <= from_left | keys.keys():
            to_left.append(one)
        elif used <= from_right.keys():
            to_right.append(substitute(one, {name: col(other) for name, other in from_right.items()}))
        else:
            above.append(one)
    return to_left, to_right, above


def _right_columns(join: Join) -> dict[str, str]:
    """Columns of the result that come from the right alone: their name there."""
    renamed = joined_names(join.left.schema.names, join.right.schema.names, join.right_on, join.suffix)
    return {new: old for old, new in renamed.items()}
