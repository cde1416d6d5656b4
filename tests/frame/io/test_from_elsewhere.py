"""Files that Polars, DuckDB and Spark have written: every column is what they meant, as key and as payload, on any
number of ranks, in memory or through the disk.

`data/spark*.parquet` were written by Spark 4.3: the same rows, once with its defaults, once with
`spark.sql.parquet.writeLegacyFormat=true` and `outputTimestampType=INT96`.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame.operators.laws import PLENTY, parts

import argosy
from argosy import DataFrame, col, count
from argosy.errors import TypeMismatch

DATA = Path(__file__).parent / "data"
ROWS = 30
MOMENT = dt.datetime(1969, 12, 31, 23)

DUCKDB = """
    select i::integer i, ('s' || (i % 5)) s, (i % 2)::boolean b, (i / 100.0)::decimal(30, 3) d, [i, i + 1] l,
    {'a': i, 'b': 'x'} st, map {'k': i} mp, uuid() u, time '10:00:00' t, interval (i) day iv, '{"a": 1}'::json js,
    timestamp '1969-12-31' + interval (i) hour ts, timestamptz '2020-01-01 00:00:00+00' tz, date '1950-01-01' dt,
    'abc'::blob bl, (case when i % 2 = 0 then 'x' else 'y' end)::enum('x', 'y') en, null nul, i::utinyint u8,
    [i, 2]::integer[2] arr, timestamp_ns '2020-01-01 00:00:00.000000001' tns, (case when i % 3 = 0 then i end)::float f
    from range(30) t(i)
"""


def polars_frame() -> pl.DataFrame:
    numbers = range(ROWS)
    return pl.DataFrame(
        {
            "i": numbers,
            "s": [None if i % 7 == 0 else f"text number {i % 5} that is long" for i in numbers],
            "b": [b"x" * (i % 20) for i in numbers],
            "category": pl.Series([f"c{i % 3}" for i in numbers], dtype=pl.Categorical),
            "enum": pl.Series(["uv"[i % 2] for i in numbers], dtype=pl.Enum(["u", "v"])),
            "l": [[f"e{i}"] * (i % 3) for i in numbers],
            "st": [{"x": i, "y": f"s{i}"} for i in numbers],
            "array": pl.Series([[i, i + 1] for i in numbers], dtype=pl.Array(pl.Int64, 2)),
            "decimal": pl.Series([Decimal(i).scaleb(-2) for i in numbers], dtype=pl.Decimal(20, 2)),
            "ts": [MOMENT + dt.timedelta(hours=i) for i in numbers],
            "tz": pl.Series([MOMENT] * ROWS).dt.replace_time_zone("Europe/Berlin"),
            "span": [dt.timedelta(seconds=i % 3) for i in numbers],
            "time": [dt.time(i % 24, 1) for i in numbers],
            "date": [dt.date(1969, 12, 30) + dt.timedelta(days=i % 5) for i in numbers],
            "nothing": [None] * ROWS,
            "u8": pl.Series([i % 4 for i in numbers], dtype=pl.UInt8),
            "f32": pl.Series([i % 4 / 2 for i in numbers], dtype=pl.Float32),
        }
    )


def travels(frame: DataFrame, wanted: list[dict[str, Any]], keys: bool = True) -> None:
    """All columns as payload, and each as key where it can be one."""
    by_number = sorted(wanted, key=lambda row: row["i"])
    for share in (PLENTY, 500):
        (whole, *others) = parts(frame.sort("i").plan, 3, share)
        assert pa.concat_tables([whole, *others]).to_pylist() == by_number
    for name in frame.columns if keys else ():
        if pa.types.is_nested(frame.schema.field(name).type):
            with pytest.raises(TypeMismatch, match="as a key"):
                frame.group_by(name)
            continue
        values = Counter(repr(row[name]) for row in wanted)
        groups = frame.group_by(name).agg(n=count(), first=col("i").min())
        found = pa.concat_tables(parts(groups.plan, 3, 500)).to_pylist()
        assert {repr(row[name]): row["n"] for row in found} == values
        matches = frame.select(col(name)).join(frame.select(col(name), other=col("i")), on=name)
        pairs = sum(number**2 for value, number in values.items() if value != "None")
        assert sum(table.num_rows for table in parts(matches.plan, 3)) == pairs


@pytest.mark.parametrize("way", ["memory", "parquet", "arrow"])
def test_what_polars_hands_out(way: str, tmp_path: Path) -> None:
    given = polars_frame()
    if way == "parquet":
        given.write_parquet(tmp_path / "p.parquet")
        frame = argosy.read_parquet(tmp_path / "p.parquet")
    elif way == "arrow":
        given.write_ipc(tmp_path / "p.arrow", compat_level=pl.CompatLevel.newest())
        frame = argosy.read_ipc(tmp_path / "p.arrow")
    else:
        frame = argosy.from_arrow(given)
    travels(frame, given.to_arrow().to_pylist(), keys=way == "parquet")
    assert frame.filter(col("s") == "text number 1 that is long").collect().num_rows == 5


def test_integers_of_128_bits_are_refused_with_what_to_do() -> None:
    with pytest.raises(TypeMismatch, match="integer of 128 bits, has to be cast first"):
        argosy.from_arrow(pl.DataFrame({"x": pl.Series([2**100], dtype=pl.Int128)}))


@pytest.mark.parametrize("way", ["memory", "parquet"])
def test_what_duckdb_hands_out(way: str, tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        given = connection.sql(DUCKDB)
        if way == "memory":
            table = given.to_arrow_table()
            frame = argosy.from_arrow(table)
        else:
            given.write_parquet(str(tmp_path / "d.parquet"))
            frame = argosy.read_parquet(tmp_path / "d.parquet")
            table = pq.read_table(tmp_path / "d.parquet", arrow_extensions_enabled=False)
    travels(frame, table.to_pylist(), keys=way == "parquet")
    one = table.column("u")[3].as_py()
    assert frame.filter(col("u") == one).collect().column("i").to_pylist() == [3]


@pytest.mark.parametrize("name", ["spark", "spark_legacy"])
def test_what_spark_has_written(name: str) -> None:
    frame = argosy.read_parquet(DATA / f"{name}.parquet")
    table = frame.collect()
    assert table.column("ts").cast(pa.timestamp("us")).to_pylist()[3] == dt.datetime(1760, 10, 1, 1, 2, 3, 456789)
    assert table.column("d38")[1].as_py() == Decimal("1234567890123456789012345678.0000000001")
    assert table.column("l").to_pylist()[:5] == [[], ["a"], ["a", None], ["a", None, "3"], None]
    assert table.column("st")[2].as_py() == {"x": 2, "y": [2, None]}
    travels(frame, table.to_pylist(), keys=name == "spark_legacy")


def test_moments_of_96_bits_outside_of_the_range_of_nanoseconds_are_right(tmp_path: Path) -> None:
    moments = [dt.datetime(9999, 12, 31), dt.datetime(1, 1, 1), dt.datetime(2020, 1, 1, 1, 1, 1, 123456), None]
    table = pa.table({"t": moments, "l": [[one] for one in moments]})
    pq.write_table(table, tmp_path / "t.parquet", use_deprecated_int96_timestamps=True)
    frame = argosy.read_parquet(tmp_path / "t.parquet")
    assert frame.collect().column("t").to_pylist() == moments
    assert frame.collect().column("l").to_pylist() == [[one] for one in moments]
    late = frame.filter(col("t") > dt.datetime(3000, 1, 1))
    assert late.collect().column("t").to_pylist() == moments[:1]
