"""Calibration and validation of real runs, in main memory and on a real disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from argosy.errors import BadTrace, TooNoisy
from argosy.memory import Disk, Store, Workload, affording, calibrate, miniapps, validate
from argosy.memory.affording import NOISE_OF_A_MEAN, REPEATS, repeats_for
from argosy.memory.designs import design_rows
from argosy.memory.held_out import adversarial_rows, validation_rows
from argosy.memory.measuring import Measurements, check_noise, measure
from argosy.memory.validating import TOLD_BY_TWO, calibrate_and_validate

COUNTS = {"hot": 40_000, "warm": 20_000, "cold": 80_000, "output": 10_000}


@pytest.fixture(autouse=True)
def _few_runs_of_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(affording, "FINALS", (2, 4))


def sweeps(name: str = "sweeps", rounds: int = 2) -> Workload:
    def run(store: Store) -> float:
        total = 0.0
        for _ in range(rounds):
            with store.window("hot"):
                total += float(store["hot"].sum())
            with store.window("both"):
                np.multiply(store["warm"][:10_000], 2, out=store.write("output"))
        with store.window("cold"):
            total += float(store["cold"].sum())
        return total

    return Workload(name=name, objects=lambda: {key: np.ones(count) for key, count in COUNTS.items()}, run=run)


def test_a_calibrated_workload_is_predicted_and_validated(tmp_path: Path) -> None:
    found = calibrate(sweeps(), repeats=2, slow=Disk(tmp_path), noise=10.0)
    assert found.objects == tuple(COUNTS)
    assert found.costs.windows == ("hot", "both", "cold", "(between windows)")
    assert found.predict(dict.fromkeys(COUNTS, "disk")).seconds == pytest.approx(found.seconds[1])
    assert found.predict(dict.fromkeys(COUNTS, "ram")).seconds == pytest.approx(found.seconds[0])
    assert found.moves.fetch_seconds_per_byte > 0
    result = validate(sweeps(), found, placements=4, repeats=1, slow=Disk(tmp_path))
    known = {row.tobytes() for row in found.measured}
    assert not any(row.tobytes() in known for row in result.rows)
    assert set(result.to_json()) >= {
        "mean_error", "largest_error", "kendall_tau", "within_10_percent", "regret", "noise", "law",
    }  # fmt: skip
    assert 0 <= result.mean_error <= result.largest_error
    assert list(result.to_json()["regrets"]) == [one.capacity for one in result.chosen] == ["25%", "50%", "75%"]
    took = zip(result.chosen, (1.0, 3.0, 4.0), strict=True)
    chosen = tuple(replace(one, seconds=seconds, best_seconds=2.0) for one, seconds in took)
    assert replace(result, chosen=chosen).to_json()["regrets"] == {"25%": 0.0, "50%": 0.5, "75%": 1.0}
    assert replace(result, chosen=chosen).to_json()["regret"] == 1.0
    assert result.to_arrow().num_rows == len(result.rows)
    assert "Kendall tau" in str(result)


def test_both_in_the_same_rounds_and_the_law_sees_the_design_alone(tmp_path: Path) -> None:
    runs, found = calibrate_and_validate(
        sweeps(), 5, design="one-at-a-time", repeats=3, noise=10.0, slow=Disk(tmp_path)
    )
    design = design_rows("one-at-a-time", len(COUNTS))
    assert np.array_equal(runs.measured.rows, design)
    assert np.array_equal(found.again.rows, design)
    assert runs.measured.pace is not None
    assert found.held_out.pace is not None
    known = {row.tobytes() for row in design}
    assert len(found.rows) == 5
    assert not any(row.tobytes() in known for row in found.rows)
    assert found.runs.shape == (5, 3)
    estimator = runs.estimator()
    again = runs.measured.at_one_pace()
    assert found.law == estimator.law
    assert found.predicted == pytest.approx(estimator.anchored(again.rows, again.totals).predict_many(found.rows))
    with pytest.raises(TooNoisy):
        calibrate_and_validate(sweeps(), 5, design="endpoints", repeats=3, noise=-1.0, slow=Disk(tmp_path))


def test_where_calibration_ran_everything_there_is_nothing_left_to_try(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no mixed placement is left to try: calibration ran 2 of the 16 there are"):
        calibrate_and_validate(sweeps(), 0, design="endpoints", repeats=1, slow=Disk(tmp_path))


def test_endpoints_are_two_placements_and_give_the_linear_law(tmp_path: Path) -> None:
    found = calibrate(sweeps(), design="endpoints", repeats=1, slow=Disk(tmp_path))
    assert len(found.measured) == 2
    assert found.law == "linear"


def test_an_estimator_of_another_program_or_size_is_refused(tmp_path: Path) -> None:
    found = calibrate(sweeps(), design="endpoints", repeats=1, slow=Disk(tmp_path))
    with pytest.raises(BadTrace, match="this estimator is of 'sweeps'"):
        validate(sweeps("other"), found, placements=2, slow=Disk(tmp_path))
    with pytest.raises(ValueError, match="repeats must be a whole number of at least 1"):
        calibrate(sweeps(), repeats=0, slow=Disk(tmp_path))


def test_a_workload_that_does_other_work_in_each_run_is_refused(tmp_path: Path) -> None:
    runs: list[int] = []

    def run(store: Store) -> None:
        runs.append(1)
        for _ in range(len(runs)):
            with store.window("w"):
                _ = store["a"]

    restless = Workload(name="restless", objects=lambda: {"a": np.ones(10)}, run=run)
    with pytest.raises(BadTrace, match=r"two runs of 'restless' differ from window 1 on \(2 windows and 3\)"):
        calibrate(restless, slow=Disk(tmp_path))


def test_a_workload_without_windows_or_objects_says_what_to_do(tmp_path: Path) -> None:
    nothing = Workload(name="nothing", objects=lambda: {"a": np.ones(10)}, run=lambda store: None)
    with pytest.raises(BadTrace, match="'nothing' ran without a window"):
        calibrate(nothing, slow=Disk(tmp_path))

    def idle(store: Store) -> None:
        with store.window("w"):
            pass

    with pytest.raises(BadTrace, match="no window of the trace touched an object"):
        calibrate(Workload(name="idle", objects=lambda: {"a": np.ones(10)}, run=idle), slow=Disk(tmp_path))


def noisy(spread: float, repeats: int = 6) -> Measurements:
    runs = 1 + spread * (np.arange(repeats) % 2 * 2.0 - 1)
    return Measurements(
        program="app",
        objects=("a",),
        sizes=(1,),
        windows=("w",),
        order=(0,),
        rows=np.array([[False], [True]]),
        seconds=np.stack([runs, runs])[:, :, None],
        moved=np.ones((1, 1)),
    )


def test_noisier_runs_are_repeated_more_often_where_nobody_says_how_often() -> None:
    often = [repeats_for(noise) for noise in (0.0, 0.02, 0.06, 0.07, 0.1, 0.5)]
    assert often == sorted(often)
    assert (often[0], often[-1]) == REPEATS
    for noise, repeats in zip((0.06, 0.07), often[2:4], strict=True):
        assert noise / repeats**0.5 <= NOISE_OF_A_MEAN < noise / (repeats - 1) ** 0.5


def test_two_runs_of_many_placements_tell_the_noise() -> None:
    runs = 1 + 0.08 * np.random.default_rng(0).normal(size=(4000, 2, 1))
    two = replace(noisy(0.0), rows=np.zeros((4000, 1), dtype=np.bool_), seconds=runs)
    assert two.noise / TOLD_BY_TWO == pytest.approx(0.08, rel=0.05)


def test_repeats_that_differ_by_more_than_the_noise_ask_for_more_repeats() -> None:
    with pytest.raises(TooNoisy, match=r"differ by 30%, more than the 20% .*repeats=12"):
        check_noise(noisy(0.2), 0.2)
    check_noise(noisy(0.1), 0.2)
    check_noise(noisy(0.0), 0.0)


def test_windows_add_up_to_the_run_and_a_hiccup_is_left_out() -> None:
    seconds = np.array([[[1.0, 2.0], [2.0, 1.0], [1.0, 3.0], [5.0, 60.0]]])
    measured = Measurements(
        program="app",
        objects=("a",),
        sizes=(1,),
        windows=("v", "w"),
        order=(0, 1),
        rows=np.array([[False]]),
        seconds=seconds,
        moved=np.ones((2, 1)),
    )
    assert measured.per_window[0] == pytest.approx([4 / 3, 2.0])
    assert measured.totals[0] == pytest.approx(10 / 3)


def test_one_repeat_says_nothing_of_noise() -> None:
    assert noisy(0.5, repeats=1).noise == 0
    check_noise(noisy(0.5, repeats=1), 0.01)


def test_runs_of_all_placements_are_interleaved(tmp_path: Path) -> None:
    visited: list[str] = []
    workload = sweeps()

    def run(store: Store) -> None:
        visited.append("".join("s" if tier == "disk" else "f" for tier in store.placement.values()))
        workload.run(store)

    watched = Workload(name="watched", objects=workload.objects, run=run)
    rows = np.array([[False] * 4, [True] * 4, [True, False, True, False]])
    with watched.store(slow=Disk(tmp_path)) as store:
        measured = measure(watched, store, rows, repeats=3)
    rounds = [set(visited[1 + 3 * i : 4 + 3 * i]) for i in range(3)]
    assert rounds == [{"ffff", "ssss", "sfsf"}] * 3
    assert measured.seconds.shape == (3, 3, 4)
    assert measured.moved[0].tolist() == [2 * 320_000, 0, 0, 0]


def test_adversarial_placements_are_mixed_and_a_quarter_of_those_tried(tmp_path: Path) -> None:
    found = calibrate(sweeps(), design="endpoints", repeats=1, slow=Disk(tmp_path))
    tricky = {row.tobytes() for row in adversarial_rows(found)}
    assert all(row.any() and not row.all() for row in adversarial_rows(found))
    rows = validation_rows(found, 12, seed=1)
    assert len(rows) == 12
    assert sum(row.tobytes() in tricky for row in rows[:3]) == 3


def test_a_workload_without_objects_has_nothing_to_place(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'bare' has no objects"):
        calibrate(Workload(name="bare", objects=dict, run=lambda store: None), slow=Disk(tmp_path))


def test_a_lack_of_scipy_shows_before_anything_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("argosy.memory.calibrating.have_scipy", lambda: False)
    runs: list[str] = []
    watched = Workload(name="watched", objects=sweeps().objects, run=lambda store: runs.append("run"))
    with pytest.raises(ModuleNotFoundError, match=r"need SciPy.*argosy\[memory\]"):
        calibrate(watched, slow=Disk(tmp_path))
    assert runs == []


def test_a_name_is_enough_and_the_time_that_is_given_is_kept_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unlimited run of this would be 8 repeats at least, and 60 for each plan."""
    monkeypatch.setattr(miniapps, "load", sweeps)
    told: list[tuple[int, int]] = []
    found = validate("hashjoin", placements=4, seconds=0.05, slow=Disk(tmp_path), progress=lambda *at: told.append(at))
    assert found.program == "hashjoin"
    assert len(found.rows) == 4
    assert found.repeats == 2 < found.wanted_repeats
    assert found.asked_seconds == 0.05
    assert found.took_seconds > 0
    assert told[-1][0] == told[-1][1]
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    most = found.calibrated_on * 2 * 2 + 4 * 2 + 3 * (24 + 2 * 2)
    assert told[-1][0] <= most


def test_an_estimator_from_before_is_validated_within_a_time_too(tmp_path: Path) -> None:
    found = calibrate(sweeps(), design="one-at-a-time", repeats=2, slow=Disk(tmp_path), noise=10.0)
    short = validate(sweeps(), found, placements=4, seconds=0.01, slow=Disk(tmp_path))
    assert short.repeats == 2
    exact = validate(sweeps(), found, placements=2, repeats=3, seconds=0.01, slow=Disk(tmp_path))
    assert exact.repeats == exact.wanted_repeats == 3


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, r"seconds=0\.0 leaves no time"),
        (-1, r"seconds=-1\.0 leaves no time"),
        (float("nan"), "seconds must be a number above 0, or None for no limit, not nan"),
    ],
)
def test_a_time_in_which_nothing_can_be_measured_is_refused(seconds: float, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        validate(sweeps(), placements=4, seconds=seconds)


def test_a_program_that_is_not_there_is_named_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="there is no mini-app 'cgg'; did you mean 'cg'"):
        validate("cgg")
