"""In a chain of inner joins the smallest results come first.

A tree of inner joins is a set of tables and of columns that must be equal. It is built anew: again and again the two
parts are joined whose result is estimated to be the smallest, among those that have a key in common. The new order is
taken where the estimated rows between the joins are clearly fewer than before. A projection gives the columns the
order and the names that they had.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

from argosy.frame.estimate import estimate
from argosy.frame.expressions.nodes import col
from argosy.frame.names import joined_names
from argosy.frame.plan import Join, Operation, Project
from argosy.frame.rewrite.expressions import column_name
from argosy.frame.rewrite.tree import with_new_inputs

_CLEARLY = 0.8
"""The new order must have at most this share of the rows between joins."""

Origin = tuple[int, str]
"""A column of one of the tables: which table, and its name there."""


def order_joins(plan: Operation) -> Operation:
    if isinstance(plan, Join | Project) and (ordered := _ordered(plan)) is not None:
        return ordered
    return with_new_inputs(plan, *map(order_joins, plan.inputs))


@dataclass(slots=True)
class _Chain:
    """The joins that may change places."""

    tables: list[Operation] = field(default_factory=list)
    equal: dict[Origin, Origin] = field(default_factory=dict)
    """For each column that a join compares, one that stands for all that are equal to it."""
    between: float = 0.0
    """Estimated rows of all joins but the last, as they are now."""

    def standing(self, origin: Origin) -> Origin:
        while self.equal.get(origin, origin) != origin:
            origin = self.equal[origin]
        return origin

    def gather(self, operation: Operation) -> dict[str, Origin]:
        """Takes in the operation and all joins right below it; says where its columns come from."""
        if isinstance(operation, Join) and operation.how == "inner" and operation.algorithm == "auto":
            self.between += estimate(operation).num_rows
            left, right = self.gather(operation.left), self.gather(operation.right)
            for ours, theirs in zip(operation.left_on, operation.right_on, strict=True):
                self.equal[self.standing(right[theirs])] = self.standing(left[ours])
            renamed = joined_names(list(left), list(right), operation.right_on, operation.suffix)
            return left | {new: right[old] for old, new in renamed.items()}
        names = _renaming(operation)
        if names is not None and isinstance(operation, Project) and _leads_to_join(operation.input):
            below = self.gather(operation.input)
            return {new: below[old] for new, old in names.items()}
        self.tables.append(operation)
        return {name: (len(self.tables) - 1, name) for name in operation.schema.names}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    """Some of the tables, joined. Every column has a name of its own."""

    plan: Operation
    names: dict[Origin, str]
    keys: dict[Origin, str]
    """The column here for each set of equal columns."""
    between: float = 0.0
    """Estimated rows of all its joins."""


def _ordered(plan: Operation) -> Operation | None:
    """The chain that starts here in a better order; None where there is none."""
    if not _leads_to_join(plan):
        return None
    chain = _Chain(between=-estimate(plan).num_rows)
    origins = chain.gather(plan)
    if len(chain.tables) < 3 or _has_equal_columns(chain):
        return None
    names = _names(chain)
    parts = [_part(chain, index, order_joins(table), names) for index, table in enumerate(chain.tables)]
    while len(parts) > 1:
        pairs = [(one, other) for one, other in combinations(parts, 2) if one.keys.keys() & other.keys.keys()]
        if not pairs:
            return None
        joined = {(id(one), id(other)): _join(one, other) for one, other in pairs}
        one, other = min(pairs, key=lambda pair: estimate(joined[id(pair[0]), id(pair[1])].plan).num_rows)
        parts = [part for part in parts if part is not one and part is not other] + [joined[id(one), id(other)]]
    whole = parts[0]
    if whole.between - estimate(whole.plan).num_rows >= _CLEARLY * chain.between:
        return None
    found = [
        whole.names[origin] if origin in whole.names else whole.keys[chain.standing(origin)]
        for origin in origins.values()
    ]
    return Project(input=whole.plan, columns=tuple((name, col(new)) for name, new in zip(origins, found, strict=True)))


def _names(chain: _Chain) -> dict[Origin, str]:
    """A name for every column, so that no join needs a suffix: its own, where all that share it are equal."""
    origins = [(index, name) for index, table in enumerate(chain.tables) for name in table.schema.names]
    meanings: dict[str, set[Origin]] = {}
    for origin in origins:
        meanings.setdefault(origin[1], set()).add(chain.standing(origin))
    names: dict[Origin, str] = {}
    for index, name in origins:
        new = name if len(meanings[name]) == 1 else f"{index}.{name}"
        while new != name and (new in meanings or new in names.values()):
            new += "."
        names[index, name] = new
    return names


def _part(chain: _Chain, index: int, table: Operation, names: dict[Origin, str]) -> _Part:
    own = {(index, name): names[index, name] for name in table.schema.names}
    keys = {chain.standing(origin): new for origin, new in own.items() if _is_key(chain, origin)}
    columns = tuple((new, col(name)) for (_, name), new in own.items())
    return _Part(plan=Project(input=table, columns=columns), names=own, keys=keys)


def _join(one: _Part, other: _Part) -> _Part:
    """The larger side is the left, since it is the right that gets copied or built into a table."""
    left, right = (one, other) if estimate(one.plan).nbytes >= estimate(other.plan).nbytes else (other, one)
    shared = [key for key in left.keys if key in right.keys]
    plan = Join(
        left=left.plan,
        right=right.plan,
        left_on=tuple(left.keys[key] for key in shared),
        right_on=tuple(right.keys[key] for key in shared),
    )
    gone = {right.keys[key] for key in shared}
    names = left.names | {origin: name for origin, name in right.names.items() if name not in gone}
    between = one.between + other.between + estimate(plan).num_rows
    return _Part(plan=plan, names=names, keys=right.keys | left.keys, between=between)


def _is_key(chain: _Chain, origin: Origin) -> bool:
    return origin in chain.equal or origin in chain.equal.values()


def _has_equal_columns(chain: _Chain) -> bool:
    """Whether two columns of one table are compared with one another, by way of a third."""
    keys = {*chain.equal, *chain.equal.values()}
    return len({(index, chain.standing((index, name))) for index, name in keys}) < len(keys)


def _renaming(operation: Operation) -> dict[str, str] | None:
    """New name to old of a projection that computes nothing."""
    if not isinstance(operation, Project):
        return None
    names = {name: column_name(expr) for name, expr in operation.columns}
    return {new: old for new, old in names.items() if old is not None} if None not in names.values() else None


def _leads_to_join(operation: Operation) -> bool:
    while isinstance(operation, Project) and _renaming(operation) is not None:
        operation = operation.input
    return isinstance(operation, Join) and operation.how == "inner" and operation.algorithm == "auto"
