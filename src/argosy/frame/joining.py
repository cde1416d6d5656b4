"""From the arguments of `join` to an operation: keys are checked, and cast where their types differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import pyarrow as pa

from argosy import arguments
from argosy.frame.arguments import require_columns, unused
from argosy.frame.expressions.nodes import col
from argosy.frame.join_keys import key_type
from argosy.frame.plan import Join, JoinAlgorithm, JoinHow, Operation, Project

Names = str | Sequence[str] | None


def joined(
    left: Operation,
    right: Operation,
    on: Names,
    left_on: Names,
    right_on: Names,
    *,
    how: JoinHow,
    suffix: str,
    algorithm: JoinAlgorithm,
) -> Operation:
    """The join of the two plans. `semi` and `anti` return the left's columns as they are."""
    arguments.one_of("join(): how", how, get_args(JoinHow))
    arguments.one_of("join(): algorithm", algorithm, get_args(JoinAlgorithm))
    if algorithm == "broadcast" and how == "full":
        raise ValueError("join() with how='full' cannot send one side to every rank; take algorithm='hash' or 'auto'")
    if not arguments.text("join(): suffix", suffix):
        raise ValueError("join() needs a suffix for names that both frames have, such as '_right'")
    left_keys, right_keys = _keys(how, on, left_on, right_on)
    require_columns("join", left_keys, left.schema)
    require_columns("join", right_keys, right.schema)
    types = [
        key_type(ours, left.schema.field(ours).type, theirs, right.schema.field(theirs).type)
        for ours, theirs in zip(left_keys, right_keys, strict=True)
    ]
    right = _cast(right, dict(zip(right_keys, types, strict=True)))
    if how in ("semi", "anti"):
        return _reduced(left, right, left_keys, right_keys, types, how, algorithm)
    return Join(
        left=_cast(left, dict(zip(left_keys, types, strict=True))),
        right=right,
        left_on=left_keys,
        right_on=right_keys,
        how=how,
        suffix=suffix,
        algorithm=algorithm,
    )


def _reduced(
    left: Operation,
    right: Operation,
    left_keys: tuple[str, ...],
    right_keys: tuple[str, ...],
    types: list[pa.DataType],
    how: JoinHow,
    algorithm: JoinAlgorithm,
) -> Operation:
    """A semi or anti join. A key that is compared in another type has a column of its own for that: there is not always
    a way back."""
    differ = [not left.schema.field(name).type.equals(kind) for name, kind in zip(left_keys, types, strict=True)]
    names = iter(unused("join_key_", sum(differ), left.schema.names))
    own = [(name, col(name)) for name in left.schema.names]
    compared, computed = [], []
    for name, kind, differs in zip(left_keys, types, differ, strict=True):
        compared.append(next(names) if differs else name)
        if differs:
            computed.append((compared[-1], col(name).cast(kind)))
    join = Join(
        left=Project(input=left, columns=(*own, *computed)) if computed else left,
        right=right,
        left_on=tuple(compared),
        right_on=right_keys,
        how=how,
        algorithm=algorithm,
    )
    return Project(input=join, columns=tuple(own)) if computed else join


def _keys(how: JoinHow, on: Names, left_on: Names, right_on: Names) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if how == "cross":
        if on is not None or left_on is not None or right_on is not None:
            raise ValueError(
                'a cross join pairs all rows with all and takes no keys; leave them out, or use how="inner"'
            )
        return (), ()
    if on is not None and (left_on is not None or right_on is not None):
        raise ValueError("join() takes either on=, or left_on= and right_on=, not both")
    both = _tuple("on", on)
    left, right = both or _tuple("left_on", left_on), both or _tuple("right_on", right_on)
    if not left and not right:
        raise ValueError('join() needs keys: on="k", or left_on= and right_on=; how="cross" goes without')
    if len(left) != len(right):
        raise ValueError(f"join() needs as many keys on the left as on the right, but has {len(left)} and {len(right)}")
    for names in (left, right):
        if len(set(names)) < len(names):
            raise ValueError(f"join() has a key twice: {', '.join(map(repr, names))}; name each once")
    return left, right


def _tuple(name: str, given: Names) -> tuple[str, ...]:
    return () if given is None else arguments.names(f"join(): {name}", given)


def _cast(plan: Operation, types: dict[str, pa.DataType]) -> Operation:
    """The plan with these columns in these types; the plan itself where they have them."""
    if all(plan.schema.field(name).type.equals(kind) for name, kind in types.items()):
        return plan
    columns = [(name, col(name).cast(types[name]) if name in types else col(name)) for name in plan.schema.names]
    return Project(input=plan, columns=tuple(columns))
