"""A study on a task that learns in a moment: what is run, what is kept, and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from train.problems import blob_task

from argosy.errors import LossNotFinite, TrainError
from argosy.train.noise import NoiseScale
from argosy.train.run import Evaluation
from argosy.train.study import Findings, Settings, study
from argosy.train.study import runs as running
from argosy.train.study.model import phi_until
from argosy.train.study.plots import MISSING
from argosy.train.study.runs import Enough, ledger_path, read_run
from argosy.train.tasks import TASKS

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _blobs_are_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TASKS, "blobs", blob_task)
    running._task.cache_clear()


@pytest.fixture
def _no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take longer than all the rest."""
    monkeypatch.setattr("argosy.train.study.conduct.write_plots", lambda *_: [])


def settings(**others: Any) -> Settings:
    return Settings(**{"task": "blobs", "workers": (1, 4), "seeds": 2, **others})


def run(folder: Path, tell: Callable[[str, int, int], None] | None = None, **others: Any) -> Findings:
    """In this process: one rank."""
    return study(settings(**others), folder, ranks=1, tell=tell)


def test_a_study_writes_findings_table_plots_and_a_ledger_of_each_run(tmp_path: Path) -> None:
    findings = run(tmp_path / "out")
    there = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"study.json", "table.txt", "s_par.png", "s_learn.svg", "e_stat.png", "prediction.png"} <= there
    assert len(list((tmp_path / "out" / "runs").glob("workers-*.jsonl"))) == 4
    kept = json.loads((tmp_path / "out" / "study.json").read_text())
    assert kept == json.loads(json.dumps(findings.as_dict()))
    assert kept["ceiling"] == pytest.approx(1 + kept["phi"] / 4)
    assert (tmp_path / "out" / "table.txt").read_text().startswith("ceiling of learning speed-up: ")


@pytest.mark.usefixtures("_no_plots")
def test_there_is_a_row_of_each_kind_for_each_number_of_workers_and_target(tmp_path: Path) -> None:
    findings = run(tmp_path)
    expected = {(workers, target) for workers in (1, 4) for target in findings.targets}
    assert len(findings.targets) >= 3
    for kind in ("measured", "modelled"):
        assert {(row.workers, row.target) for row in findings.of(kind)} == expected
    for row in findings.rows:
        assert row.s_learn == pytest.approx(row.s_par * row.e_stat)
        assert row.low is not None
        assert row.high is not None
        assert row.low <= row.s_learn <= row.high
    assert {row.e_stat_kind for row in findings.of("measured")} == {"measured"}
    assert {row.s_par_kind for row in findings.of("measured")} == {"modelled"}


@pytest.mark.usefixtures("_no_plots")
def test_a_study_that_was_stopped_goes_on_with_the_runs_that_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(tmp_path / "whole")
    performed: list[tuple[int, int]] = []
    perform = running.perform

    def stopping(assignment: Any, comm: Any = None) -> None:
        if len(performed) == 3:
            raise KeyboardInterrupt
        performed.append((assignment.workers, assignment.seed))
        perform(assignment, comm)

    monkeypatch.setattr("argosy.train.study.crew.perform", stopping)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts")
    assert performed == [(1, 0), (1, 1), (4, 0)]
    cut = ledger_path(tmp_path / "parts", 4, 0)
    cut.write_text("\n".join(cut.read_text().splitlines()[:-1]))  # killed before its end
    performed.clear()
    told: list[tuple[str, int, int]] = []
    findings = run(tmp_path / "parts", tell=lambda *what: told.append(what))
    assert performed == [(4, 0), (4, 1)]
    assert told[0] == ("1 worker, the baseline", 2, 2)
    assert told[-1] == ("more workers", 2, 2)
    assert [row.e_stat for row in findings.of("measured")] == [row.e_stat for row in whole.of("measured")]
    performed.clear()
    run(tmp_path / "parts")
    assert not performed


@pytest.mark.usefixtures("_no_plots")
def test_seeds_and_workers_can_be_added_and_other_settings_are_refused(tmp_path: Path) -> None:
    first = run(tmp_path, seeds=1)
    more = run(tmp_path, seeds=2, workers=(1, 2, 4))
    assert more.targets == first.targets
    assert {row.workers for row in more.rows} == {1, 2, 4}
    with pytest.raises(TrainError, match=r"holds a study with batch None and not 8; name another folder"):
        run(tmp_path, batch=8)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    with pytest.raises(TrainError, match="has something else in it"):
        run(tmp_path / "other")


@pytest.mark.usefixtures("_no_plots")
def test_one_seed_has_no_intervals_and_says_why(tmp_path: Path) -> None:
    findings = run(tmp_path, seeds=1)
    assert all(row.low is None and row.high is None for row in findings.rows)
    assert any("there is one seed" in note for note in findings.notes)
    assert "no intervals" in (tmp_path / "table.txt").read_text()


@pytest.mark.usefixtures("_no_plots")
def test_the_baseline_is_added_where_it_was_left_out(tmp_path: Path) -> None:
    findings = run(tmp_path, workers=(4,), seeds=1)
    assert {row.workers for row in findings.rows} == {1, 4}
    assert any("1 worker is the baseline, and was added" in note for note in findings.notes)


def test_without_matplotlib_there_is_a_note_and_no_plots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    findings = run(tmp_path, seeds=1)
    assert MISSING in findings.notes
    assert not list(tmp_path.glob("*.png"))


@pytest.mark.usefixtures("_no_plots")
def test_a_run_that_diverges_counts_as_one_that_never_arrives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from argosy.train import fitting

    fit = fitting.fit

    def diverging(*args: Any, **options: Any) -> Any:
        if options["workers"] == 4:
            options["stop"] = lambda evaluations: len(evaluations) == 1
            fit(*args, **options)
            raise LossNotFinite(float("nan"), 9, 0, "rows 1, 2", "no checkpoint was asked for")
        return fit(*args, **options)

    monkeypatch.setattr(fitting, "fit", diverging)
    findings = run(tmp_path)
    rows = [row for row in findings.of("measured") if row.workers == 4]
    assert all(row.censored and row.missed == 2 for row in rows)
    assert all(row.e_stat < 1 for row in rows)
    ended = read_run(tmp_path, 4, 0, "accuracy").evaluations[-1]
    assert np.isnan(ended.metrics["accuracy"])
    assert "<= " in (tmp_path / "table.txt").read_text()


@pytest.mark.usefixtures("_no_plots")
def test_targets_and_batch_can_be_given(tmp_path: Path) -> None:
    findings = run(tmp_path, targets=(0.4, 0.5, 0.6), batch=8)
    assert findings.targets == (0.4, 0.5, 0.6)
    assert findings.batch == 8
    with pytest.raises(TrainError, match=r"accuracy of 0\.99 is reached by 0 of 1"):
        run(tmp_path / "far", targets=(0.99,), seeds=1)


def test_the_noise_scale_to_a_target_is_the_median_over_the_way_to_it() -> None:
    scales = [NoiseScale(), NoiseScale()]
    for scale in scales:
        for number, phi in enumerate([5.0, 20.0, 30.0, 40.0, 1000.0]):
            scale.observe(1 + phi / 4, 1 + phi / 32, small_batch=4, large_batch=32, at=1024 * number)
    noise = NoiseScale.together(scales)
    assert phi_until(noise, 3000, 5).value == pytest.approx(20)
    assert phi_until(noise, 4000, 5).value == pytest.approx(25)
    assert phi_until(noise, 1, 5).value == pytest.approx(5)
    wide = phi_until(noise, 9999, 5)
    assert wide.low <= wide.value <= wide.high


def test_a_run_stops_at_its_target_or_after_its_samples() -> None:
    def at(samples: int, value: float) -> list[Evaluation]:
        return [Evaluation(samples=samples, seconds=1.0, metrics={"accuracy": value})]

    to_target = Enough(metric="accuracy", higher=True, target=0.8, samples=100)
    assert [to_target(at(*one)) for one in [(50, 0.7), (50, 0.8), (100, 0.1)]] == [False, True, True]
    to_the_end = Enough(metric="accuracy", higher=True, target=None, samples=100)
    assert [to_the_end(at(*one)) for one in [(50, 0.9), (100, 0.9)]] == [False, True]
    lower = Enough(metric="accuracy", higher=False, target=0.2, samples=100)
    assert [lower(at(*one)) for one in [(50, 0.3), (50, 0.2), (50, float("nan"))]] == [False, True, False]


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"workers": ()}, "needs numbers of workers"),
        ({"workers": (1, 0)}, "1 or more, not 0"),
        ({"workers": (1, 2, 2)}, "2 workers are there twice"),
        ({"seeds": 0}, "at least 1 seed"),
        ({"batch": 1}, "2 samples or more"),
        ({"budget": 0}, "above 0, not 0"),
        ({"lr_rule": "lineal"}, "no learning-rate rule 'lineal'; there are gain, linear"),
        ({"targets": ()}, "values of the held-out metric"),
    ],
)
def test_settings_that_make_no_sense_are_refused_before_anything_runs(others: dict[str, Any], said: str) -> None:
    with pytest.raises(TrainError, match=said):
        settings(**others)


def test_a_task_that_there_is_not_and_files_for_one_that_has_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainError, match=r"there is no task 'blob', did you mean 'blobs'\?"):
        run(tmp_path, task="blob")
    with pytest.raises(TrainError, match="has no files: leave --data out"):
        run(tmp_path, data="/data")
    assert not list(tmp_path.iterdir())


def test_more_real_workers_than_ranks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainError, match="4 workers need 4 ranks, but --ranks is 1"):
        run(tmp_path, virtual=False)


@pytest.mark.timeout(180)
@pytest.mark.usefixtures("_no_plots")
def test_real_workers_are_the_ranks_of_a_pilot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOSY_RUNS", str(tmp_path / "runs"))
    asked = settings(task="atoms", workers=(1, 2), seeds=1, virtual=False, budget=1024, targets=(0.05,))
    findings = study(asked, tmp_path / "out")
    assert {row.s_par_kind for row in findings.of("measured")} == {"measured"}
    assert not any("the link is a usual one" in note for note in findings.notes)
    assert {row.workers for row in findings.rows} == {1, 2}
