"""CSV files, in pieces of whole lines."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from frame.io.reading import read_all
from frame.io.tables import TEXT, same
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import fs

from argosy.errors import BadFile, SchemaMismatch, UnknownColumn
from argosy.frame.expressions.nodes import col
from argosy.frame.io import lines
from argosy.frame.io.csv import csv_source
from argosy.frame.io.write import commit, open_stage, write_part


@pytest.fixture
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are cut every 1,000 bytes, and only the first 400 are looked at for types."""
    monkeypatch.setattr(lines, "RANGE_NBYTES", 1000)
    monkeypatch.setattr(lines, "FIRST_NBYTES", 400)


def write(path: Path, text: str) -> Path:
    path.write_text(text, newline="")
    return path


def test_types_are_inferred_and_null_is_told_from_empty_text(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", 'i,f,s,d,t,b\n1,1.5,x,2024-01-02,2024-01-02 03:04:05,true\n,nan,"",,,\n')
    table = read_all(csv_source(path))
    assert [str(kind) for kind in table.schema.types] == [
        "int64", "double", "string", "date32[day]", "timestamp[us]", "bool",
    ]  # fmt: skip
    assert table["s"].to_pylist() == ["x", ""]
    assert table["i"].to_pylist() == [1, None]
    assert repr(table["f"].to_pylist()) == "[1.5, nan]"


def test_options_say_how_the_file_is_written(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "1;NA\n2;x\n")
    source = csv_source(path, delimiter=";", header=False, null_values=["NA"], column_types={"f0": "int8"})
    assert read_all(source).equals(pa.table({"f0": pa.array([1, 2], pa.int8()), "f1": [None, "x"]}))
    with pytest.raises(UnknownColumn, match="'f9'"):
        csv_source(path, header=False, delimiter=";", column_types={"f9": pa.int64()})


def test_types_fit_the_first_blocks_of_all_files(tmp_path: Path) -> None:
    write(tmp_path / "1.csv", "a,b,c,d\n1,,2024-01-01,1\n")
    write(tmp_path / "2.csv", "d,a,b,c\nx,1.5,,2024-01-01 10:00:00\n")
    source = csv_source(tmp_path)
    assert [str(kind) for kind in source.schema.types] == ["double", "string", "timestamp[us]", "string"]
    assert read_all(source)["a"].to_pylist() == [1.0, 1.5]


def test_files_with_other_columns_do_not_fit(tmp_path: Path) -> None:
    write(tmp_path / "1.csv", "a,b\n1,2\n")
    write(tmp_path / "2.csv", "a\n1\n")
    with pytest.raises(SchemaMismatch, match=r"2\.csv has no column 'b', but .*1\.csv has"):
        csv_source(tmp_path)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(-(2**63), 2**63 - 1) | st.none(), st.floats() | st.none(), TEXT | st.none()), max_size=12
    )
)
def test_what_is_written_as_csv_comes_back(rows: list[tuple[int | None, float | None, str | None]]) -> None:
    schema = pa.schema([("i", pa.int64()), ("f", pa.float64()), ("s", pa.string())])
    table = pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)
    with tempfile.TemporaryDirectory() as folder:
        stage = open_stage(f"{folder}/out")
        write_part(stage, "csv", 0, iter([table]), schema)
        commit(stage)
        source = csv_source(f"{folder}/out", column_types={"i": "int64", "f": "float64", "s": "string"})
        assert same(read_all(source), table)


def test_a_null_in_the_only_column_is_a_row(tmp_path: Path) -> None:
    table = pa.table({"a": [1, None, 3, None]})
    stage = open_stage(tmp_path / "out")
    write_part(stage, "csv", 0, iter([table]), table.schema)
    commit(stage)
    assert read_all(csv_source(tmp_path / "out")).equals(table)


@pytest.mark.usefixtures("small_ranges")
@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(0, 10**9) | st.none(), min_size=1, max_size=400),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
)
def test_a_cut_file_has_every_row_once_in_order(
    values: list[int | None], header: bool, last_line_ends: bool, newline: str
) -> None:
    rows = [f'{"" if value is None else value},"say ""{place}"""' for place, value in enumerate(values)]
    text = newline.join([*(["v,s"] if header else []), *rows]) + (newline if last_line_ends else "")
    with tempfile.TemporaryDirectory() as folder:
        source = csv_source(write(Path(folder) / "x.csv", text), header=header, column_types=None)
        assert len(source.pieces) == -(-len(text) // 1000)
        table = read_all(source).rename_columns(["v", "s"])
    assert [None if value is None else int(value) for value in table["v"].to_pylist()] == values
    assert table["s"].to_pylist() == [f'say "{place}"' for place in range(len(values))]


@pytest.mark.usefixtures("small_ranges")
def test_a_line_longer_than_a_range_is_read_once(tmp_path: Path) -> None:
    texts = ["short", "x" * 3500, "y" * 900, "z" * 2100]
    source = csv_source(write(tmp_path / "x.csv", "t,n\n" + "".join(f"{text},1\n" for text in texts)))
    assert len(source.pieces) == 7
    assert read_all(source)["t"].to_pylist() == texts


@pytest.mark.usefixtures("small_ranges")
def test_another_file_system_is_read_too(tmp_path: Path) -> None:
    write(tmp_path / "x.csv", "a,b\n" + "1,x\n" * 1000)
    source = csv_source("x.csv", filesystem=fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()))
    assert len(source.pieces) == 5
    assert read_all(source).num_rows == 1000


@pytest.mark.usefixtures("small_ranges")
def test_quoted_lines_at_the_start_keep_a_file_in_one_piece(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "a,b\n" + '1,"two\nlines"\n' * 500)
    source = csv_source(path)
    assert len(source.pieces) == 1
    assert set(read_all(source)["b"].to_pylist()) == {"two\nlines"}


@pytest.mark.usefixtures("small_ranges")
def test_quoted_lines_later_are_found_and_the_way_out_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "a,b\n" + "1,x\n" * 500 + '1,"two\nlines"\n' + "1,x\n" * 500)
    source = csv_source(path)
    assert len(source.pieces) > 1
    with pytest.raises(BadFile, match=r"x\.csv: a quoted value seems to span lines; .*newlines_in_values=True"):
        read_all(source)
    whole = csv_source(path, newlines_in_values=True)
    assert len(whole.pieces) == 1
    assert read_all(whole).num_rows == 1001


@pytest.mark.usefixtures("small_ranges")
@pytest.mark.parametrize("columns", [None, ["b"]])
def test_a_later_value_that_does_not_fit_is_named_with_its_line(tmp_path: Path, columns: list[str] | None) -> None:
    path = write(tmp_path / "x.csv", "a,b\n" + "x,2\n" * 1000 + "x,bad\n" + "x,2\n" * 1000)
    with pytest.raises(
        BadFile, match=r"x\.csv: line 1,002, column 'b' does not fit its type: int64.*'bad'.*column_types"
    ):
        read_all(csv_source(path), columns)
    assert read_all(csv_source(path), ["a"]).num_rows == 2001
    assert read_all(csv_source(path), []).num_rows == 2001


@pytest.mark.usefixtures("small_ranges")
def test_a_row_with_too_few_values_is_named_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "a,b\n" + "x,2\n" * 1000 + "x")
    with pytest.raises(BadFile, match=r"x\.csv: line 1,002, Expected 2 columns, got 1"):
        read_all(csv_source(path))


def test_a_predicate_and_a_projection_are_applied(tmp_path: Path) -> None:
    (tmp_path / "k=3").mkdir()
    write(tmp_path / "k=3/x.csv", "a,b\n1,x\n2,y\n3,z\n")
    source = csv_source(tmp_path)
    assert read_all(source, ["b", "k"], (col("a") > 1) & (col("k") == 3)).to_pydict() == {"b": ["y", "z"], "k": [3, 3]}
    assert source.prune(col("k") == 4) == ()
    assert source.describe() == f"CSV {tmp_path}/k=3/x.csv, 1 piece"


def test_a_compressed_file_is_read_in_one_piece(tmp_path: Path) -> None:
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,x\n" * 1000))
    assert read_all(csv_source(tmp_path)).num_rows == 1000
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,x\n" * 1000)[:-20])
    with pytest.raises(BadFile, match=r"x\.csv\.gz"):
        read_all(csv_source(tmp_path))


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "the file is empty"), (b"\n", "cannot be read as CSV"), (b"a,a\n1,2\n", "two columns of the name 'a'")],
)
def test_a_file_that_is_no_csv_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(BadFile, match=said) as caught:
        csv_source(tmp_path)
    assert caught.value.path == str(tmp_path / "x.csv")


def test_text_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"a,b\n1,\xff\xfe\n")
    with pytest.raises(BadFile, match=r"line 2, column 'b' does not fit its type: string: invalid UTF8"):
        read_all(csv_source(tmp_path))


@pytest.mark.parametrize("text", ["a,b\n", "a,b", "a,b\r\n"])
def test_a_header_alone_is_a_table_without_rows(tmp_path: Path, text: str) -> None:
    write(tmp_path / "x.csv", text)
    table = read_all(csv_source(tmp_path))
    assert table.schema == pa.schema([("a", pa.string()), ("b", pa.string())])
    assert table.num_rows == 0


def test_a_file_that_vanishes_after_planning_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "a,b\n1,2\n")
    source = csv_source(path)
    path.unlink()
    with pytest.raises(BadFile, match=r"x\.csv: the file is gone"):
        read_all(source)
