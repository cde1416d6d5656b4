"""What methods of other dataframes are called here."""

from __future__ import annotations

from collections.abc import Sequence

_HERE = {
    "agg": "select(name=col(...).sum())",
    "aggregate": "group_by(...).agg(...)",
    "append": "concat(other)",
    "apply": "with_columns with an expression, or a task that takes the frame",
    "assign": "with_columns(name=...)",
    "astype": 'with_columns(a=col("a").cast("int64"))',
    "compute": "collect()",
    "cache": "persist()",
    "distinct": "unique(...)",
    "drop_duplicates": "unique(...)",
    "dropna": 'filter(col("a").is_not_null())',
    "drop_nulls": 'filter(col("a").is_not_null())',
    "dtypes": "schema",
    "except_": "difference(other)",
    "fillna": 'with_columns(a=col("a").fill_null(0))',
    "fill_null": 'with_columns(a=col("a").fill_null(0))',
    "groupby": "group_by(...)",
    "iloc": "slice(offset, length)",
    "limit": "head(n)",
    "loc": "filter(...) or select(...)",
    "merge": "join(other, on=...)",
    "nunique": 'select(n=col("a").n_unique())',
    "order_by": "sort(...)",
    "orderBy": "sort(...)",
    "query": "filter(...)",
    "shape": "len(frame) and frame.columns",
    "show": "head(n).collect()",
    "sort_values": "sort(...)",
    "to_arrow": "collect()",
    "to_csv": "write_csv(folder)",
    "to_parquet": "write_parquet(folder)",
    "union_all": "concat(other)",
    "where": "filter(...)",
    "with_column": "with_columns(name=...)",
    "withColumn": "with_columns(name=...)",
}


def no_attribute(name: str, columns: Sequence[str]) -> AttributeError:
    """Says what to write instead, where that is known."""
    if name in columns:
        hint = f'; for the column write frame["{name}"] or col("{name}")'
    elif name in _HERE:
        hint = f"; here it is {_HERE[name]}"
    else:
        hint = ""
    return AttributeError(f"a frame has no {name!r}{hint}")
