"""A whole study: what runs, what is kept, what is shown and what is refused."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from argosy.bench.locality import results
from argosy.bench.locality.findings import findings_of
from argosy.bench.locality.plan import ANY, COURSES, Plan
from argosy.bench.locality.results import Outcome
from argosy.bench.locality.table import markdown
from argosy.cli import app
from argosy.cli.bench_shuffle import QUICK

torch.set_num_threads(1)
SMALL = ("--workers", 4, "--samples", 128, "--epochs", 1, "--seeds", 2, "--device", "cpu")
FEW = ("--fractions", "0,1", "--shards", "sorted", "--norm", "local,none", "--every", "1,2")


@pytest.fixture(autouse=True)
def _few_are_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COURSES, "atoms", replace(COURSES["atoms"], held_out=64))
    monkeypatch.setenv("COLUMNS", "200")


def argosy(*words: Any) -> Any:
    return CliRunner().invoke(app, ["bench", "shuffle", *map(str, words)])


def made(plan: Plan, accuracy: Any) -> dict[Any, Outcome]:
    return {one: Outcome(accuracy=accuracy(one), seconds=0.0, device="cpu") for one in plan.trials()}


def test_one_command_trains_and_shows_a_table(tmp_path: Path) -> None:
    shown = argosy(*SMALL, *FEW, "--out", tmp_path / "out")
    assert shown.exit_code == 0, shown.output
    assert {"runs.jsonl", "table.md", "findings.json"} <= {path.name for path in (tmp_path / "out").iterdir()}
    assert "8 of 16: Q = 0, sorted shards, BatchNorm none, averaged every 2, seed 0: " in shown.stderr
    assert "Q = 0.1" not in shown.stdout
    assert shown.stdout.count("sorted") == 4
    done = results.read(tmp_path / "out")
    assert len(done) == 16
    assert all(0 <= one.accuracy <= 1 for one in done.values())
    assert (tmp_path / "out" / "table.md").read_text().count("| sorted |") == 4


def test_a_second_start_runs_only_what_is_missing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    argosy(*SMALL, *FEW, "--out", out)
    path = out / "runs.jsonl"
    before = path.read_text().splitlines(keepends=True)
    path.write_text("".join(before[:-2]) + before[-2][:40])  # stopped while a line was written
    shown = argosy(*SMALL, *FEW, "--out", out)
    assert "14 of 16 runs are in" in shown.stderr
    assert shown.stderr.count(" s\n") == 2
    assert results.read(out).keys() == {results.read_line(line)[0] for line in before}


def test_equal_seeds_give_equal_runs(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        argosy(*SMALL, *FEW, "--out", tmp_path / name)
        found.append({trial: one.accuracy for trial, one in results.read(tmp_path / name).items()})
    assert found[0] == found[1]


def test_json_is_one_list_on_stdout(tmp_path: Path) -> None:
    rows = json.loads(argosy(*SMALL, *FEW, "--json", "--out", tmp_path / "out").stdout)
    assert [(row["norm"], row["every"], row["shards"]) for row in rows] == [
        ("local", 1, "sorted"),
        ("none", 1, "sorted"),
        ("local", 2, "sorted"),
        ("none", 2, "sorted"),
    ]
    assert [cell["fraction"] for cell in rows[0]["cells"]] == [0, 1]
    assert rows[0]["cells"][0]["verdict"] in ("equivalent", "worse", "better", "open")
    assert rows[0]["cells"][1]["verdict"] is None


def test_without_matplotlib_it_says_so_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    shown = argosy(*SMALL, "--fractions", "1", "--shards", "random", "--norm", "none", "--every", 1, "--out", tmp_path)
    assert shown.exit_code == 0
    assert "no plot: matplotlib is not installed" in shown.stderr


def test_a_global_shuffle_is_run_once_for_all_shards_and_stands_in_each_of_their_rows() -> None:
    plan = Plan(seeds=3, norms=("local",), every=(1,))
    trials = list(plan.trials())
    assert len(trials) == len(set(trials)) == 3 * (1 + 3 * 4)
    assert {trial.shards for trial in trials if trial.fraction == 1} == {ANY}
    rows = findings_of(plan, made(plan, lambda one: 0.5 + one.seed / 100))
    assert [row.shards for row in rows] == ["random", "sorted", "dirichlet"]
    assert {row.cells[-1].mean for row in rows} == {51.0}


def test_differences_are_paired_by_seed() -> None:
    plan = Plan(seeds=4, norms=("local",), every=(1,), shards=("sorted",), fractions=(0.0, 0.1, 1.0))

    def accuracy(trial: Any) -> float:
        by_seed = 0.1 * trial.seed  # far more than the margin, and the same for all
        return by_seed + (0.3 if trial.fraction == 0 else 0.6) + 0.0001 * trial.seed * trial.fraction

    (row,) = findings_of(plan, made(plan, accuracy))
    assert [cell.against and cell.against.verdict for cell in row.cells] == ["worse", "equivalent", None]
    text = markdown(plan, [row])
    assert "| local | 1 | sorted | 45.0 ± 12.9 - | 75.0 ± 12.9 = |" in text


def test_runs_of_other_settings_are_not_mixed_in() -> None:
    plan = Plan(seeds=2, norms=("local",), every=(1,))
    assert findings_of(plan, made(Plan(seeds=2, norms=("local",), every=(1,), epochs=3), lambda _: 0.5)) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--shards", "sortd"), "there is no kind of shards 'sortd', did you mean 'sorted'?"),
        (("--norm", "synchronized"), "there is no BatchNorm 'synchronized', did you mean 'synchronised'?"),
        (("--task", "atom"), "there is no task in this study 'atom', did you mean 'atoms'?"),
        (("--fractions", "0,1.5"), "not 1.5"),
        (("--fractions", "some"), "fractions are numbers with commas between them, not 'some'"),
        (("--fractions", "0,0"), "each fraction is named once"),
        (("--every", "0"), "above 0, not 0"),
        (("--workers", "10_000"), "10000 workers with 2 batches of 8 samples or more need 160,000 samples"),
        (("--data", "here"), "has no files: leave --data out"),
        (("--task", "cifar10"), "reads a Parquet file of JPEGs; say which"),
        (("--device", "gpu"), "there is no device 'gpu'"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    shown = argosy("--seeds", 1, "--out", tmp_path / "out", *words)
    assert shown.exit_code in (1, 2)
    assert said in " ".join(shown.stderr.replace("│", " ").split())
    assert not (tmp_path / "out").exists()


def test_quick_is_the_row_that_matters() -> None:
    plan = replace(Plan(), **QUICK)
    assert {(one.norm, one.every) for one in plan.trials()} == {("local", 1)}
    assert set(plan.trials()) < set(Plan().trials())
