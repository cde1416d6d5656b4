"""What is published can be read back, is small, and tells nothing of whose machine it was."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory.made_up import costs_of, measured_from

from argosy.errors import BadTrace
from argosy.memory.calibrating import Calibrated
from argosy.memory.designs import design_rows, held_out_rows
from argosy.memory.estimator import Estimator
from argosy.memory.moves import Moves
from argosy.memory.publishing import CALIBRATION, HELD_OUT, load, publish, published_in
from argosy.memory.trace import Touch, Trace, Window
from argosy.memory.validation import Chosen, Validation

Made = tuple[Calibrated, Validation, Trace]


def made(num_objects: int = 5, placements: int = 8, seed: int = 0) -> Made:
    """As if it had been run on a machine with known costs."""
    costs, moved = costs_of(num_objects, 3, seed)
    known = design_rows("one-at-a-time", num_objects)
    measured = measured_from(costs, moved, known, noise=0.01, repeats=3, seed=seed)
    moves = Moves(fetch_seconds_per_byte=1e-9, evict_seconds_per_byte=0.0)
    calibrated = Calibrated(measured=measured, moves=moves, fast="ram", slow="disk")
    rows = held_out_rows(known, placements, seed=seed)
    seen = measured_from(costs, moved, rows, noise=0.01, repeats=3, seed=seed + 1)
    validation = Validation(
        program="made up",
        law="additive",
        held_out=seen,
        again=measured,
        predicted=calibrated.estimator("additive").predict_many(rows),
        drift=0.0,
        error_before_anchoring=0.01,
        chosen=(Chosen(capacity="50%", seconds=1.1, best_seconds=1.0),),
    )
    window = Window(name="w0", seconds=0.5, touches=(Touch(object="o0", bytes_read=8, tier="ram"),))
    trace = Trace(program="made up", sizes=dict(zip(costs.objects, costs.sizes, strict=True)), windows=(window,))
    return calibrated, validation, trace


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(3, 9), st.integers(2, 20), st.integers(0, 99))
def test_what_was_published_is_read_back(tmp_path: Path, num_objects: int, placements: int, seed: int) -> None:
    calibrated, validation, trace = made(num_objects, placements, seed)
    publish(tmp_path, calibrated, validation, trace)
    found = load(tmp_path, "made up")
    assert found.trace == trace
    assert found.objects == validation.objects
    assert np.array_equal(found.rows(HELD_OUT), validation.rows)
    assert np.array_equal(found.seconds(HELD_OUT), validation.measured)
    assert np.array_equal(found.seconds(HELD_OUT, "predicted_seconds"), validation.predicted)
    assert np.array_equal(found.rows(CALIBRATION), calibrated.measured.rows)
    assert np.array_equal(found.seconds(CALIBRATION), calibrated.measured.totals)
    assert found.figures["mean_error"] == validation.mean_error


def test_each_repeat_is_there_and_their_mean_is_the_seconds(tmp_path: Path) -> None:
    calibrated, validation, trace = made()
    publish(tmp_path, calibrated, validation, trace)
    table = load(tmp_path, "made up").placements.to_pylist()
    known = [row for row in table if row["role"] == CALIBRATION]
    assert all(len(row["repeats"]) == 3 for row in table)
    assert [np.mean(row["repeats"]) for row in table] == pytest.approx([row["seconds"] for row in table])
    assert all(row["predicted_seconds"] is None for row in known)
    assert known[0]["slow"] == "00000"
    assert known[1]["slow"] == "11111"


def test_an_estimator_without_its_runs_is_published_without_repeats(tmp_path: Path) -> None:
    calibrated, validation, trace = made()
    estimator: Estimator = calibrated.estimator("additive")
    publish(tmp_path, estimator, validation, trace)
    found = load(tmp_path, "made up")
    assert np.array_equal(found.seconds(CALIBRATION), calibrated.measured.totals)
    assert found.placements["repeats"].null_count == len(calibrated.measured.rows)


def test_200_placements_of_24_objects_are_well_under_100_kb_and_name_no_place(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "truth"
    paths = publish(folder, *made(24, 200))
    assert [path.name for path in paths] == ["made_up.trace.arrow", "made_up.placements.parquet", "made_up.json"]
    assert sum(path.stat().st_size for path in paths) < 50_000
    figures = json.loads(paths[2].read_text())
    machine = figures["machine"]
    assert machine["cores"] >= 1
    assert machine["disk_read_nbytes_per_second"] == 1_000_000_000
    assert machine["disk_write_nbytes_per_second"] is None
    assert machine["numpy"] == np.__version__
    assert list(figures["errors_left_one_out"]) == ["linear", "additive", "hinge"]
    assert figures["law"] == "additive"
    assert figures["plans"] == [{"capacity": "50%", "seconds": 1.1, "best_seconds": 1.0}]
    assert "/" not in paths[2].read_text().replace("argosy.memory.published/1", "")


def test_programs_of_a_folder_are_found_by_name(tmp_path: Path) -> None:
    publish(tmp_path, *made())
    assert published_in(tmp_path) == ["made_up"]
    assert load(tmp_path, "made_up").app == "made up"


def test_a_figure_that_does_not_exist_is_null_as_json_has_no_nan(tmp_path: Path) -> None:
    calibrated, validation, trace = made()
    same = replace(validation, predicted=np.ones(len(validation.rows)))
    assert np.isnan(same.kendall_tau)
    *_, figures = publish(tmp_path, calibrated, same, trace)
    assert "NaN" not in figures.read_text()
    assert load(tmp_path, "made up").figures["kendall_tau"] is None


def test_parts_of_different_programs_do_not_go_together(tmp_path: Path) -> None:
    calibrated, validation, trace = made()
    with pytest.raises(BadTrace, match="an estimator of 'made up', a validation of 'made up' and a trace of 'other'"):
        publish(tmp_path, calibrated, validation, replace(trace, program="other"))
    assert not list(tmp_path.iterdir())


def test_what_is_not_there_or_cannot_be_read_is_said(tmp_path: Path) -> None:
    trace, placements, figures = publish(tmp_path, *made())
    with pytest.raises(BadTrace, match=r"has no cg.trace.arrow and no .*; published there: made_up"):
        load(tmp_path, "cg")
    good = figures.read_text()
    for bad in ("{", "[]", "{}", good.replace("published/1", "published/9")):
        figures.write_text(bad)
        with pytest.raises(BadTrace, match=r"what .* has of 'made up' cannot be read"):
            load(tmp_path, "made up")
    figures.write_text(good)
    placements.write_bytes(trace.read_bytes())
    with pytest.raises(BadTrace, match="cannot be read"):
        load(tmp_path, "made up")
