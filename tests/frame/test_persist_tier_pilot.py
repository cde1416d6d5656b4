"""Frames persisted on the ranks of a pilot, in RAM, on disk or in both."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import argosy
from argosy import col, count
from argosy.errors import NoTier, PilotClosed
from argosy.frame.keep.held import Held
from argosy.frame.plan import Resident

NUM_ROWS = 150_000


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[argosy.Pilot]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARGOSY_RUNS", str(tmp_path_factory.mktemp("runs")))
        with argosy.Pilot(ranks=2, memory="8MiB") as shared:
            yield shared


@cache
def numbers() -> pa.Table:
    rows = np.arange(NUM_ROWS)
    names = pa.array([None if i % 5 == 0 else f"n{i % 3}" for i in range(NUM_ROWS)])
    pairs = pa.ListArray.from_arrays(np.arange(NUM_ROWS + 1, dtype=np.int32) * 2, pa.array(np.arange(2 * NUM_ROWS)))
    return pa.table({"k": rows % 7, "a": rows * 0.25, "s": names.dictionary_encode(), "l": pairs})


def tiers_here(held: Held) -> tuple[dict[str, str], int]:
    return {name: column.tier for name, column in held.columns.items()}, held.nbytes_in_ram


def tiers(pilot: argosy.Pilot, frame: argosy.DataFrame) -> list[tuple[dict[str, str], int]]:
    assert isinstance(frame.plan, Resident)
    found: list[tuple[dict[str, str], int]] = pilot.submit(tiers_here, frame.plan.future, ranks=2).results()
    return found


def sum_of(table: pa.Table, comm: Any) -> float:
    return float(comm.allreduce(table["a"].to_numpy().sum()))


def files_of_ranks(pilot: argosy.Pilot) -> int:
    """Open, without a name."""
    return sum(pilot.submit(files_here, ranks=2).results())


def files_here() -> int:
    gc.collect()
    return sum("spill" in (target := str(link.resolve())) and "(deleted)" in target for link in links())


def links() -> list[Path]:
    return list(Path("/proc/self/fd").iterdir())


def test_with_memory_a_frame_that_is_too_large_lies_partly_on_disk(pilot: argosy.Pilot) -> None:
    kept = argosy.from_arrow(numbers()).persist()
    on_ranks = tiers(pilot, kept)
    assert len(on_ranks) == 2
    for placed, nbytes_in_ram in on_ranks:
        assert set(placed.values()) == {"ram", "disk"}
        assert 0 < nbytes_in_ram <= 2 << 20  # of 8 MiB, half for columns, half of that for each rank
    assert kept.collect().equals(numbers())
    groups = kept.group_by("s").agg(n=count(), total=col("a").sum()).sort("s").collect()
    assert groups.equals(
        argosy.from_arrow(numbers()).group_by("s").agg(n=count(), total=col("a").sum()).sort("s").collect()
    )


@pytest.mark.parametrize("how", [{"tier": "disk"}, {"tier": "ram"}, {"memory": "4MiB"}])
def test_tasks_and_operations_see_no_difference(pilot: argosy.Pilot, how: dict[str, Any]) -> None:
    kept = argosy.from_arrow(numbers()).persist(**how)
    assert pilot.submit(sum_of, kept, ranks=2).result() == numbers()["a"].to_numpy().sum()
    assert pilot.submit(sum_of, kept.filter(col("k") == 1), ranks=2).result() > 0
    assert kept.sort("k", "a").head(5).collect().equals(numbers().sort_by([("k", "ascending"), ("a", "ascending")])[:5])
    assert kept.join(kept.select("a", n=col("k")), on="a").filter(col("n") == 3).collect().num_rows == NUM_ROWS // 7 + 1
    assert len(kept) == NUM_ROWS


def test_a_rank_without_rows_has_nothing_to_place(pilot: argosy.Pilot) -> None:
    kept = argosy.from_arrow(numbers()).filter(col("a") < 1).persist(tier="disk")
    assert kept.collect().equals(numbers()[:4])
    empty = argosy.from_arrow(numbers()[:0]).persist(memory=0)
    assert empty.collect().equals(numbers()[:0])


def test_rows_read_from_files_go_to_disk_as_they_come(pilot: argosy.Pilot, tmp_path: Path) -> None:
    pq.write_table(numbers(), tmp_path / "t.parquet", row_group_size=15_000)
    frame = argosy.read_parquet(tmp_path / "t.parquet")
    kept = frame.persist()
    assert all(nbytes <= 2 << 20 for _, nbytes in tiers(pilot, kept))
    assert kept.collect().equals(frame.collect())


def test_equal_keys_stay_known_to_be_on_one_rank(pilot: argosy.Pilot) -> None:
    sums = argosy.from_arrow(numbers()).group_by("k").agg(n=count())
    assert pilot.submit(metadata_of, sums.persist(tier="disk"), ranks=2).result() is not None
    assert sums.join(sums, on="k").sort("k").collect()["k"].to_pylist() == list(range(7))


def metadata_of(table: pa.Table, comm: Any) -> dict[bytes, bytes] | None:
    found: dict[bytes, bytes] | None = table.schema.metadata
    return found


def test_a_frame_that_is_garbage_leaves_no_file(pilot: argosy.Pilot) -> None:
    gc.collect()
    before = files_of_ranks(pilot)
    kept = argosy.from_arrow(numbers()).persist(tier="disk")
    pilot.submit(sum_of, kept, ranks=2).result()
    assert files_of_ranks(pilot) > before
    del kept
    gc.collect()
    deadline = time.monotonic() + 10
    while files_of_ranks(pilot) > before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert files_of_ranks(pilot) == before


def test_a_frame_that_was_persisted_before_the_pilot_came_keeps_its_tier(pilot: argosy.Pilot) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("argosy.frame.home.current_pilot", lambda: None)
        kept = argosy.from_arrow(numbers()).persist(tier="disk")
    assert isinstance(kept.plan, Resident)
    assert isinstance(kept.plan.future, Held)
    assert pilot.submit(sum_of, kept, ranks=2).result() == numbers()["a"].to_numpy().sum()
    assert tiers(pilot, kept.persist())[1][0] == dict.fromkeys(numbers().column_names, "disk")


def test_a_problem_on_a_rank_reaches_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOSY_SPILL", "/dev/null")
    with argosy.Pilot(ranks=2, folder=tmp_path):
        with pytest.raises(NoTier, match="'/dev/null' is not a folder"):
            argosy.from_arrow(numbers()).persist(tier="disk")
        with pytest.warns(RuntimeWarning, match=r"stay in RAM on rank \d: there is no disk") as told:
            kept = argosy.from_arrow(numbers()).persist(memory=0)
        assert len(told) == 2
        assert kept.collect().equals(numbers())


def test_a_rank_that_dies_takes_its_files_along_and_the_frame_is_made_again(pilot: argosy.Pilot) -> None:
    kept = argosy.from_arrow(numbers()).persist(tier="disk")
    os.kill(pilot.submit(os.getpid, ranks=2).results()[1], signal.SIGKILL)
    assert kept.collect().equals(numbers())
    assert pilot.submit(sum_of, kept, ranks=2, retries=1).result() == numbers()["a"].to_numpy().sum()


def test_a_pilot_that_closes_leaves_nothing_of_a_frame_on_disk(tmp_path: Path) -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with argosy.Pilot(ranks=2, folder=tmp_path) as pilot:
        kept = argosy.from_arrow(numbers()).persist(tier="disk")
        spill = pilot.folder / "spill"
        assert spill.is_dir()
    assert list(spill.iterdir()) == []
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before
    with pytest.raises(PilotClosed):
        kept.collect()
