"""The examples run, and say what they promise."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from argosy.pilot.launch.mpiexec import find_mpiexec
from argosy.train import Ledger

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(*command: str | Path, folder: Path, **variables: str) -> str:
    environment = os.environ | variables | {"ARGOSY_RUNS": str(folder / "runs")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=55, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_thermometers_finds_warm_hours_and_writes_them(tmp_path: Path) -> None:
    said = run(sys.executable, EXAMPLES / "thermometers.py", "here", folder=tmp_path)
    warm = pq.read_table(tmp_path / "here" / "warm")
    assert warm.num_rows > 0
    assert f"{warm.num_rows} rows in here/warm" in said
    assert min(warm["above"].to_pylist()) > 1


def test_a_program_under_mpiexec_joins_groups_and_sorts_with_its_own_communicator(tmp_path: Path) -> None:
    mpiexec = find_mpiexec()
    assert mpiexec is not None
    command = mpiexec.command(2, [sys.executable, str(EXAMPLES / "with_communicator.py")])
    said = run(*command, folder=tmp_path, **mpiexec.environment(os.environ, one_machine=True))
    lines = said.splitlines()
    assert len(lines) == 5
    assert sum(int(line.split()[2]) for line in lines) == 20_000
    totals = [int(line.split()[4]) for line in lines]
    assert totals == sorted(totals, reverse=True)


def test_a_loop_of_your_own_tells_where_its_time_goes_and_what_more_workers_are_worth(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    said = run(sys.executable, EXAMPLES / "own_loop.py", folder=tmp_path)
    record = Ledger.read(tmp_path / "own_loop.jsonl")
    assert record.ended
    assert f"{record.steps:,} steps, {record.samples:,} samples" in said
    assert record.losses[-1] < record.losses[0] / 2
    assert record.evaluations[-1].metrics["accuracy"] > 0.8
    for phase in ("data", "forward", "backward", "optimizer", "evaluation"):
        assert re.search(rf"^  {phase} .*%$", said, re.MULTILINE)

    low, high = (float(end.replace(",", "")) for end in found(r"samples \((\S+) to (\S+) at 90% confidence\)", said))
    ceiling, phi = map(float, found(r"against 1 worker: (\S+) \(modelled; noise scale (\S+) samples", said))
    assert 0 < low < high < float("inf")  # of the whole run; what is predicted from is the median of its parts
    assert ceiling == pytest.approx(1 + phi / 32, rel=1e-2)
    rows = re.findall(r"^ +(\d+) +\d+ +\S+ +\S+ +(\S+) +\S+%  ", said, re.MULTILINE)
    assert [workers for workers, _ in rows] == ["1", "4", "16", "64", "256"]
    speedups = [float(learned) for _, learned in rows]
    assert speedups[0] == 1
    assert speedups == sorted(speedups)
    assert speedups[-1] < ceiling


def test_a_model_learns_rooms_from_a_joined_frame_and_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    said = run(sys.executable, EXAMPLES / "learn_rooms.py", "here", folder=tmp_path)
    assert "3200 sensors to learn from, 800 held out" in said
    assert "asked for 2 epochs: 100 steps over 6,400 samples" in said
    assert "asked for 4 epochs: 200 steps over 12,800 samples" in said
    assert "went on at step 100" in said
    assert "the model's outputs stand for: attic cellar kitchen study" in said
    accuracy = float(found(r"asked for 4 epochs: .* accuracy (\S+);", said)[0])
    assert accuracy > 0.6  # one in four would be chance
    record = Ledger.read(tmp_path / "here" / "checkpoints" / "ledger.jsonl")
    assert record.facts["ranks"] == 2
    assert len(record.losses) == record.steps == 200


def test_ranks_exchange_a_share_of_their_samples_and_go_on_where_they_were(tmp_path: Path) -> None:
    pytest.importorskip("torch")

    def told(num_ranks: int) -> str:
        launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(num_ranks)]
        return run(*launch, EXAMPLES / "partial_exchange.py", "here", folder=tmp_path, OMP_NUM_THREADS="1")

    said = told(2)
    lines = re.findall(r"epoch (\d): (\d+) samples, (\d+)% of its own classes \(the law: (\d+)%\)", said)
    assert [(int(epoch), int(samples)) for epoch, samples, _, _ in lines] == [(epoch, 4200) for epoch in range(5)]
    for _, _, stayed, law in lines:
        assert abs(int(stayed) - int(law)) <= 3
    sent, stored = (int(number.replace(",", "")) for number in found(r"sent (\S+) bytes, stores (\S+)", said))
    assert 0 < sent < 4 * 0.1 * 4200 * 136  # of tensors of 32 numbers and a label, half of which go to the rank itself
    assert stored < 1.25 * 4200 * 136

    again = told(3)
    assert "goes on in epoch 4" in again
    (line,) = re.findall(r"epoch 4: (\d+) samples", again)
    assert int(line) < 2800 / 4  # what was left of the last epoch, of which 100 of 132 batches had been kept


def test_two_chains_overlap_and_give_the_answer_of_plain_python(tmp_path: Path) -> None:
    said = run(sys.executable, EXAMPLES / "overlap.py", folder=tmp_path)
    warmer = float(found(r"the attic is (\S+) degrees warmer", said)[0])
    assert warmer == pytest.approx(12, abs=0.1)
    assert re.search(r"^ +\d+  ordered_below = np\.sort\(cellar\) ", said, re.MULTILINE)
    waits = re.findall(r"^line \d+ waits for line \d+: (\w+)$", said, re.MULTILINE)
    assert sorted(waits) == sorted(["ordered", "usual", "ordered_below", "usual_below", "unrest", "unrest_below"])


def test_a_program_with_half_of_its_memory_is_placed_predicted_and_measured(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    said = run(sys.executable, EXAMPLES / "place_objects.py", "--placements", "0", folder=tmp_path)
    predicted, taken, capacity = found(r"^(\S+ \S+) predicted \(exact, .*\); (\S+) MiB of (\S+) MiB fast$", said)
    assert predicted
    assert 0 < float(taken) <= float(capacity)
    assert len(re.findall(r"^\w+ +\S+ MiB  (?:ram|disk)$", said, re.MULTILINE)) == 7
    low, high = map(float, found(r"^9 runs out of 10 are expected between (\S+) and (\S+) s$", said))
    assert 0 <= low <= high


def found(pattern: str, text: str) -> tuple[str, ...]:
    match = re.search(pattern, text, re.MULTILINE)
    assert match is not None, text
    return match.groups()
