"""Valid calls of frames, expressions, files and the operators for whoever has tables of his own."""

from __future__ import annotations

import functools
import itertools
import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hostile.judging import Case
from hostile.kinds import (
    Argument,
    a,
    amount,
    anything,
    either,
    flag,
    fresh,
    listed,
    mapping,
    names,
    number,
    of,
    optional,
    path,
    some_text,
    text,
    whole,
    words,
)

import argosy
from argosy import col
from argosy.frame.expressions.expr import Expr

COLUMNS = {
    "a": [3, 1, 2, None, 2],
    "b": [1.5, -2.25, None, 4.0, 0.5],
    "s": ["x", "yy", "", None, "zig zag"],
    "k": [1, 1, 2, 2, 3],
}
OTHER = {"k": [1, 2, 9], "w": [10, 20, 30]}
TIMES = {"t": pa.array([0, 86_400_000_000], pa.timestamp("us")), "d": ["2020-01-02", "2021-03-04"]}


def frame() -> Any:
    return argosy.from_pydict(COLUMNS)


def other() -> Any:
    return argosy.from_pydict(OTHER)


def times() -> Any:
    return argosy.from_pydict(TIMES)


def table() -> pa.Table:
    return pa.table(COLUMNS)


def rows(result: Any) -> Any:
    """What a frame or table holds; of other things what they are."""
    if hasattr(result, "collect"):
        result = result.collect()
    return result.to_pydict() if isinstance(result, (pa.Table, pa.RecordBatch)) else result


def projected(result: Any) -> Any:
    """Of an expression, what it is over the frame."""
    holder = times() if 'col("t")' in repr(result) or 'col("d")' in repr(result) else frame()
    return rows(holder.select(x=result))


def same_rows(result: Any) -> Any:
    """Where the order of rows is open."""
    columns = rows(result)
    return sorted(zip(*columns.values(), strict=True), key=repr)


@functools.cache
def folder() -> Path:
    place = Path(tempfile.mkdtemp(prefix="hostile-frames-"))
    pq.write_table(table(), place / "one.parquet")
    (place / "one.csv").write_text("a;b\n1;x\n2;y\n")
    (place / "one.json").write_text('{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n')
    with pa.OSFile(str(place / "one.arrow"), "wb") as file, pa.ipc.new_file(file, table().schema) as writer:
        writer.write_table(table())
    return place


_numbers = itertools.count()


def target() -> str:
    return str(folder() / f"out-{os.getpid()}-{next(_numbers)}")


def _method(
    name: str,
    arguments: dict[str, Argument],
    *,
    on: Callable[[], Any] = frame,
    finish: Any = rows,
    positional: tuple[str, ...] = (),
    **rest: Any,
) -> Case:
    def call(**values: Any) -> Any:
        first = [values.pop(one) for one in positional if one in values]
        return functools.reduce(getattr, name.strip().split("."), on())(*first, **values)

    return Case(name=f"frame.{name}", call=call, arguments=arguments, finish=finish, **rest)


def _expr(
    name: str,
    on: Callable[[], Any],
    arguments: dict[str, Argument],
    *,
    positional: tuple[str, ...] = (),
    finish: Any = projected,
) -> Case:
    def call(**values: Any) -> Any:
        first = [values.pop(one) for one in positional if one in values]
        return functools.reduce(getattr, name.strip().split("."), on())(*first, **values)

    named = {name: replace(one, named=(*one.named, "col")) for name, one in arguments.items()}
    return Case(name=f"col.{name}", call=call, arguments=named, finish=finish, typo=not positional)


expr = of(Expr)
column_or_expr = either(text, expr)


def cases() -> list[Case]:
    place = folder()
    some = a(
        "a",
        either(column_or_expr, of(list, tuple)),
        "select",
        "sort",
        "drop",
        "unique",
        "group_by",
        "column",
        "names",
        "keys",
    )
    condition = a(col("a") > 1, either(column_or_expr, of(list, tuple)), "filter", "when", "condition", "expression")
    return [
        _method("select", {"x": some}, positional=("x",), typo=False),
        _method("select ", {"x": a(col("a") + 1, anything, "value", "expression", "select")}, typo=False),
        _method("with_columns", {"x": a(2, anything, "value", "expression", "with_columns")}, typo=False),
        _method("with_columns ", {"x": a(col("a").alias("q"), either(expr, text, of(list, tuple)), "with_columns")}, positional=("x",), typo=False),
        _method("filter", {"x": condition}, positional=("x",)),
        _method("drop", {"x": some}, positional=("x",)),
        _method("rename", {"mapping": a({"a": "q"}, mapping, "rename")}),
        _method("__getitem__", {"x": a("a", either(text, of(list)), "frame", "column", "select")}, positional=("x",), finish=lambda r: repr(r) if isinstance(r, Expr) else rows(r), typo=False),
        _method("sort", {"x": some, "descending": a(True, either(flag, of(list, tuple)), "sort"), "nulls_first": a(True, flag)}, positional=("x",)),
        _method("unique", {"x": a("k", either(text, of(list, tuple)), "unique")}, positional=("x",), finish=same_rows),
        _method("head", {"n": a(2, whole(0))}),
        _method("tail", {"n": a(2, whole(0))}),
        _method("slice", {"offset": a(1, whole()), "length": a(2, optional(whole(0)))}),
        _method("sample", {"n": a(2, optional(whole(0)), "sample"), "seed": a(3, whole(0))}),
        _method("sample ", {"fraction": a(0.5, optional(number(0, 1)), "sample"), "seed": a(3, whole(0))}),
        _method("shuffle", {"seed": a(3, whole(0))}),
        _method("repartition", {"by": a("k", optional(names), "repartition")}, finish=same_rows),
        _method("join", {
            "other": fresh(other, of(type(frame())), "join"), "on": a("k", optional(names), "join", "keys"),
            "how": a("left", words("inner", "left", "right", "full", "semi", "anti", "cross")), "suffix": a("_r", some_text),
            "algorithm": a("hash", words("auto", "hash", "sort", "broadcast")),
        }, finish=same_rows),
        _method("join ", {
            "other": fresh(other, of(type(frame())), "join"), "left_on": a("k", optional(names), "join", "keys", "left"),
            "right_on": a("k", optional(names), "join", "keys", "right"),
        }, finish=same_rows),
        _method("group_by", {"x": some}, positional=("x",), finish=lambda r: same_rows(r.agg()), typo=False),
        Case(name="frame.group_by.agg", call=lambda x: frame().group_by("k").agg(x), arguments={"x": a(col("a").sum(), either(expr, text, of(list, tuple)), "agg", "aggregate")}, finish=same_rows, typo=False),
        Case(name="frame.group_by.agg x=", call=lambda x: frame().group_by("k").agg(x=x), arguments={"x": a(col("a").sum(), anything, "agg", "aggregate", "value")}, finish=same_rows, typo=False),
        *(
            Case(name=f"frame.{name}", call=lambda other, name=name, **more: getattr(frame(), name)(other, **more),
                 arguments={"other": fresh(frame, of(type(frame())), name)}, finish=same_rows)
            for name in ("union", "intersect", "difference", "concat")
        ),
        _method("persist", {"tier": a("ram", optional(words("auto", "ram", "disk")))}),
        _method("persist ", {"tier": a("auto", optional(words("auto", "ram", "disk"))), "memory": a("1MiB", optional(amount))}),
        _method("to_torch", {"columns": a(["k"], optional(names), "select", "frame")}, finish=lambda r: {n: t.tolist() for n, t in r.items()}, slow=True),
        _method("write_parquet", {"path": fresh(target, path), "overwrite": a(True, flag), "compression": a("zstd", either(text, of(type(None)))), "row_group_nbytes": a(1000, optional(whole(1)))}, finish=lambda r: r),
        _method("write_csv", {"path": fresh(target, path), "overwrite": a(True, flag), "delimiter": a(";", some_text), "header": a(True, flag)}, finish=lambda r: r),
        Case(name="read_parquet", call=argosy.read_parquet, arguments={"paths": a(str(place / "one.parquet"), either(path, listed), "path", "files", "file", "folder"), "columns": a(["a"], optional(listed)), "filesystem": a(None, _filesystem)}, finish=rows),
        Case(name="read_csv", call=argosy.read_csv, arguments={
            "paths": a(str(place / "one.csv"), either(path, listed), "path", "files", "file", "folder"), "delimiter": a(";", some_text), "header": a(True, flag),
            "column_types": a({"a": "int32"}, optional(mapping)), "null_values": a(["x"], listed), "newlines_in_values": a(False, flag), "filesystem": a(None, _filesystem)}, finish=rows),
        Case(name="read_json", call=argosy.read_json, arguments={"paths": a(str(place / "one.json"), either(path, listed), "path", "files", "file", "folder"), "column_types": a({"a": "int32"}, optional(mapping)), "filesystem": a(None, _filesystem)}, finish=rows),
        Case(name="read_ipc", call=argosy.read_ipc, arguments={"paths": a(str(place / "one.arrow"), either(path, listed), "path", "files", "file", "folder"), "filesystem": a(None, _filesystem)}, finish=rows),
        Case(name="from_arrow", call=argosy.from_arrow, arguments={"data": fresh(table, lambda v: hasattr(v, "__arrow_c_stream__") or isinstance(v, pa.RecordBatch), "from_arrow")}, finish=rows),
        Case(name="from_pydict", call=argosy.from_pydict, arguments={"columns": a({"a": [1, 2]}, mapping, "from_pydict"), "schema": a(pa.schema([("a", pa.int64())]), optional(of(pa.Schema)))}, finish=rows),
        Case(name="from_pydict ", call=lambda values: argosy.from_pydict({"a": values}), arguments={"values": a([1, 2], anything, "from_pydict")}, finish=rows, typo=False),
        Case(name="from_pandas", call=_from_pandas, arguments={"data": fresh(_pandas, lambda v: type(v).__module__.startswith("pandas"), "from_pandas"), "index": a(True, flag)}, finish=rows, slow=True),
        *_expressions(),
        *_spmd(),
    ]  # fmt: skip


def _filesystem(value: Any) -> bool:
    return value is None or isinstance(value, pa.fs.FileSystem)


def _pandas() -> Any:
    import pandas

    return pandas.DataFrame(COLUMNS)


def _from_pandas(**values: Any) -> Any:
    return argosy.from_pandas(**values)


def _expressions() -> list[Case]:
    anyone: Callable[..., Argument] = lambda valid, *named: a(valid, anything, "value", "expression", *named)  # noqa: E731
    a_column, b_column, s_column = (lambda: col("a")), (lambda: col("b")), (lambda: col("s"))
    t_column, d_column = (lambda: col("t")), (lambda: col("d"))
    operators = (
        "__add__",
        "__radd__",
        "__sub__",
        "__mul__",
        "__truediv__",
        "__floordiv__",
        "__mod__",
        "__pow__",
        "__rpow__",
        "__eq__",
        "__lt__",
        "__ge__",
    )
    return [
        Case(name="col", call=argosy.col, arguments={"name": a("a", text, "column")}, finish=projected),
        Case(name="lit", call=argosy.lit, arguments={"value": anyone(2)}, finish=projected),
        Case(name="when", call=lambda condition, value, default: argosy.when(condition).then(value).otherwise(default),
             arguments={"condition": anyone(col("a") > 1, "condition", "when"), "value": anyone(1, "when"), "default": anyone(0, "when")}, finish=projected, typo=False),
        *(_expr(name, b_column, {"other": anyone(2)}, positional=("other",)) for name in operators),
        *(_expr(name, lambda: col("a") > 1, {"other": anyone(True)}, positional=("other",)) for name in ("__and__", "__or__", "__xor__")),
        _expr("alias", a_column, {"name": a("q", text)}),
        _expr("cast", a_column, {"to": a("int32", either(text, of(pa.DataType), lambda v: v in (bool, int, float, str, bytes)), "type")}),
        _expr("is_in", a_column, {"values": a([1, 2], lambda v: not isinstance(v, (str, bytes)) and hasattr(v, "__iter__"), "is_in", "value")}),
        _expr("between", a_column, {"low": anyone(1), "high": anyone(2)}),
        _expr("fill_null", a_column, {"value": anyone(7)}),
        _expr("clip", a_column, {"low": anyone(1), "high": anyone(2)}),
        _expr("round", b_column, {"digits": a(1, whole())}),
        _expr("log", b_column, {"base": a(2.0, optional(number(above=0)))}),
        _expr("var", b_column, {"ddof": a(1, whole(0))}),
        _expr("std", b_column, {"ddof": a(1, whole(0))}),
        _expr("quantile", b_column, {"q": a(0.5, number(0, 1), "quantile")}),
        _expr("str.strip", s_column, {"characters": a("x", optional(text))}),
        _expr("str.contains", s_column, {"pattern": a("z", text), "literal": a(True, flag)}),
        _expr("str.starts_with", s_column, {"prefix": a("z", text)}),
        _expr("str.ends_with", s_column, {"suffix": a("g", text)}),
        _expr("str.replace", s_column, {"pattern": a("z", some_text), "value": a("q", text), "literal": a(True, flag)}),
        _expr("str.slice", s_column, {"offset": a(1, whole()), "length": a(2, optional(whole(0)))}),
        _expr("str.split", s_column, {"by": a(" ", some_text, "separator")}),
        _expr("str.concat", s_column, {"other": anyone("!")}, positional=("other",)),
        _expr("str.to_date", d_column, {"format": a("%Y-%m-%d", text)}),
        _expr("str.to_datetime", d_column, {"format": a("%Y-%m-%d", text)}),
        _expr("dt.strftime", t_column, {"format": a("%Y", text)}),
        _expr("dt.truncate", t_column, {"unit": a("month", text)}),
        Case(name="col.same_as", call=lambda other: col("a").same_as(other), arguments={"other": a(2, anything)}, finish=lambda r: r, typo=False),
    ]  # fmt: skip


def _spmd() -> list[Case]:
    f = argosy.frame
    tab = fresh(table, of(pa.Table), "pyarrow.Table")
    right = fresh(lambda: pa.table(OTHER), of(pa.Table), "pyarrow.Table")
    none = a(None, _no_comm)

    def take(name: str, *positional: str) -> Callable[..., Any]:
        def call(**values: Any) -> Any:
            first = [values.pop(one) for one in positional if one in values]
            return getattr(f, name)(*first, **values)

        return call

    return [
        Case(name="spmd.sort", call=take("sort", "table", "by"), arguments={"table": tab, "by": a("a", either(names, expr), "sort"), "descending": a(True, either(flag, of(list, tuple))), "nulls_first": a(True, flag), "comm": none}, finish=rows),
        Case(name="spmd.unique", call=take("unique", "table", "subset"), arguments={"table": tab, "subset": a("k", names, "unique"), "comm": none}, finish=rows),
        Case(name="spmd.join", call=f.join, arguments={"left": tab, "right": right, "on": a("k", optional(names), "join", "keys"), "how": a("left", words("inner", "left", "right", "full", "semi", "anti", "cross")), "suffix": a("_r", some_text), "algorithm": a("hash", words("auto", "hash", "sort", "broadcast")), "comm": none}, finish=same_rows),
        Case(name="spmd.group_by", call=take("group_by", "table", "key"), arguments={"table": tab, "key": a("k", either(names, expr), "group_by"), "total": a(col("a").sum(), anything, "agg", "aggregate", "value"), "comm": none}, finish=same_rows, typo=False),
        *(Case(name=f"spmd.{name}", call=getattr(f, name), arguments={"left": tab, "right": tab, "comm": none}, finish=same_rows) for name in ("union", "intersect", "difference")),
        Case(name="spmd.concat", call=f.concat, arguments={"first": tab, "second": tab, "comm": none}, finish=rows),
        Case(name="spmd.shuffle", call=f.shuffle, arguments={"table": tab, "seed": a(3, whole(0)), "comm": none}, finish=rows),
        Case(name="spmd.sample", call=f.sample, arguments={"table": tab, "n": a(2, optional(whole(0)), "sample"), "seed": a(3, whole(0)), "comm": none}, finish=rows),
        Case(name="spmd.repartition", call=f.repartition, arguments={"table": tab, "by": a("k", optional(names), "repartition"), "comm": none}, finish=same_rows),
        Case(name="spmd.together", call=_together, arguments={"comm": none}, finish=lambda r: r),
    ]  # fmt: skip


def _no_comm(value: Any) -> bool:
    return value is None


def _together(comm: Any, **more: Any) -> Any:
    with argosy.frame.together(comm, **more):
        return "done"
