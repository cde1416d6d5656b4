"""Disks that are none, or that fill up, under a frame that is persisted."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import argosy
from argosy import col
from argosy.errors import DiskFull, NoTier, TierFull
from argosy.frame.keep import files
from argosy.frame.keep.arriving import Arrived
from argosy.frame.keep.held import Held
from argosy.frame.keep.pool import pool
from argosy.frame.plan import Resident
from argosy.frame.prepare import prepare
from argosy.memory.tiers.disk import file_system

pytestmark = pytest.mark.usefixtures("_pool_of_its_own")

IN_MEMORY = Path("/dev/shm")
in_memory = pytest.mark.skipif(file_system(IN_MEMORY) != "tmpfs", reason="there is no file system in memory here")


@contextmanager
def small_files(nbytes: int) -> Iterator[None]:
    """No file of this process may grow beyond that."""
    prepare()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def numbers() -> pa.Table:
    rows = np.arange(40_000)
    return pa.table({"a": rows, "b": rows * 0.5, "small": (rows % 100).astype(np.int8)})


def tiers(frame: argosy.DataFrame) -> list[str]:
    assert isinstance(frame.plan, Resident)
    assert isinstance(frame.plan.future, Held)
    return [column.tier for column in frame.plan.future.columns.values()]


def test_a_column_that_the_disk_has_no_room_for_stays_in_ram_and_the_user_is_told() -> None:
    with small_files(100_000), pytest.warns(RuntimeWarning, match="persisted columns stay in RAM: tier 'disk' is full"):
        kept = argosy.from_arrow(numbers()).persist(memory=0)
    assert tiers(kept) == ["ram", "ram", "disk"]
    assert kept.collect().equals(numbers())


def test_a_column_that_must_be_on_disk_and_finds_no_room_is_an_error() -> None:
    with small_files(100_000), pytest.raises(TierFull, match="tier 'disk' is full"):
        argosy.from_arrow(numbers()).persist(tier="disk")


def test_rows_that_come_in_parts_lose_nothing_when_the_disk_fills_on_the_way(tmp_path: Path) -> None:
    pq.write_table(numbers(), tmp_path / "t.parquet", row_group_size=1000)
    frame = argosy.read_parquet(tmp_path / "t.parquet")
    with small_files(100_000), pytest.warns(RuntimeWarning, match="persisted columns stay in RAM"):
        kept = frame.persist(memory=0)
    assert kept.collect().equals(frame.collect())
    assert tiers(kept) == ["ram", "ram", "disk"]


def test_of_a_part_that_went_to_disk_by_half_no_row_is_lost_or_there_twice(tmp_path: Path) -> None:
    table = pa.table({"a": np.arange(1_500_000)})  # three blocks of a spool
    column = Arrived(table.schema.field("a"))
    column.through_disk(tmp_path)
    with small_files(6 << 20):
        column.add(table)
        column.add(table.slice(0, 10))
    assert column.nbytes == table.nbytes + 80
    assert column.values([]).to_numpy().tolist() == [*range(1_500_000), *range(10)]
    column.close()


def test_rows_that_come_in_parts_and_must_be_on_disk_are_an_error_when_it_fills(tmp_path: Path) -> None:
    pq.write_table(numbers(), tmp_path / "t.parquet", row_group_size=1000)
    with small_files(100_000), pytest.raises((TierFull, DiskFull)):
        argosy.read_parquet(tmp_path / "t.parquet").persist(tier="disk")


def test_a_disk_that_fills_later_leaves_columns_where_they_are() -> None:
    table = numbers().select(["a", "b"])
    kept = argosy.from_arrow(table).persist(memory=table["a"].nbytes)
    hot = "b" if tiers(kept)[0] == "ram" else "a"
    before = tiers(kept)
    total = kept.select(total=col(hot).sum())
    with small_files(100_000), pytest.warns(RuntimeWarning) as told:
        sums = [total.collect()["total"][0].as_py() for _ in range(10)]
    assert set(sums) == {sum(table[hot].to_pylist())}
    assert tiers(kept) == before
    assert len(told) == 1
    assert "stay where they are" in str(told[0].message)


@in_memory
def test_memory_is_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOSY_SPILL", str(IN_MEMORY))
    with pytest.raises(NoTier, match="kept in memory"):
        argosy.from_arrow(numbers()).persist(tier="disk")
    with pytest.warns(RuntimeWarning, match="stay in RAM: there is no disk to place objects on"):
        kept = argosy.from_arrow(numbers()).persist(memory=0)
    assert tiers(kept) == ["ram"] * 3
    assert kept.collect().equals(numbers())


@in_memory
def test_a_disk_is_looked_for_elsewhere_where_nobody_named_one() -> None:
    assert file_system(files.disk_at(IN_MEMORY).folder) != "tmpfs"


def test_columns_on_disk_leave_files_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (8, 8))
    with pytest.raises(TierFull, match="2 columns are on disk, and each keeps two files open"):
        argosy.from_arrow(numbers()).persist(tier="disk")


def test_a_disk_that_cannot_even_be_measured_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_speeds", None)
    with small_files(100_000), pytest.warns(RuntimeWarning, match="persisted columns stay in RAM: tier 'disk' is full"):
        kept = argosy.from_arrow(numbers()).persist(memory=0)
    assert kept.collect().equals(numbers())
