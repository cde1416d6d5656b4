"""Arrow IPC files and streams."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from frame.io.reading import read_all
from frame.io.tables import same, tables
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import fs

from argosy.errors import BadFile, SchemaMismatch
from argosy.frame.expressions.nodes import col
from argosy.frame.io.ipc import ipc_source

TABLE = pa.table({"a": np.arange(100), "b": [f"text {place}" for place in range(100)]})


def write(
    path: Path, table: pa.Table, batch_rows: int = 10, stream: bool = False, compression: str | None = None
) -> Path:
    options = pa.ipc.IpcWriteOptions(compression=compression, unify_dictionaries=True)
    opened = pa.ipc.new_stream if stream else pa.ipc.new_file
    with opened(str(path), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=batch_rows)
    return path


@settings(max_examples=50, deadline=None)
@given(tables(), st.integers(1, 5), st.booleans(), st.sampled_from([None, "lz4", "zstd"]))
def test_every_type_comes_back_as_it_was_written(
    table: pa.Table, batch_rows: int, stream: bool, compression: str | None
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "x.arrow", table, batch_rows, stream, compression)
        source = ipc_source(path)
        assert same(read_all(source), table)
        assert same(read_all(source, table.column_names[:1]), table.select([0]))
        assert read_all(source, []).num_rows == table.num_rows
        if not stream:
            assert [piece.num_rows for piece in source.pieces] == [
                min(batch_rows, table.num_rows - start) for start in range(0, table.num_rows, batch_rows)
            ]


def test_an_uncompressed_file_is_not_copied(tmp_path: Path) -> None:
    table = pa.table({"a": np.arange(1_000_000)})
    source = ipc_source(write(tmp_path / "x.arrow", table, batch_rows=1_000_000))
    (piece,) = source.pieces
    before = pa.total_allocated_bytes()
    got = list(source.read(piece, None, None, batch_nbytes=1 << 20))
    assert pa.total_allocated_bytes() - before < 100_000
    assert len(got) == 8
    assert pa.concat_tables(got).equals(table)


def test_a_compressed_piece_is_estimated_by_its_rows(tmp_path: Path) -> None:
    table = pa.table({"a": np.zeros(100_000, dtype=np.int64)})
    source = ipc_source(write(tmp_path / "x.arrow", table, batch_rows=50_000, compression="zstd"))
    assert [piece.nbytes for piece in source.pieces] == [400_000, 400_000]


def test_a_predicate_and_keys_of_folders_are_applied(tmp_path: Path) -> None:
    for key in ("1", "2"):
        (tmp_path / f"k={key}").mkdir()
        write(tmp_path / f"k={key}/x.feather", TABLE)
    source = ipc_source(tmp_path)
    assert len(source.prune(col("k") == 2)) == 10
    got = read_all(source, ["k", "b"], (col("a") == 3) & (col("k") > 1))
    assert got.to_pydict() == {"k": [2], "b": ["text 3"]}
    assert source.describe() == f"Arrow IPC {tmp_path}/k=1/x.feather and 1 more, 20 pieces, 200 rows"


def test_another_file_system_is_read_too(tmp_path: Path) -> None:
    write(tmp_path / "x.arrow", TABLE)
    write(tmp_path / "y.arrows", TABLE, stream=True)
    source = ipc_source("", filesystem=fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()))
    assert read_all(source).equals(pa.concat_tables([TABLE, TABLE]))
    assert [piece.num_rows for piece in source.pieces] == [None] * 11


def test_files_that_differ_are_named_with_the_column(tmp_path: Path) -> None:
    write(tmp_path / "1.arrow", TABLE)
    write(tmp_path / "2.arrow", TABLE.set_column(0, "a", pa.array(np.arange(100.0))))
    with pytest.raises(SchemaMismatch, match=r"column 'a' is double in .*2\.arrow, but int64 in .*1\.arrow"):
        ipc_source(tmp_path)


@pytest.mark.parametrize("content", [lambda good: b"", lambda good: good[:-30], lambda good: b"hello" * 20])
def test_a_file_that_is_no_arrow_is_named(tmp_path: Path, content: object) -> None:
    path = write(tmp_path / "x.arrow", TABLE)
    path.write_bytes(content(path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(BadFile, match=r"the file is empty|cannot be read as an Arrow IPC file or stream") as caught:
        ipc_source(tmp_path)
    assert caught.value.path == str(path)


def test_a_truncated_stream_is_found_when_it_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "x.arrows", TABLE, stream=True)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(BadFile, match=r"x\.arrows: cannot be read as an Arrow IPC"):
        read_all(ipc_source(path))


def test_a_file_that_vanishes_or_changes_after_planning_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "x.arrow", TABLE)
    source = ipc_source(path)
    write(path, TABLE.slice(0, 20))
    with pytest.raises(BadFile, match="has changed since the frame was made"):
        read_all(source)
    path.unlink()
    with pytest.raises(BadFile, match="the file is gone"):
        read_all(source)
