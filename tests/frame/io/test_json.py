"""Newline-delimited JSON, in pieces of whole lines."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from frame.io.reading import read_all
from frame.io.tables import TEXT
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.errors import BadFile, SchemaMismatch
from argosy.frame.expressions.nodes import col
from argosy.frame.io import lines
from argosy.frame.io.json import json_source


@pytest.fixture
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are cut every 1,000 bytes, and only the first 400 are looked at for types."""
    monkeypatch.setattr(lines, "RANGE_NBYTES", 1000)
    monkeypatch.setattr(lines, "FIRST_NBYTES", 400)


def write(path: Path, *objects: object) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in objects))
    return path


@pytest.mark.usefixtures("small_ranges")
@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(-(2**40), 2**40) | st.none(), TEXT), min_size=1, max_size=150), st.booleans())
def test_a_cut_file_has_every_row_once_in_order(rows: list[tuple[int | None, str]], blank_lines: bool) -> None:
    written = [json.dumps({"i": number, "s": text}, ensure_ascii=False) for number, text in rows]
    text = ("\n\n" if blank_lines else "\n").join(written)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.jsonl"
        path.write_text(text, newline="")
        source = json_source(path, column_types={"i": "int64", "s": "string"})
        assert len(source.pieces) == -(-len(text.encode()) // 1000)
        table = read_all(source)
    assert list(zip(*table.to_pydict().values(), strict=True)) == rows


def test_nested_fields_and_missing_ones_are_read(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", {"a": {"b": 1}, "l": [1, 2]}, {"l": None, "t": "2024-01-02 03:04:05"})
    table = read_all(json_source(path))
    assert table["a"].to_pylist() == [{"b": 1}, None]
    assert table["l"].to_pylist() == [[1, 2], None]
    assert table.schema.field("t").type == pa.timestamp("us")


def test_types_fit_the_first_blocks_of_all_files(tmp_path: Path) -> None:
    write(tmp_path / "1.jsonl", {"a": 1, "n": None})
    write(tmp_path / "2.jsonl", {"b": "x", "a": 1.5, "n": None})
    source = json_source(tmp_path)
    assert source.schema == pa.schema([("a", pa.float64()), ("n", pa.string()), ("b", pa.string())])
    assert read_all(source).to_pydict() == {"a": [1.0, 1.5], "n": [None, None], "b": [None, "x"]}


def test_files_whose_types_do_not_fit_are_named_with_the_column(tmp_path: Path) -> None:
    write(tmp_path / "1.jsonl", {"a": 1})
    write(tmp_path / "2.jsonl", {"a": "x"})
    with pytest.raises(SchemaMismatch, match=r"'a' is string in .*2\.jsonl, but int64 in .*1\.jsonl; say column_types"):
        json_source(tmp_path)


@pytest.mark.usefixtures("small_ranges")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"a": 1.5, "b": "x"}', r"line 501, column 'a' does not fit its type int64: .*1\.5; say column_types"),
        ('{"a": "x", "b": "x"}', r"line 501, column 'a' does not fit its type int64: .*from number to string"),
        ('{"a": 1, "c": "x"}', "line 501 has a field that the first lines do not have: 'c'"),
        ('{"a": 1, "b": "x"', "line 501 is not one JSON object"),
        ("hello", "line 501 is not one JSON object"),
    ],
)
def test_a_later_line_that_does_not_fit_is_named(tmp_path: Path, line: str, said: str) -> None:
    good = '{"a": 1, "b": "x"}\n'
    path = tmp_path / "x.jsonl"
    path.write_text(good * 500 + line + "\n" + good * 500)
    source = json_source(path)
    assert len(source.pieces) > 10
    with pytest.raises(BadFile, match=rf"x\.jsonl: {said}"):
        read_all(source)


@pytest.mark.usefixtures("small_ranges")
def test_columns_that_nobody_asks_for_are_not_looked_at(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", *[{"a": 1, "b": 2}] * 100, {"a": 1.5, "b": 3, "c": 4})
    source = json_source(path)
    assert read_all(source, ["b"], col("b") > 2).to_pydict() == {"b": [3]}


def test_rows_can_be_counted_without_columns(tmp_path: Path) -> None:
    source = json_source(write(tmp_path / "x.jsonl", {"a": 1}, {"b": 2}, {}))
    assert read_all(source, []).num_rows == 3


def test_keys_of_folders_and_compression_work(tmp_path: Path) -> None:
    (tmp_path / "k=x").mkdir()
    (tmp_path / "k=x/a.json.gz").write_bytes(gzip.compress(b'{"a": 1}\n' * 10))
    assert read_all(json_source(tmp_path), None, col("k") == "x").to_pydict() == {"a": [1] * 10, "k": ["x"] * 10}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "the file is empty"),
        ('[{"a": 1}, {"a": 2}]', "is one JSON array; write one object a line"),
        ("a,b\n1,2\n", "cannot be read as newline-delimited JSON"),
        ("{}\n", "no object with a field"),
    ],
)
def test_a_file_that_is_no_json_is_named(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(BadFile, match=said) as caught:
        json_source(tmp_path)
    assert caught.value.path == str(tmp_path / "x.json")


def test_a_file_that_vanishes_after_planning_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", {"a": 1})
    source = json_source(path)
    path.unlink()
    with pytest.raises(BadFile, match=r"x\.jsonl: the file is gone"):
        read_all(source)
