"""Frames of pilots that come and go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import argosy
from argosy import col, count
from argosy.errors import FrameError, PilotClosed, ResultTooLarge


@pytest.fixture(scope="module", autouse=True)
def _runs_go_to_a_folder_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARGOSY_RUNS", str(tmp_path_factory.mktemp("runs")))
        yield


def numbers() -> argosy.DataFrame:
    return argosy.from_pydict({"k": [i % 3 for i in range(30)], "a": list(range(30))})


def test_a_frame_is_made_again_after_its_pilot_and_a_persisted_one_says_that_it_is_gone() -> None:
    frame = numbers().filter(col("k") == 1)
    with argosy.Pilot(ranks=1):
        kept = frame.persist()
        assert kept.collect().num_rows == 10
    assert frame.collect().num_rows == 10
    assert frame.persist().collect().num_rows == 10
    with pytest.raises(PilotClosed, match="make it again from its source"):
        kept.collect()
    with pytest.raises(PilotClosed, match="write_parquet"):
        kept.group_by("k").agg(n=count()).persist()


def test_a_frame_persisted_before_the_pilot_came_can_be_passed_to_a_task() -> None:
    kept = numbers().persist()
    with argosy.Pilot(ranks=1) as pilot:
        assert pilot.submit(lambda table: table.num_rows, kept).result() == 30


def test_a_persisted_frame_runs_on_the_pilot_that_holds_it(tmp_path: Path) -> None:
    with argosy.Pilot(ranks=1):
        outer = numbers().persist()
        with argosy.Pilot(ranks=1):
            inner = numbers().persist()
            assert outer.group_by("k").agg(n=count()).collect().num_rows == 3
            assert outer.write_parquet(tmp_path / "out") == 30
            with pytest.raises(FrameError, match="persisted on 2 pilots"):
                outer.join(inner, on="a").collect()


def test_a_result_that_can_never_fit_is_refused_before_it_is_computed() -> None:
    many = argosy.from_pydict({"a": range(3_000_000)})
    with pytest.raises(ResultTooLarge, match="persist"):
        many.join(many, how="cross").collect()
