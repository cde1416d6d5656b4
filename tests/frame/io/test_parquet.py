"""Parquet files, in pieces of one row group."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame.io.reading import read_all
from frame.io.tables import same, tables
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import fs

from argosy.errors import BadFile, SchemaMismatch, UnknownColumn
from argosy.frame.expressions.evaluate import evaluate
from argosy.frame.expressions.nodes import Expr, col
from argosy.frame.io.parquet import parquet_source

TABLE = pa.table({"a": range(100), "b": [f"text {place % 7}" for place in range(100)], "c": np.linspace(0, 1, 100)})


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 5))
def test_every_type_comes_back_as_it_was_written(table: pa.Table, group_rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(table, f"{folder}/x.parquet", row_group_size=group_rows)
        source = parquet_source(f"{folder}/x.parquet")
        assert sum(piece.num_rows or 0 for piece in source.pieces) == table.num_rows
        assert all(piece.num_rows is not None and piece.num_rows <= group_rows for piece in source.pieces)
        assert same(read_all(source), table)
        assert same(read_all(source, list(reversed(table.column_names))), table.select(table.column_names[::-1]))


floats = st.sampled_from([0.0, -0.0, 1.5, -3.0, float("nan"), float("inf"), None])
small = st.integers(-3, 3) | st.none()
rows = st.lists(st.tuples(small, floats, st.sampled_from(["", "a", "b", "é", None])), max_size=20)
leaves = st.one_of(
    st.builds(lambda n: col("i") > n, st.integers(-4, 4)),
    st.builds(lambda n: col("i") != n, st.integers(-4, 4)),
    st.builds(lambda n: col("f") < n, st.sampled_from([-3.0, 0.0, 1.5])),
    st.builds(lambda n: col("f") != n, st.sampled_from([-3.0, 0.0, 1.5])),
    st.builds(lambda n: col("s") <= n, st.sampled_from(["", "a", "é"])),
    st.builds(lambda ns: col("i").is_in(ns), st.lists(st.integers(-4, 4), max_size=3)),
    st.sampled_from([col("i").is_null(), col("f").is_not_null(), col("f").is_nan(), col("i") + 1 > col("f")]),
)
predicates = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map(lambda one: ~one),
        st.tuples(inner, inner).map(lambda pair: pair[0] & pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] | pair[1]),
    ),
    max_leaves=4,
)


@settings(max_examples=100, deadline=None)
@given(rows, predicates, st.integers(1, 4), st.sampled_from([None, [], ["s"], ["f", "i"]]))
def test_a_predicate_leaves_the_rows_for_which_it_is_true(
    rows: list[tuple[int | None, float | None, str | None]], predicate: Expr, group_rows: int, columns: list[str] | None
) -> None:
    schema = pa.schema([("i", pa.int64()), ("f", pa.float64()), ("s", pa.string())])
    table = pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(table, f"{folder}/x.parquet", row_group_size=group_rows)
        got = read_all(parquet_source(folder), columns, predicate)
    wanted = table.filter(evaluate(predicate, table))
    if columns == []:
        assert got.num_rows == wanted.num_rows
    else:
        assert same(got, wanted if columns is None else wanted.select(columns))


def test_row_groups_that_cannot_match_are_not_read(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "x.parquet", row_group_size=10)
    source = parquet_source(tmp_path)
    assert [piece.start for piece in source.prune(col("a") >= 85)] == [8, 9]
    assert [piece.start for piece in source.prune((col("c") > 0.95) & (col("b").str.upper() == "TEXT 1"))] == [9]
    assert len(source.prune(col("b").str.upper() == "TEXT 1")) == 10
    assert source.prune(None) == source.pieces
    assert source.prune(col("a") > 1000) == ()


def test_folders_named_by_key_and_value_become_columns(tmp_path: Path) -> None:
    for year in ("2023", "2024", "__HIVE_DEFAULT_PARTITION__"):
        for city in ("Bonn", "01"):
            folder = tmp_path / f"year={year}" / f"city={city}"
            folder.mkdir(parents=True)
            pq.write_table(TABLE.slice(0, 2), folder / "x.parquet")
    source = parquet_source(tmp_path)
    assert source.schema == pa.schema([*TABLE.schema, ("year", pa.int64()), ("city", pa.string())])
    assert read_all(source, ["year", "city"]).slice(0, 8).to_pylist() == [
        {"year": year, "city": city} for year in (2023, 2024) for city in ("01", "01", "Bonn", "Bonn")
    ]
    assert {piece.path for piece in source.prune((col("year") == 2024) & (col("a") == 0))} == {
        str(tmp_path / f"year=2024/city={city}/x.parquet") for city in ("01", "Bonn")
    }
    assert read_all(source, ["a", "city"], col("year").is_null() & (col("a") > 0)).to_pydict() == {
        "a": [1, 1], "city": ["01", "Bonn"],
    }  # fmt: skip
    assert read_all(source, [], col("year") > 2023).num_rows == 4


def test_a_folder_beats_a_column_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "a=7").mkdir()
    pq.write_table(TABLE, tmp_path / "a=7/x.parquet")
    source = parquet_source(tmp_path)
    assert source.schema.names == ["b", "c", "a"]
    assert set(read_all(source)["a"].to_pylist()) == {7}
    assert read_all(source, None, col("a") == 3).num_rows == 0


def test_folders_with_other_keys_do_not_fit(tmp_path: Path) -> None:
    for folder in ("year=1", "month=1"):
        (tmp_path / folder).mkdir()
        pq.write_table(TABLE, tmp_path / folder / "x.parquet")
    with pytest.raises(SchemaMismatch, match=r"year=1/x\.parquet lies in folders with the keys year, .* with month"):
        parquet_source(tmp_path)


def test_the_order_of_columns_may_differ_between_files(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    pq.write_table(TABLE.select(["c", "a", "b"]), tmp_path / "b.parquet")
    assert read_all(parquet_source(tmp_path)).equals(pa.concat_tables([TABLE, TABLE]))


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (
            {"a": pa.array([1], pa.int32()), "b": ["x"]},
            r"column 'a' is int32 in .*2\.parquet, but int64 in .*1\.parquet",
        ),
        ({"a": [1]}, r"2\.parquet has no column 'b', but .*1\.parquet has"),
        ({"a": [1], "b": ["x"], "c": [1]}, r"2\.parquet has a column 'c', but .*1\.parquet has not"),
    ],
)
def test_files_that_differ_are_named_with_the_column(tmp_path: Path, other: dict[str, object], said: str) -> None:
    pq.write_table(pa.table({"a": [1], "b": ["x"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table(other), tmp_path / "2.parquet")
    with pytest.raises(SchemaMismatch, match=said):
        parquet_source(tmp_path)


def test_only_some_columns_can_be_asked_for(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "x.parquet")
    source = parquet_source(tmp_path, columns=["c", "a"])
    assert source.schema.names == ["c", "a"]
    assert read_all(source).equals(TABLE.select(["c", "a"]))
    with pytest.raises(UnknownColumn, match="there is no column 'aa', did you mean 'a'"):
        parquet_source(tmp_path, columns=["aa"])
    with pytest.raises(UnknownColumn):
        list(source.read(source.pieces[0], ["b"], None, 1 << 20))


def test_names_with_dots_and_nested_columns_stay_apart(tmp_path: Path) -> None:
    table = pa.table({"a.b": [1, 2], "a": [{"b": 3}, {"b": 4}], "a.b.c": ["x", "y"]})
    pq.write_table(table, tmp_path / "x.parquet")
    source = parquet_source(tmp_path)
    for name in table.column_names:
        assert read_all(source, [name]).equals(table.select([name]))


def test_the_bytes_of_a_piece_are_not_underestimated_by_much(tmp_path: Path) -> None:
    num_rows = 20_000
    generator = np.random.default_rng(0)
    table = pa.table(
        {
            "int": np.zeros(num_rows, dtype=np.int64),
            "float": generator.random(num_rows),
            "few": pa.array([f"one of a few {place % 5}" for place in range(num_rows)]),
            "many": pa.array([f"user_{place:08d}" for place in range(num_rows)]),
            "list": pa.array([[1, 2, 3]] * num_rows),
            "bool": pa.array([True, None] * (num_rows // 2)),
        }
    )
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=5000)
    source = parquet_source(tmp_path)
    for name in table.column_names:
        estimate = sum(piece.nbytes_of([name]) for piece in source.pieces)
        assert 0.95 * table[name].nbytes <= estimate <= 2 * table[name].nbytes, name


def test_tables_are_of_about_the_size_that_was_asked_for(tmp_path: Path) -> None:
    table = pa.table({"a": np.arange(200_000), "b": [f"text {place % 3}" for place in range(200_000)]})
    pq.write_table(table, tmp_path / "x.parquet")
    source = parquet_source(tmp_path)
    (piece,) = source.pieces
    sizes = [one.nbytes for one in source.read(piece, None, None, batch_nbytes=200_000)]
    assert len(sizes) > 10
    assert max(sizes) <= 1.5 * 200_000
    assert read_all(source, batch_nbytes=200_000).equals(table)


def test_another_file_system_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    pq.write_table(TABLE, tmp_path / "in/x.parquet", row_group_size=10)
    source = parquet_source("in/*.parquet", filesystem=fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()))
    assert len(source.prune(col("a") < 15)) == 2
    assert read_all(source, None, col("a") < 15).equals(TABLE.slice(0, 15))


def test_files_without_rows_have_a_schema_and_no_pieces(tmp_path: Path) -> None:
    pq.write_table(TABLE.slice(0, 0), tmp_path / "x.parquet")
    source = parquet_source(tmp_path)
    assert source.pieces == ()
    assert read_all(source).equals(TABLE.slice(0, 0))
    assert source.describe() == f"Parquet {tmp_path}/x.parquet, 0 pieces, 0 rows"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lambda good: b"", "the file is empty: 0 bytes"),
        (lambda good: good[:-20], "cannot be read as a Parquet file"),
        (lambda good: b"hello" * 20, "cannot be read as a Parquet file"),
        (lambda good: good[:-8] + b"\xff\xff\xff\x7fPAR1", "cannot be read as a Parquet file"),
        (lambda good: good[:-30] + b"\xff" * 22 + good[-8:], "cannot be read as a Parquet file"),
    ],
)
def test_a_file_that_is_no_parquet_is_named(tmp_path: Path, content: object, said: str) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    good = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "bad.parquet").write_bytes(content(good))  # type: ignore[operator]
    with pytest.raises(BadFile, match=said) as caught:
        parquet_source(tmp_path)
    assert caught.value.path == str(tmp_path / "bad.parquet")


def test_rows_that_are_corrupt_are_found_when_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(TABLE, path, compression="zstd", write_page_checksum=True)
    content = bytearray(path.read_bytes())
    content[40:400] = b"\x13" * 360
    path.write_bytes(content)
    source = parquet_source(path)
    with pytest.raises(BadFile, match=r"x\.parquet: cannot be read as a Parquet file"):
        read_all(source)


def test_a_file_that_vanishes_or_changes_after_planning_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(TABLE, path, row_group_size=10)
    source = parquet_source(path)
    pq.write_table(TABLE.slice(0, 13), path, row_group_size=7)
    with pytest.raises(BadFile, match="has changed since the frame was made"):
        read_all(source)
    path.unlink()
    with pytest.raises(BadFile, match="the file is gone"):
        read_all(source)
    with pytest.raises(BadFile, match="the file is gone"):
        source.prune(col("a") > 3)


def test_an_error_of_the_predicate_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "x.parquet")
    with pytest.raises(Exception, match="Failed to parse string") as caught:
        read_all(parquet_source(tmp_path), None, col("b").cast("int64") > 0)
    assert not isinstance(caught.value, BadFile)
