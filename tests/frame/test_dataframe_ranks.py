"""Whole plans give the same rows on any number of ranks, also where memory is short."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from frame import reference
from frame.random_frames import Drawn, frames
from hypothesis import HealthCheck, given, settings

from argosy.comm.ranks import Ranks
from argosy.comm.threads import on_threads
from argosy.errors import FrameError
from argosy.frame.context import Context
from argosy.frame.execute import execute
from argosy.frame.plan import Operation, Sample, Shuffle, Sort
from argosy.frame.prepare import prepare
from argosy.frame.rewrite import rewrite

PLENTY, SCARCE = 1 << 30, 200


@pytest.fixture(scope="module", autouse=True)
def _kernels_are_there() -> None:
    prepare()


def rows_on(ranks: Ranks, plan: Operation, share_nbytes: int, folder: Path) -> pa.Table:
    return execute(plan, Context(ranks=ranks, share_nbytes=share_nbytes, folder=folder)).table()


def check(drawn: Drawn, num_ranks: int, share_nbytes: int, folder: Path) -> None:
    plan = drawn.frame.plan
    try:
        wanted = reference.run(plan)
    except FrameError:
        return
    tables = on_threads(num_ranks, rows_on, rewrite(plan), share_nbytes, folder)
    found = pa.concat_tables(tables)
    assert found.schema.names == plan.schema.names
    assert found.schema.types == plan.schema.types
    if any(isinstance(one, Sample | Shuffle) for one in plan.walk()):
        return
    assert reference.same_rows(found, wanted, in_order=drawn.ordered), drawn.frame.explain()
    if isinstance(plan, Sort):
        assert reference.is_sorted(found, plan)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5])
@given(drawn=frames(max_steps=5))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_number_of_ranks_gives_the_same_rows(tmp_path: Path, num_ranks: int, drawn: Drawn) -> None:
    check(drawn, num_ranks, PLENTY, tmp_path)


@pytest.mark.parametrize("num_ranks", [1, 3])
@given(drawn=frames(max_steps=4))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_rows_that_go_to_disk_come_back(tmp_path: Path, num_ranks: int, drawn: Drawn) -> None:
    check(drawn, num_ranks, SCARCE, tmp_path)
