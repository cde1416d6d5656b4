"""Spilled rows come back as they were, or there is an error; the folder is empty before, meanwhile and after."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from frame.operators.columns import PAYLOADS, columns, kinds
from frame.operators.laws import assert_same, law
from hypothesis import given
from hypothesis import strategies as st

from argosy.errors import BadFile, DiskFull
from argosy.frame import spill
from argosy.frame.spill import Spool


@law(30)
@given(data=st.data(), start=st.integers(0, 40), length=st.integers(0, 40))
def test_rows_come_back_as_they_were_written(data: st.DataObject, start: int, length: int) -> None:
    types = data.draw(st.lists(kinds(PAYLOADS), min_size=1, max_size=3))
    tables = []
    for _ in range(data.draw(st.integers(0, 3))):
        num_rows = data.draw(st.integers(0, 12))
        tables.append(pa.table({f"c{i}": data.draw(columns(kind, num_rows)) for i, kind in enumerate(types)}))
    schema = pa.schema([(f"c{i}", kind) for i, kind in enumerate(types)])
    whole = pa.concat_tables([schema.empty_table(), *tables])
    with tempfile.TemporaryDirectory() as name:
        spool = Spool(Path(name), schema)
        for table in tables:
            spool.append(table)
        assert spool.num_rows == whole.num_rows
        assert_same(spool.read(), whole, in_order=True)
        assert_same(spool.read(start, start + length), whole.slice(start, length), in_order=True)
        assert list(Path(name).iterdir()) == []
        spool.close()


def test_many_blocks_are_read_from_any_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "_BLOCK_NBYTES", 100)
    table = pa.table({"x": range(1_000)})
    spool = Spool(tmp_path, table.schema)
    spool.append(table)
    for start, stop in ((0, 1_000), (0, 1), (999, 1_000), (311, 642), (500, 500)):
        assert spool.read(start, stop).column("x").to_pylist() == list(range(start, stop))
    assert sum(block.num_rows for block in spool.blocks()) == 1_000
    spool.close()


@pytest.mark.parametrize("at", [0, 100, -1])
def test_a_byte_that_changed_on_disk_is_noticed(tmp_path: Path, at: int) -> None:
    table = pa.table({"x": range(100)})
    spool = Spool(tmp_path, table.schema)
    spool.append(table)
    file = spool._file.fileno()
    place = at if at >= 0 else os.fstat(file).st_size - 1
    os.pwrite(file, bytes([os.pread(file, 1, place)[0] ^ 1]), place)
    with pytest.raises(BadFile, match="did not come back"):
        spool.read()
    spool.close()


def test_a_file_that_was_cut_is_noticed(tmp_path: Path) -> None:
    table = pa.table({"x": range(100)})
    spool = Spool(tmp_path, table.schema)
    spool.append(table)
    os.ftruncate(spool._file.fileno(), 50)
    with pytest.raises(BadFile, match="did not come back"):
        spool.read()
    spool.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match="file"):
        Spool(tmp_path / "file" / "spill", pa.schema([("x", pa.int64())]))


_FILL = """
import signal, sys
from pathlib import Path
import pyarrow as pa
from argosy.errors import DiskFull
from argosy.frame.plan import Memory, Sort
from argosy.frame.context import Context
from argosy.frame.execute import execute
from argosy.comm.ranks import Alone

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
plan = Sort(input=Memory(table=pa.table({"x": range(100_000)})), by=("x",), descending=(True,))
try:
    execute(plan, Context(ranks=Alone(), share_nbytes=100_000, folder=Path(sys.argv[1]))).table()
except DiskFull as error:
    print(error)
"""


def test_a_disk_that_fills_during_a_sort_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    """A limit on the size of files stands for a small disk."""
    done = subprocess.run(
        [sys.executable, "-c", _FILL, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=50,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)),
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) in done.stdout
    assert "spilling rows" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_device_is_a_full_disk(tmp_path: Path) -> None:
    table = pa.table({"x": range(100)})
    spool = Spool(tmp_path, table.schema)
    with Path("/dev/full").open("wb", buffering=0) as full:
        os.dup2(full.fileno(), spool._file.fileno())
        with pytest.raises(DiskFull):
            spool.append(table)
    spool.close()
