"""Random frames over small random tables, for laws that hold for every plan.

`Drawn.ordered` says whether the order of the rows is settled: an operation that sees the order is only drawn where it
is, after a sort by all columns where need be, so that two sound plans cannot differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.types as pt
from hypothesis import strategies as st

from argosy.frame.dataframe import DataFrame
from argosy.frame.expressions.nodes import Expr, col, count, lit
from argosy.frame.plan import Memory

Draw = Callable[[st.SearchStrategy[Any]], Any]

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.float64()), ("k", pa.int64()), ("s", pa.string()), ("t", pa.bool_())])
VALUES = {
    "a": st.integers(-3, 9),
    "b": st.sampled_from([-2.0, -0.0, 0.0, 1.0, 3.0, float("nan")]),
    "k": st.integers(0, 3),
    "s": st.sampled_from(["", "1", "2", "é", "zz"]),
    "t": st.booleans(),
}


@dataclass(frozen=True)
class Drawn:
    frame: DataFrame
    ordered: bool = True

    def settled(self) -> Drawn:
        """The same rows in an order that does not depend on how they were computed."""
        return self if self.ordered else Drawn(self.frame.sort(*self.frame.columns))


@st.composite
def tables(draw: Draw, max_rows: int = 6) -> pa.Table:
    names = draw(st.lists(st.sampled_from(SCHEMA.names), min_size=1, unique=True))
    num_rows = draw(st.integers(0, max_rows))
    columns = {
        name: draw(st.lists(st.none() | VALUES[name], min_size=num_rows, max_size=num_rows)) for name in {*names, "k"}
    }
    return pa.table(columns, schema=pa.schema([SCHEMA.field(name) for name in sorted(columns)]))


@st.composite
def frames(draw: Draw, max_steps: int = 6) -> Drawn:
    drawn = Drawn(DataFrame(Memory(table=draw(tables()))))
    for _ in range(draw(st.integers(0, max_steps))):
        drawn = draw(st.sampled_from(_STEPS))(draw, drawn)
    return drawn


def _names(drawn: Drawn, test: Callable[[pa.DataType], bool]) -> list[str]:
    return [field.name for field in drawn.frame.schema if test(field.type)]


def _is_number(kind: pa.DataType) -> bool:
    return bool(pt.is_integer(kind) or pt.is_floating(kind))


def condition(draw: Draw, drawn: Drawn) -> Expr:
    """True, false or null for each row; some fail for some values, as a cast does."""
    frame = drawn.frame
    numbers = _names(drawn, _is_number)
    one: Expr = draw(st.sampled_from([col(name).is_null() for name in frame.columns]))
    if numbers and draw(st.integers(0, 3)):
        name = draw(st.sampled_from(numbers))
        other = draw(st.sampled_from([lit(0), lit(2), lit(1.0), *(col(name) for name in numbers)]))
        number = draw(st.sampled_from([col(name), col(name), col(name) + 1, col(name) * 2**62]))
        one = draw(st.sampled_from([number > other, number <= other, number == other, number.is_in([1, 2, None])]))
    texts = _names(drawn, pt.is_string)
    if texts and draw(st.booleans()):
        text = col(draw(st.sampled_from(texts)))
        one &= draw(st.sampled_from([text == "1", text.cast("int64") > 1, text.str.len_chars() > 0]))
    choice = draw(st.integers(0, 4))
    if choice == 0:
        return ~one
    return one | condition(draw, drawn) if choice == 1 else one


def _filter(draw: Draw, drawn: Drawn) -> Drawn:
    return Drawn(drawn.frame.filter(condition(draw, drawn)), drawn.ordered)


def _select(draw: Draw, drawn: Drawn) -> Drawn:
    names = draw(st.lists(st.sampled_from(drawn.frame.columns), min_size=1, unique=True))
    return Drawn(drawn.frame.select(*names), drawn.ordered)


def _rename(draw: Draw, drawn: Drawn) -> Drawn:
    """Two columns swap their names, or one gets another."""
    names = draw(st.lists(st.sampled_from(drawn.frame.columns), min_size=1, max_size=2, unique=True))
    mapping = dict(zip(names, names[::-1], strict=True)) if len(names) == 2 else {names[0]: names[0] + "2"}
    if set(mapping.values()) & (set(drawn.frame.columns) - set(names)):
        return drawn
    return Drawn(drawn.frame.rename(mapping), drawn.ordered)


def _with_columns(draw: Draw, drawn: Drawn) -> Drawn:
    numbers = _names(drawn, _is_number)
    value = lit(draw(st.sampled_from([7, 2.5])))
    if numbers:
        one, other = (col(draw(st.sampled_from(numbers))) for _ in range(2))
        value = draw(st.sampled_from([one + 1, one * other, one - other, one.fill_null(5), value]))
    name = draw(st.sampled_from(["y", "z", *drawn.frame.columns]))
    return Drawn(drawn.frame.with_columns(**{name: value}), drawn.ordered)


def _sort(draw: Draw, drawn: Drawn) -> Drawn:
    names = draw(st.lists(st.sampled_from(drawn.frame.columns), min_size=1, unique=True))
    descending = [draw(st.booleans()) for _ in names]
    ordered = drawn.ordered or len(names) == len(drawn.frame.columns)
    return Drawn(drawn.frame.sort(*names, descending=descending, nulls_first=draw(st.booleans())), ordered)


def _cut(draw: Draw, drawn: Drawn) -> Drawn:
    frame = drawn.settled().frame
    number, offset = draw(st.integers(0, 5)), draw(st.integers(-4, 4))
    choices = [frame.head(number), frame.tail(number), frame.slice(offset, number), frame.slice(offset)]
    choices += [frame.sample(n=number), frame.sample(fraction=0.5, seed=1), frame.shuffle(3)]
    return Drawn(draw(st.sampled_from(choices)))


def _repartition(draw: Draw, drawn: Drawn) -> Drawn:
    by = draw(st.none() | st.sampled_from(drawn.frame.columns))
    return Drawn(drawn.frame.repartition(by), drawn.ordered and by is None)


def _unique(draw: Draw, drawn: Drawn) -> Drawn:
    if draw(st.booleans()):
        return Drawn(drawn.frame.unique(), ordered=False)
    names = draw(st.lists(st.sampled_from(drawn.frame.columns), min_size=1, unique=True))
    return Drawn(drawn.settled().frame.unique(*names), ordered=False)


def _together(draw: Draw, drawn: Drawn) -> Drawn:
    """Set operations and concat, with the same frame filtered and its columns the other way round."""
    other = drawn.frame.filter(condition(draw, drawn)).select(*reversed(drawn.frame.columns))
    method = draw(st.sampled_from(["union", "intersect", "difference", "concat"]))
    return Drawn(getattr(drawn.frame, method)(other), drawn.ordered and method == "concat")


def _group_by(draw: Draw, drawn: Drawn) -> Drawn:
    keys = draw(st.lists(st.sampled_from(drawn.frame.columns), max_size=2, unique=True))
    aggregates: dict[str, Expr] = {"n": count()}
    for name in _names(drawn, _is_number)[:3]:
        kind = draw(st.sampled_from(["sum", "min", "max", "count", "mean", "n_unique", "median", "first", "last"]))
        aggregates[f"{name}_{kind}"] = getattr(col(name), kind)()
    needs_order = any(name.endswith(("_first", "_last")) for name in aggregates)
    frame = drawn.settled().frame if needs_order else drawn.frame
    named = {name: value for name, value in aggregates.items() if name not in keys}
    return Drawn(frame.group_by(*keys).agg(**named), ordered=not keys)


def _join(draw: Draw, drawn: Drawn) -> Drawn:
    other = DataFrame(Memory(table=draw(tables(max_rows=4))))
    if draw(st.booleans()):
        other = other.with_columns(w=col("k"))
    ours = _names(drawn, pt.is_int64)
    how = draw(st.sampled_from(["inner", "inner", "inner", "left", "right", "full", "semi", "anti", "cross"]))
    if how == "cross" or not ours:
        return Drawn(drawn.frame.head(4).join(other.head(3), how="cross"), ordered=False) if drawn.ordered else drawn
    key = draw(st.sampled_from(ours))
    return Drawn(drawn.frame.join(other, left_on=key, right_on="k", how=how), ordered=False)


_STEPS = (
    _filter, _filter, _filter, _select, _rename, _with_columns, _with_columns, _sort, _cut, _repartition, _unique,
    _together, _group_by, _join, _join, _join,
)  # fmt: skip
