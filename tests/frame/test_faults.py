"""What goes wrong around a frame: ranks that die, a Ctrl-C, files that are not what they were."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import argosy
from argosy import col, count
from argosy.errors import BadFile, ResultTooLarge, SchemaMismatch
from argosy.frame import run

NUM_ROWS = 200_000


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[argosy.Pilot]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARGOSY_RUNS", str(tmp_path_factory.mktemp("runs")))
        with argosy.Pilot(ranks=3) as shared:
            yield shared


def numbers(num_rows: int = NUM_ROWS) -> argosy.DataFrame:
    keys = np.random.default_rng(0).integers(0, num_rows, num_rows)
    return argosy.from_pydict({"k": keys, "a": np.arange(num_rows)})


# A rank dies ---------------------------------------------------------------------------------------------------------


def ranks_of(pilot: argosy.Pilot) -> list[int]:
    pids: list[int] = pilot.submit(os.getpid, ranks=3).results(timeout=30)
    return pids


def kill_one_rank_after(pilot: argosy.Pilot, seconds: float) -> threading.Timer:
    victim = ranks_of(pilot)[1]
    timer = threading.Timer(seconds, os.kill, (victim, signal.SIGKILL))
    timer.start()
    return timer


def sums(frame: argosy.DataFrame) -> list[dict[str, Any]]:
    joined = frame.join(frame, on="k").group_by("k").agg(n=count(), total=col("a").sum()).sort("k")
    whole: list[dict[str, Any]] = (
        joined.select(n=col("n").sum(), total=col("total").sum(), first=col("k").min()).collect().to_pylist()
    )
    return whole


def test_a_rank_that_is_killed_in_a_loop_of_joins_and_sorts_changes_no_result(pilot: argosy.Pilot) -> None:
    frame = numbers().persist()
    expected = sums(frame)
    before = ranks_of(pilot)
    for turn in range(3):
        timer = kill_one_rank_after(pilot, 0.01 + 0.02 * turn)
        while timer.is_alive():
            assert sums(frame) == expected
        assert sums(frame) == expected
    after = ranks_of(pilot)
    assert len(set(after)) == 3
    assert set(after) != set(before)


def test_a_rank_that_is_killed_while_it_writes_leaves_one_whole_folder(pilot: argosy.Pilot, tmp_path: Path) -> None:
    frame = numbers().persist()
    timer = kill_one_rank_after(pilot, 0.05)
    turn = 0
    while timer.is_alive() or turn < 3:
        turn += 1
        assert frame.sort("k").write_parquet(tmp_path / "out", overwrite=True) == NUM_ROWS
        assert pq.read_table(tmp_path / "out").num_rows == NUM_ROWS
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


# Ctrl-C --------------------------------------------------------------------------------------------------------------

LONG = """
import argosy, numpy as np, time
n = 1_000_000
frame = argosy.from_pydict({"k": np.arange(n) % 1000, "a": np.arange(n)})
with argosy.Pilot(ranks=2) as pilot:
    kept = frame.persist()
    print("ready", flush=True)
    try:
        while True:
            kept.sort("k", "a").write_parquet("out", overwrite=True)
    except KeyboardInterrupt:
        print(kept.head(3).collect().num_rows, flush=True)
"""


def test_ctrl_c_ends_what_runs_and_leaves_nothing_behind(tmp_path: Path) -> None:
    environment = os.environ | {"ARGOSY_RUNS": str(tmp_path / "runs")}
    command = [sys.executable, "-c", LONG]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as script:
        assert script.stdout is not None
        assert script.stdout.readline() == "ready\n"
        started = psutil.Process(script.pid).children(recursive=True)
        time.sleep(0.4)
        os.killpg(script.pid, signal.SIGINT)
        assert script.stdout.read() == "3\n", "the pilot is free for the next frame"
        assert script.wait(timeout=20) == 0
    assert psutil.wait_procs(started, timeout=5)[1] == []
    assert [path.name for path in tmp_path.glob(".*")] == []


# Files that are not what they were -----------------------------------------------------------------------------------


def test_files_with_different_schemas_name_the_file_and_the_column(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1], "b": [1]}), tmp_path / "one.parquet")
    pq.write_table(pa.table({"a": [1], "b": ["x"]}), tmp_path / "two.parquet")
    with pytest.raises(SchemaMismatch, match=r"(?s)two\.parquet.*'b'|'b'.*two\.parquet"):
        argosy.read_parquet(tmp_path).collect()


def test_a_file_that_is_cut_short_after_it_was_looked_at_is_named(pilot: argosy.Pilot, tmp_path: Path) -> None:
    path = tmp_path / "one.parquet"
    pq.write_table(pa.table({"a": np.random.default_rng(0).random(100_000)}), path)
    frame = argosy.read_parquet(path)
    path.write_bytes(path.read_bytes()[:50_000])
    with pytest.raises(BadFile, match=r"one\.parquet"):
        frame.collect()


def test_a_result_larger_than_the_memory_of_this_process_is_refused(
    pilot: argosy.Pilot, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = numbers().filter(col("a") >= 0).persist()
    monkeypatch.setattr(run, "_SHARE", 1e-7)
    with pytest.raises(ResultTooLarge, match=r"persist\(\), or write it with write_parquet\(\)"):
        frame.sort("k").collect()
    assert len(frame) == NUM_ROWS
