"""Random steps: each makes a longer frame, and the SQL of the same."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from argosy import count
from argosy.errors import TypeMismatch
from argosy.frame.names import joined_names

from . import kinds, tables
from .expressions import anything, column, condition
from .state import MOST_ROWS, CannotAsk, Col, Oracle, State, order_term, settled

Step = Callable[[random.Random, Oracle, State], State]
_SUFFIX = "_right"


def listed(state: State, prefix: str = "") -> str:
    return ", ".join(f"{prefix}c{index}" for index in range(len(state.cols)))


def with_order(state: State) -> str:
    return ", o" if state.ordered else ""


def filtered(draw: random.Random, oracle: Oracle, state: State) -> State:
    one = condition(draw, state)
    query = f"select * from {state.table} where {one.sql}"
    return oracle.step(state.frame.filter(one.expr), query, state.cols, f"filter {one.expr!r}",
                       ordered=state.ordered, sorted_on=state.sorted_on, before=(state,))  # fmt: skip


def selected(draw: random.Random, oracle: Oracle, state: State) -> State:
    indices = draw.sample(range(len(state.cols)), draw.randint(1, len(state.cols)))
    return _projected(oracle, state, indices, f"select {[state.name(index) for index in indices]}")


def _projected(oracle: Oracle, state: State, indices: list[int], said: str) -> State:
    columns = ", ".join(f"c{index} as c{place}" for place, index in enumerate(indices))
    frame = state.frame.select(*(state.name(index) for index in indices))
    cols = tuple(state.cols[index] for index in indices)
    query = f"select {columns}{with_order(state)} from {state.table}"
    return oracle.step(frame, query, cols, said, ordered=state.ordered, before=(state,))


def renamed(draw: random.Random, oracle: Oracle, state: State) -> State:
    """Names only; two may change places."""
    names = state.schema.names
    picked = draw.sample(names, min(2, len(names)))
    mapping = dict(zip(picked, picked[::-1], strict=True)) if len(picked) == 2 else {}
    free = [name for name in tables.NAMES if name not in names]
    if free and (draw.random() < 0.5 or not mapping):
        mapping = {picked[0]: draw.choice(free)}
    frame = state.frame.rename(mapping)
    return replace(state, frame=frame, said=f"rename {mapping}", before=(state,))


def extended(draw: random.Random, oracle: Oracle, state: State) -> State:
    value = anything(draw, state)
    if value is None:
        raise CannotAsk("no value")
    names = state.schema.names
    name = draw.choice([draw.choice(tables.NAMES), draw.choice(names)])
    frame = state.frame.with_columns(**{name: value.expr})
    columns, cols = [f"c{index}" for index in range(len(names))], list(state.cols)
    if name in names:
        columns[names.index(name)], cols[names.index(name)] = value.sql, value.facts
    else:
        columns, cols = [*columns, value.sql], [*cols, value.facts]
    shown = ", ".join(f"{one} as c{index}" for index, one in enumerate(columns))
    query = f"select {shown}{with_order(state)} from {state.table}"
    return oracle.step(frame, query, tuple(cols), f"with_columns {name!r} = {value.expr!r}", ordered=state.ordered,
                       before=(state,))  # fmt: skip


def in_order(draw: random.Random, oracle: Oracle, state: State) -> State:
    keys = state.key_columns()
    if not keys:
        raise CannotAsk("no keys")
    by = draw.sample(keys, min(len(keys), draw.choice([1, 1, 2, 3])))
    directions, nulls_first = [draw.random() < 0.5 for _ in by], draw.random() < 0.5
    names = [state.name(index) for index in by]
    terms = [order_term(f"c{index}", down, nulls_first) for index, down in zip(by, directions, strict=True)]
    order = ", ".join([*terms, "o"] if state.ordered else terms)
    query = f"select {listed(state)}, row_number() over (order by {order}) as o from {state.table}"
    frame = state.frame.sort(*names, descending=directions, nulls_first=nulls_first)
    said = f"sort by {names}, descending={directions}, nulls_first={nulls_first}"
    return oracle.step(frame, query, state.cols, said, ordered=state.ordered,
                       sorted_on=() if state.ordered else tuple(by), before=(state,))  # fmt: skip


def settle(draw: random.Random, oracle: Oracle, state: State) -> State:
    return settled(oracle, state, [draw.random() < 0.5 for _ in state.cols], draw.random() < 0.5)


def cut(draw: random.Random, oracle: Oracle, state: State) -> State:
    state = settle(draw, oracle, state)
    total, number = state.num_rows, draw.choice([0, 1, 3, 10, 50])
    way = draw.choice(["head", "tail", "slice", "rest"])
    offset = draw.choice([0, 1, 2, total // 2, total, total + 3, -1, -3, -total, -total - 2])
    if way == "head":
        frame, start, stop = state.frame.head(number), 0, number
    elif way == "tail":
        frame, start, stop = state.frame.tail(number), max(total - number, 0), total
    else:
        length = None if way == "rest" else number
        frame = state.frame.slice(offset, length)
        start = offset if offset >= 0 else total + offset
        stop = total if length is None else start + length
        start = max(start, 0)
    query = (
        f"select {listed(state)}, o from (select *, row_number() over (order by o) - 1 as place from {state.table}) "
        f"where place >= {start} and place < {stop}"
    )
    said = f"{way} offset={offset} number={number}"
    return oracle.step(frame, query, state.cols, said, ordered=True, before=(state,))


def moved(draw: random.Random, oracle: Oracle, state: State) -> State:
    """The same rows elsewhere."""
    keys = state.key_columns()
    if keys and draw.random() < 0.5:
        by = [state.name(index) for index in draw.sample(keys, min(len(keys), draw.choice([1, 1, 2])))]
        return replace(state, frame=state.frame.repartition(by), ordered=False, sorted_on=(), before=(state,),
                       said=f"repartition by {by}")  # fmt: skip
    if draw.random() < 0.3:
        return replace(state, frame=state.frame.shuffle(7), ordered=False, sorted_on=(), before=(state,),
                       said="shuffle")  # fmt: skip
    return replace(state, frame=state.frame.repartition(), before=(state,), said="repartition")


def distinct(draw: random.Random, oracle: Oracle, state: State) -> State:
    if draw.random() < 0.5:
        keep = state.key_columns()
        if not keep:
            raise CannotAsk("no keys")
        if len(keep) < len(state.cols):
            state = _projected(oracle, state, keep, "select what can be a key")
        query = f"select distinct {listed(state)} from {state.table}"
        return oracle.step(state.frame.unique(), query, state.cols, "unique", ordered=False, before=(state,))
    state = settle(draw, oracle, state)
    keys = state.key_columns()
    if not keys:
        raise CannotAsk("no keys")
    by = draw.sample(keys, min(len(keys), draw.choice([1, 2])))
    names = [state.name(index) for index in by]
    parts = ", ".join(f"c{index}" for index in by)
    query = (
        f"select {listed(state)} from (select *, row_number() over (partition by {parts} order by o) as place "
        f"from {state.table}) where place = 1"
    )
    return oracle.step(state.frame.unique(*names), query, state.cols, f"unique {names}", ordered=False, before=(state,))


def together(draw: random.Random, oracle: Oracle, state: State) -> State:
    """Set operations and concat: with itself, filtered, or with another table of the same columns."""
    method = draw.choice(["union", "intersect", "difference", "concat", "concat"])
    if method != "concat" and len(state.key_columns()) < len(state.cols):
        if not state.key_columns():
            raise CannotAsk("no keys")
        state = _projected(oracle, state, state.key_columns(), "select what can be a key")
    if any(one.widens for one in state.cols):
        raise CannotAsk("a widened sum has no table of its own")
    if draw.random() < 0.4:
        other = filtered(draw, oracle, state)
    else:
        other = oracle.leaf(tables.table(draw, min(tables.num_rows(draw), 300), state.schema))
    shown = list(range(len(state.cols)))
    draw.shuffle(shown)
    frame = other.frame.select(*(state.name(index) for index in shown))
    said = f"{method} of:\n{indented(history(other))}\n  ..."
    cols = tuple(_both(one, two) for one, two in zip(state.cols, other.cols, strict=True))
    before = (state, other)
    if method == "concat":
        ordered = state.ordered and other.ordered
        order = ", o" if ordered else ""
        side = ", row_number() over (order by side, o) as o" if ordered else ""
        query = (
            f"select {listed(state)}{side} from (select {listed(state)}, 0 as side{order} from {state.table} "
            f"union all select {listed(other)}, 1 as side{order} from {other.table})"
        )
        return oracle.step(
            state.frame.concat(frame), query, cols, said, ordered=ordered, before=before, may_explode=True
        )
    word = {"union": "union", "intersect": "intersect", "difference": "except"}[method]
    query = f"select {listed(state)} from {state.table} {word} select {listed(other)} from {other.table}"
    return oracle.step(getattr(state.frame, method)(frame), query, cols, said, ordered=False, before=before)


def _both(one: Col, other: Col) -> Col:
    return Col(bound=max(one.bound, other.bound), exact=one.exact and other.exact, finite=one.finite and other.finite,
               widens=one.widens or other.widens)  # fmt: skip


def joined(draw: random.Random, oracle: Oracle, state: State) -> State:
    other = _partner(draw, oracle, state)
    pairs = [
        (ours, theirs)
        for ours in state.key_columns()
        for theirs in other.key_columns()
        if _match(state.kind(ours), other.kind(theirs))
    ]
    how = draw.choice(["inner", "inner", "left", "right", "full", "semi", "anti", "cross"])
    if how == "cross" or not pairs:
        return _crossed(draw, oracle, state, other)
    on = [draw.choice(pairs)]
    for pair in draw.sample(pairs, min(len(pairs), draw.choice([0, 0, 1, 2]))):
        if all(pair[0] != one and pair[1] != two for one, two in on):
            on.append(pair)
    algorithm = draw.choice(["auto", "auto", "hash", "sort", "broadcast"])
    if how == "full" and algorithm == "broadcast":
        algorithm = "auto"
    left_on, right_on = [state.name(one) for one, _ in on], [other.name(two) for _, two in on]
    try:
        frame = state.frame.join(
            other.frame, left_on=left_on, right_on=right_on, how=how, algorithm=algorithm, suffix=_SUFFIX
        )
    except TypeMismatch as error:
        raise CannotAsk(str(error)) from error
    kept = [*state.schema.names, *joined_names(state.schema.names, other.schema.names, right_on, _SUFFIX).values()]
    key_types = [kinds.sql_type(frame.schema.field(state.name(one)).type) for one, _ in on]
    test = " and ".join(f"l.c{one}::{name} = r.c{two}::{name}" for (one, two), name in zip(on, key_types, strict=True))
    said = f"join {how} on {left_on} = {right_on}, algorithm={algorithm}, with:\n{indented(history(other))}\n  ..."
    if how in ("semi", "anti"):
        query = f"select {listed(state, 'l.')} from {state.table} l {how} join {other.table} r on {test}"
        return oracle.step(frame, query, state.cols, said, ordered=False, before=(state, other))
    columns, cols = [], []
    for index, facts in enumerate(state.cols):
        match = next(((two, key_types[place]) for place, (one, two) in enumerate(on) if one == index), None)
        if match is None:
            columns.append(f"l.c{index}")
            cols.append(facts)
        else:
            two, name = match
            columns.append(f"coalesce(l.c{index}::{name}, r.c{two}::{name})")
            cols.append(_both(facts, other.cols[two]))
    for index, facts in enumerate(other.cols):
        if all(two != index for _, two in on):
            columns.append(f"r.c{index}")
            cols.append(facts)
    assert len(kept) == len(columns)
    shown = ", ".join(f"{one} as c{index}" for index, one in enumerate(columns))
    query = f"select {shown} from {state.table} l {how} join {other.table} r on {test}"
    return oracle.step(frame, query, tuple(cols), said, ordered=False, before=(state, other), may_explode=True)


def _partner(draw: random.Random, oracle: Oracle, state: State) -> State:
    """A table that shares a column with this frame most of the time; or the frame itself, filtered."""
    if draw.random() < 0.25:
        return filtered(draw, oracle, state)
    rows = min(tables.num_rows(draw), 300)
    made = tables.table(draw, rows)
    keys = state.key_columns()
    for index in draw.sample(keys, min(len(keys), draw.choice([1, 1, 2]))):
        name = state.name(index) if draw.random() < 0.5 else draw.choice(tables.NAMES)
        if name in made.column_names:
            made = made.drop_columns(name)
        kind = state.kind(index)
        made = made.append_column(pa.field(name, kind), tables.column(draw, kind, rows))
    other = oracle.leaf(tables.in_pieces(draw, made))
    for _ in range(draw.choice([0, 0, 1, 2])):
        other = (
            draw.choice([filtered, moved, in_order, distinct])(draw, oracle, other) if other.key_columns() else other
        )
    return other


def _match(one: pa.DataType, other: pa.DataType) -> bool:
    one, other = kinds.plain(one), kinds.plain(other)
    if pt.is_integer(one) and pt.is_integer(other):
        return pt.is_uint64(one) == pt.is_uint64(other) or not (pt.is_uint64(one) or pt.is_uint64(other))
    if pt.is_floating(one) and pt.is_floating(other):
        return True
    return bool(one.equals(other)) or (kinds.is_text(one) and kinds.is_text(other))


def _crossed(draw: random.Random, oracle: Oracle, state: State, other: State) -> State:
    if state.num_rows * other.num_rows > MOST_ROWS:
        raise CannotAsk("too many rows")
    frame = state.frame.join(other.frame, how="cross", suffix=_SUFFIX)
    columns = [f"l.c{index}" for index in range(len(state.cols))] + [f"r.c{index}" for index in range(len(other.cols))]
    shown = ", ".join(f"{one} as c{index}" for index, one in enumerate(columns))
    query = f"select {shown} from {state.table} l cross join {other.table} r"
    said = f"join cross with:\n{indented(history(other))}\n  ..."
    return oracle.step(frame, query, (*state.cols, *other.cols), said, ordered=False, before=(state, other))


def grouped(draw: random.Random, oracle: Oracle, state: State) -> State:
    keys = state.key_columns()
    by = draw.sample(keys, min(len(keys), draw.choice([0, 1, 1, 1, 2, 3])))
    if draw.random() < 0.7:
        state = settle(draw, oracle, state)
        keys = state.key_columns()
        by = draw.sample(keys, min(len(keys), draw.choice([0, 1, 1, 1, 2, 3])))
    names = [state.name(index) for index in by]
    aggregates: dict[str, Any] = {}
    columns, cols = [f"c{index}" for index in by], [state.cols[index] for index in by]
    free = [f"agg {number}" for number in range(20) if f"agg {number}" not in names]
    for name in free[: draw.choice([0, 1, 2, 3, 4]) if by else draw.choice([1, 2, 4])]:
        expr, sql, facts = _aggregate(draw, state)
        aggregates[name] = expr
        columns.append(sql)
        cols.append(facts)
    shown = ", ".join(f"{one} as c{index}" for index, one in enumerate(columns))
    ending = f" group by {', '.join(f'c{index}' for index in by)}" if by else ""
    source = f"(select {', '.join(f'c{i}' for i in range(len(state.cols)))}{with_order(state)} from {state.table}) t"
    query = f"select {', '.join(f'{one} as x{i}' for i, one in enumerate(columns))} from {source}{ending}"
    query = f"select {', '.join(f'x{i} as c{i}' for i in range(len(columns)))} from ({query})"
    assert shown
    frame = state.frame.group_by(*names).agg(**aggregates)
    return oracle.step(frame, query, tuple(cols), f"group by {names}: {aggregates}", ordered=False, before=(state,))


def _aggregate(draw: random.Random, state: State) -> tuple[Any, str, Col]:
    """An aggregate of some column: the expression, the SQL, and what is known of it."""
    if draw.random() < 0.1:
        return count(), "count(*)", Col(bound=state.num_rows)
    index = draw.choice([index for index, one in enumerate(state.cols) if not one.widens] or [0])
    if state.cols[index].widens:
        return count(), "count(*)", Col(bound=state.num_rows)
    one = column(state, index)
    facts, kind = one.facts, kinds.plain(one.kind)
    makers: list[Callable[[], tuple[Any, str, Col]]] = [
        lambda: (one.expr.count(), f"count({one.sql})", Col(bound=state.num_rows)),
        lambda: (one.expr.len(), "count(*)", Col(bound=state.num_rows)),
    ]
    if state.ordered:
        makers += [
            lambda: (one.expr.first(), f"first({one.sql} order by o)", facts),
            lambda: (one.expr.last(), f"last({one.sql} order by o)", facts),
        ]
    if facts.exact:
        makers += [lambda: (one.expr.n_unique(), f"count(distinct {one.sql})", Col(bound=state.num_rows))]
    if kinds.can_be_key(kind) and facts.exact:
        makers += [
            lambda: (one.expr.min(), f"min({one.sql})", facts),
            lambda: (one.expr.max(), f"max({one.sql})", facts),
        ]
    if pt.is_boolean(kind):
        makers += [
            lambda: (one.expr.any(), f"bool_or({one.sql})", Col()),
            lambda: (one.expr.all(), f"bool_and({one.sql})", Col()),
        ]
    if pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind) or pt.is_boolean(kind):
        makers += 2 * _of_numbers(draw, state, one.expr, one.sql, kind, facts)
    return draw.choice(makers)()


def _of_numbers(
    draw: random.Random, state: State, expr: Any, sql: str, kind: pa.DataType, facts: Col
) -> list[Callable[[], tuple[Any, str, Col]]]:
    number = f"({sql})::INTEGER" if pt.is_boolean(kind) else sql
    double = f"({number})::DOUBLE"
    rough = Col(exact=False)
    makers: list[Callable[[], tuple[Any, str, Col]]] = [
        lambda: (expr.mean(), f"avg({double if pt.is_floating(kind) else number})", rough),
    ]
    if pt.is_floating(kind):
        makers.append(lambda: (expr.sum(), f"sum({double})", replace(facts, exact=facts.exact)))
    elif pt.is_decimal(kind):
        makers.append(lambda: (expr.sum(), f"sum({sql})::{kinds.sql_type(kind)}", Col()))
    else:
        bound = (1 if pt.is_boolean(kind) else facts.bound) * max(state.num_rows, 1)
        fits = bound < 1 << 63
        name = ("UBIGINT" if pt.is_unsigned_integer(kind) else "BIGINT") if fits else "HUGEINT"
        makers.append(lambda: (expr.sum(), f"sum({number})::{name}", Col(bound=bound, widens=not fits)))
    share = draw.choice([0.0, 0.25, 0.5, 0.9, 1.0])
    makers.append(lambda: (expr.quantile(share), _quantile(double, share), rough))
    makers.append(lambda: (expr.median(), _quantile(double, 0.5), rough))
    if (pt.is_integer(kind) and facts.bound < 1 << 20) or (pt.is_floating(kind) and facts.finite):
        ending = draw.choice(["samp", "pop"])
        ddof = 1 if ending == "samp" else 0
        makers.append(lambda: (expr.var(ddof), f"var_{ending}({double})", rough))
        makers.append(lambda: (expr.std(ddof), f"stddev_{ending}({double})", rough))
    return makers


def _quantile(double: str, share: float) -> str:
    """As documented: between the two nearest values, NaN the largest."""
    values = f"list_sort(list({double}) filter (where {double} is not null))"
    place = f"({share} * (len({values}) - 1))"
    low, high = f"{values}[floor({place})::BIGINT + 1]", f"{values}[ceil({place})::BIGINT + 1]"
    return f"(CASE WHEN {low} = {high} THEN {low} ELSE {low} + ({high} - {low}) * ({place} - floor({place})) END)"


def history(state: State) -> str:
    """How a frame came about, a step a line."""
    above = history(state.before[0]) + "\n" if state.before else ""
    said = state.said if state.before else f"{state.num_rows} rows of {_shape(state)}"
    return above + said


def _shape(state: State) -> str:
    return ", ".join(f"{field.name!r}: {field.type}" for field in state.schema)


def indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


STEPS: tuple[Step, ...] = (
    filtered, filtered, filtered, selected, renamed, extended, extended, in_order, in_order, cut, cut, moved, moved,
    distinct, together, together, grouped, grouped, grouped, joined, joined, joined, joined,
)  # fmt: skip


def frames(draw: random.Random, oracle: Oracle) -> State:
    """A random frame. Steps that DuckDB cannot do are drawn again."""
    state = oracle.leaf(tables.table(draw))
    wanted = draw.choice([1, 1, 2, 3, 4, 6, 9])
    for _ in range(wanted * 3):
        if wanted == 0:
            break
        try:
            state = draw.choice(STEPS)(draw, oracle, state)
            wanted -= 1
        except CannotAsk:
            continue
    return state
