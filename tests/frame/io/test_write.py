"""Folders that are written all or nothing."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame.io.tables import same, tables
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv, fs

from argosy.errors import DiskFull, SchemaMismatch, TypeMismatch
from argosy.frame.io.write import Stage, abort, commit, open_stage, write_part

TABLE = pa.table({"a": [1, 2, None], "b": ["x", "", None]})


def write(target: Path, *parts: pa.Table, overwrite: bool = False) -> None:
    stage = open_stage(target, overwrite=overwrite)
    for index, part in enumerate(parts):
        assert write_part(stage, "parquet", index, iter([part]), part.schema) == part.num_rows
    commit(stage)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 12), max_size=3), tables())
def test_what_is_written_as_parquet_comes_back(cuts: list[int], table: pa.Table) -> None:
    edges = [0, *sorted(min(cut, table.num_rows) for cut in cuts), table.num_rows]
    slices = [table.slice(start, stop - start) for start, stop in pairwise(edges)]
    with tempfile.TemporaryDirectory() as folder:
        stage = open_stage(Path(folder) / "out")
        assert write_part(stage, "parquet", 0, iter(slices), table.schema) == table.num_rows
        commit(stage)
        assert same(pq.read_table(Path(folder) / "out" / "part-00000.parquet"), table)


def test_a_folder_appears_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    write(tmp_path / "deep" / "out", TABLE, TABLE.slice(0, 0))
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]
    assert sorted(path.name for path in (tmp_path / "deep/out").iterdir()) == [
        "part-00000.parquet",
        "part-00001.parquet",
    ]
    assert pq.read_schema(tmp_path / "deep/out/part-00001.parquet").equals(TABLE.schema)


def test_before_the_commit_there_is_no_target(tmp_path: Path) -> None:
    stage = pickle.loads(pickle.dumps(open_stage(tmp_path / "out")))
    write_part(stage, "parquet", 0, iter([TABLE]), TABLE.schema)
    (hidden,) = tmp_path.iterdir()
    assert hidden.name.startswith(".out.argosy-")
    abort(stage)
    abort(stage)
    assert not list(tmp_path.iterdir())


def test_a_part_written_again_replaces_the_first(tmp_path: Path) -> None:
    stage = open_stage(tmp_path / "out")
    write_part(stage, "parquet", 0, iter([TABLE, TABLE]), TABLE.schema)
    write_part(stage, "parquet", 0, iter([TABLE]), TABLE.schema)
    commit(stage)
    assert pq.read_table(tmp_path / "out").num_rows == 3


def test_a_part_that_fails_leaves_nothing_of_itself(tmp_path: Path) -> None:
    def broken() -> Iterator[pa.Table]:
        yield TABLE
        raise RuntimeError("no more")

    for kind in ("parquet", "csv"):
        stage = open_stage(tmp_path / "out")
        with pytest.raises(RuntimeError, match="no more"):
            write_part(stage, kind, 0, broken(), TABLE.schema)
        assert not list(Path(stage.folder).iterdir())
        abort(stage)


@pytest.mark.parametrize("there", ["file", "folder"])
def test_what_is_there_is_refused_unless_it_may_be_overwritten(tmp_path: Path, there: str) -> None:
    target = tmp_path / "out"
    old = target if there == "file" else target / "old.txt"
    old.parent.mkdir(exist_ok=True)
    old.write_text("precious")
    with pytest.raises(FileExistsError, match="say overwrite=True"):
        open_stage(target)
    assert old.read_text() == "precious"
    write(target, TABLE, overwrite=True)
    assert [path.name for path in target.iterdir()] == ["part-00000.parquet"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_fills_up_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    stage = open_stage(tmp_path / "out")
    write(tmp_path / "out", TABLE)
    with pytest.raises(FileExistsError):
        commit(stage)
    abort(stage)
    assert pq.read_table(tmp_path / "out").equals(TABLE)


def test_an_empty_folder_may_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write(tmp_path / "out", TABLE)
    assert pq.read_table(tmp_path / "out").num_rows == 3


def test_the_folder_we_are_in_is_never_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileExistsError, match="the folder we are in"):
        open_stage(".", overwrite=True)


def test_the_source_of_a_write_may_be_its_target(tmp_path: Path) -> None:
    write(tmp_path / "out", TABLE)
    stage = open_stage(tmp_path / "out", overwrite=True)
    batches = pq.ParquetFile(tmp_path / "out/part-00000.parquet").iter_batches()
    write_part(stage, "parquet", 0, (pa.Table.from_batches([batch]) for batch in batches), TABLE.schema)
    commit(stage)
    assert pq.read_table(tmp_path / "out").equals(TABLE)


def test_row_groups_are_of_a_sensible_size(tmp_path: Path) -> None:
    stage = open_stage(tmp_path / "out")
    small = (pa.table({"a": range(place, place + 100)}) for place in range(0, 10_000, 100))
    write_part(stage, "parquet", 0, small, pa.schema([("a", pa.int64())]), row_group_nbytes=8_000)
    large = pa.table({"a": range(10_000)})
    write_part(stage, "parquet", 1, iter([large]), large.schema, row_group_nbytes=8_000)
    for index in range(2):
        footer = pq.read_metadata(f"{stage.folder}/part-{index:05d}.parquet")
        assert [footer.row_group(group).num_rows for group in range(footer.num_row_groups)] == [1000] * 10
    abort(stage)


def test_csv_tells_null_from_empty_text(tmp_path: Path) -> None:
    stage = open_stage(tmp_path / "out")
    write_part(stage, "csv", 0, iter([TABLE]), TABLE.schema, delimiter=";")
    commit(stage)
    assert (tmp_path / "out/part-00000.csv").read_text() == '"a";"b"\n1;"x"\n2;""\n;\n'


def test_what_a_format_cannot_hold_is_a_type_mismatch(tmp_path: Path) -> None:
    lists = pa.table({"a": [[1]]})
    stage = open_stage(tmp_path / "out")
    with pytest.raises(TypeMismatch, match=r"column 'a' is list<.*>, which CSV cannot hold"):
        write_part(stage, "csv", 0, iter([lists]), lists.schema)
    months = pa.table({"a": pa.array([(1, 2, 3)], pa.month_day_nano_interval())})
    with pytest.raises(TypeMismatch, match="Parquet cannot hold"):
        write_part(stage, "parquet", 0, iter([months]), months.schema)
    with pytest.raises(SchemaMismatch, match="columns a cannot be written into a file with b"):
        write_part(stage, "parquet", 0, iter([lists]), pa.schema([("b", pa.int64())]))
    with pytest.raises(ValueError, match="no format 'xml'"):
        write_part(stage, "xml", 0, iter([TABLE]), TABLE.schema)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="compresion"):
        write_part(stage, "parquet", 0, iter([TABLE]), TABLE.schema, compresion="zstd")
    assert not list(Path(stage.folder).iterdir())
    abort(stage)


def test_another_file_system_gets_the_files_one_by_one(tmp_path: Path) -> None:
    there = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    for overwrite in (False, True):
        stage = open_stage("out", overwrite=overwrite, filesystem=there)
        write_part(stage, "parquet", 0, iter([TABLE]), TABLE.schema)
        commit(stage)
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
        assert pq.read_table(tmp_path / "out").equals(TABLE)
    with pytest.raises(FileExistsError, match="a folder with files in it"):
        open_stage("out", filesystem=there)


KILLED = """
import sys, pyarrow as pa
from argosy.frame.io.write import open_stage, write_part

table = pa.table({"a": range(100_000)})

def forever():
    while True:
        yield table
        print("more", flush=True)

write_part(open_stage(sys.argv[1]), "parquet", 0, forever(), table.schema, row_group_nbytes=100_000)
"""


def test_a_writer_that_is_killed_leaves_no_target(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with subprocess.Popen([sys.executable, "-c", KILLED, str(target)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "more\n"
        writer.send_signal(signal.SIGKILL)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".out.argosy-")
    write(target, TABLE)
    assert pq.read_table(target).equals(TABLE)


def fill(stage: Stage, kind: str) -> None:
    table = pa.table({"a": [os.urandom(1000).hex() for _ in range(1000)]})
    with pytest.raises(DiskFull, match=r"the disk is full: writing in .*out; free some space"):
        write_part(stage, kind, 0, iter([table] * 4), table.schema)  # type: ignore[arg-type]
    assert not list(Path(stage.folder).iterdir())


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_file_that_may_not_grow_is_a_full_disk(tmp_path: Path, kind: str) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    stage = open_stage(tmp_path / "out")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    try:
        fill(stage, kind)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    abort(stage)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", tmp_path], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no small disk can be made here: {mounted.stderr.strip()}")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_full_disk_says_so_and_keeps_nothing(small_disk: Path, kind: str) -> None:
    stage = open_stage(small_disk / "out")
    fill(stage, kind)
    abort(stage)
    assert not list(small_disk.iterdir())


def test_csv_written_here_is_csv_for_others(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2], "b": ["x,y", 'say "hi"\nthere']})
    stage = open_stage(tmp_path / "out")
    write_part(stage, "csv", 0, iter([table]), table.schema)
    commit(stage)
    options = csv.ParseOptions(newlines_in_values=True)
    assert csv.read_csv(tmp_path / "out/part-00000.csv", parse_options=options).equals(table)
