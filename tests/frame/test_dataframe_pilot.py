"""A frame over the ranks of an open pilot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import argosy
from argosy import col, count
from argosy.errors import FrameError
from argosy.frame.plan import Resident


@pytest.fixture(scope="module", autouse=True)
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[argosy.Pilot]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARGOSY_RUNS", str(tmp_path_factory.mktemp("runs")))
        with argosy.Pilot(ranks=2) as shared:
            yield shared


def numbers() -> argosy.DataFrame:
    return argosy.from_arrow(pa.table({"k": [i % 3 for i in range(30)], "a": range(30)}))


def rows_on_each_rank(table: pa.Table, comm: Any) -> list[int]:
    return list(comm.allgather(table.num_rows))


def total(tables: list[pa.Table], comm: Any) -> int:
    return int(comm.allreduce(sum(table["a"].to_numpy().sum() for table in tables)))


def test_collect_brings_all_rows_in_order() -> None:
    table = numbers().sort("a", descending=True).filter(col("k") == 1).collect()
    assert table["a"].to_pylist() == list(range(28, 0, -3))


def test_groups_and_joins_run_over_all_ranks() -> None:
    names = argosy.from_pydict({"k": [0, 1], "name": ["zero", "one"]})
    frame = numbers().join(names, on="k").group_by("name").agg(n=count(), total=col("a").sum()).sort("name")
    assert frame.collect().to_pylist() == [
        {"name": "one", "n": 10, "total": 145},
        {"name": "zero", "n": 10, "total": 135},
    ]


def test_a_persisted_frame_reaches_a_task_as_each_ranks_own_table(pilot: argosy.Pilot) -> None:
    kept = numbers().filter(col("k") > 0).persist()
    assert isinstance(kept.plan, Resident)
    assert len(kept) == 20
    shares = pilot.submit(rows_on_each_rank, kept, ranks=2).result()
    assert sum(shares) == 20
    assert all(share > 0 for share in shares)
    assert kept.group_by("k").agg(n=count()).sort("k").collect()["n"].to_pylist() == [10, 10]


def test_a_frame_that_is_not_persisted_is_when_it_is_passed_to_a_task(pilot: argosy.Pilot) -> None:
    frame = numbers().with_columns(a=col("a") * 2)
    assert pilot.submit(total, [frame, frame], ranks=2).result() == 2 * 2 * sum(range(30))
    assert frame.persist().plan is frame.persist().plan


def test_files_are_written_by_all_ranks_and_read_again(tmp_path: Path) -> None:
    assert numbers().write_parquet(tmp_path / "out") == 30
    assert len(list((tmp_path / "out").glob("*.parquet"))) == 2
    again = argosy.read_parquet(tmp_path / "out").filter(col("a") >= 10)
    assert sorted(again.collect()["a"].to_pylist()) == list(range(10, 30))


def test_explain_knows_how_many_ranks_there_are() -> None:
    small = argosy.from_pydict({"k": [0]})
    assert "broadcast expected" in numbers().join(small, on="k").explain()


def test_a_mistake_on_the_ranks_comes_back_as_itself() -> None:
    frame = argosy.from_pydict({"s": ["1", "x"]}).with_columns(n=col("s").cast("int64"))
    with pytest.raises(FrameError, match="cast"):
        frame.collect()
