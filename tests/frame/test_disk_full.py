"""A disk that fills up, under a write or a spill, leaves nothing half done and is told as that."""

from __future__ import annotations

import resource
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import argosy
from argosy import count
from argosy.comm.ranks import Alone
from argosy.errors import BadFile, DiskFull
from argosy.frame.context import Context
from argosy.frame.execute import execute
from argosy.frame.prepare import prepare

NUM_ROWS = 1_000_000


def numbers() -> argosy.DataFrame:
    keys = np.random.default_rng(0).integers(0, NUM_ROWS, NUM_ROWS)
    return argosy.from_pydict({"k": keys, "a": np.arange(NUM_ROWS)})


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file of this process may grow beyond 256 KiB."""
    prepare()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 10, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("small_files")
def test_a_disk_that_fills_during_a_write_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(DiskFull, match="free some space"):
        numbers().write_parquet(tmp_path / "out", compression="none")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize(
    "operation",
    [
        lambda frame: frame.sort("k"),
        lambda frame: frame.join(frame, on="k"),
        lambda frame: frame.group_by("k").agg(n=count()),
    ],
)
def test_a_disk_that_fills_during_a_spill_is_told(
    operation: Callable[[argosy.DataFrame], argosy.DataFrame], tmp_path: Path
) -> None:
    context = Context(ranks=Alone(), share_nbytes=16 << 20, folder=tmp_path)
    with pytest.raises(DiskFull, match="ARGOSY_SPILL"):
        execute(operation(numbers()).plan, context).table()
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_on_a_rank_is_told_as_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not as the failure of whoever waited for the rows."""
    nowhere = tmp_path / "file"
    nowhere.touch()
    monkeypatch.setenv("ARGOSY_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("ARGOSY_SPILL", str(nowhere))
    draw = np.random.default_rng(0).random((4, 2_000_000))
    large = argosy.from_pydict({f"c{index}": column for index, column in enumerate(draw)})
    with argosy.Pilot(ranks=1, memory="192MiB"), pytest.raises(BadFile, match="cannot be spilled there"):
        large.sort("c0").persist()
