"""How much sooner it was learned: the laws that a figure has to keep."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.errors import TooFewSeeds, TrainError
from argosy.train.curves import crossing_of, higher_is_better
from argosy.train.ledger import Ledger
from argosy.train.run import Evaluation, Run
from argosy.train.speedups import Speedup, speedup

laws = settings(max_examples=40, deadline=None)


def run(workers: int, seed: int, values: list[float], *, pace: float = 10.0, every: int = 100) -> Run:
    """Evaluated after each `every` samples, at a constant pace."""
    evaluations = tuple(
        Evaluation(samples=at * every, seconds=at * every / pace, metrics={"accuracy": value})
        for at, value in enumerate(values, start=1)
    )
    return Run(workers=workers, seed=seed, batch=workers * 8, evaluations=evaluations, samples_per_second=pace)


def rising(workers: int, seed: int, need: float, *, pace: float = 10.0, budget: int = 40) -> Run:
    """Reaches 1 after `need` hundred samples, on a straight line."""
    return run(workers, seed, [min(1.0, at / need) for at in range(1, budget + 1)], pace=pace)


needs = st.lists(st.floats(2, 30), min_size=2, max_size=5)
paces = st.floats(1, 1000)
TARGETS = (0.5, 0.7, 0.9)


@st.composite
def studies(draw: st.DrawFn) -> list[Run]:
    runs = []
    for workers in (1, 4):
        pace = draw(paces)
        runs += [rising(workers, seed, need, pace=pace) for seed, need in enumerate(draw(needs))]
    return runs


def figures(result: Speedup) -> list[tuple[float, ...]]:
    return [(row.s_par, row.e_stat, row.s_learn, row.low, row.high) for row in result.rows]


@laws
@given(studies(), st.floats(1e-3, 1e3))
def test_a_clock_that_runs_faster_changes_nothing(runs: list[Run], factor: float) -> None:
    scaled = [
        replace(
            run,
            samples_per_second=run.samples_per_second / factor,
            evaluations=tuple(replace(at, seconds=at.seconds * factor) for at in run.evaluations),
        )
        for run in runs
    ]
    ours, theirs = (figures(speedup(each, targets=TARGETS)) for each in (runs, scaled))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@laws
@given(studies(), st.randoms(use_true_random=False))
def test_the_order_of_runs_and_the_names_of_seeds_change_nothing(runs: list[Run], random: object) -> None:
    shuffled = [replace(run, seed=99 - run.seed) for run in runs]
    random.shuffle(shuffled)
    assert figures(speedup(runs)) == figures(speedup(shuffled))


@laws
@given(studies())
def test_the_identity_holds_exactly_at_a_constant_pace(runs: list[Run]) -> None:
    result = speedup(runs, targets=TARGETS)
    assert result.largest_residual < 1e-9


@laws
@given(needs, paces)
def test_identical_runs_give_one(needed: list[float], pace: float) -> None:
    runs = [rising(workers, seed, need, pace=pace) for workers in (1, 2) for seed, need in enumerate(needed)]
    rows = speedup(runs).rows
    assert rows
    for row in rows:
        assert row.s_par == row.e_stat == row.s_learn == 1
        assert row.low <= 1 <= row.high
        assert row.residual == 0


def never(run: Run) -> Run:
    """The same budget, but the metric stays below every target."""
    return replace(run, evaluations=tuple(replace(at, metrics={"accuracy": 0.01}) for at in run.evaluations))


@laws
@given(studies(), st.data())
def test_a_run_that_never_gets_there_makes_no_figure_look_better(runs: list[Run], data: st.DataObject) -> None:
    victims = data.draw(st.sets(st.integers(0, len(runs) - 1), min_size=1))
    base = sum(run.workers == 1 for run in runs)
    victims = {at for at in victims if at >= base or len([v for v in victims if v < base]) * 2 < base}
    censored = [never(run) if at in victims else run for at, run in enumerate(runs)]
    before, after = (speedup(each, targets=TARGETS) for each in (runs, censored))
    for old, new in zip(before.rows, after.rows, strict=True):
        assert new.s_learn <= old.s_learn * (1 + 1e-12)
        assert new.e_stat <= old.e_stat * (1 + 1e-12)
        assert new.low <= old.low
        assert new.high <= old.high
        assert new.s_learn > 0
        assert new.seeds == old.seeds


@laws
@given(studies(), st.integers(1, 39), st.data())
def test_a_run_that_was_stopped_early_never_raises_a_figure_that_is_not_marked(
    runs: list[Run], kept: int, data: st.DataObject
) -> None:
    base = sum(run.workers == 1 for run in runs)
    at = data.draw(st.integers(base, len(runs) - 1))
    stopped = list(runs)
    stopped[at] = replace(runs[at], evaluations=runs[at].evaluations[:kept])
    before, after = (speedup(each, targets=TARGETS) for each in (runs, stopped))
    for old, new in zip(before.rows, after.rows, strict=True):
        assert new.low <= old.low
        assert new.censored or (new.s_learn <= old.s_learn and new.high <= old.high)


def test_figures_are_those_of_the_definition() -> None:
    runs = [rising(1, seed, 10, pace=10) for seed in range(3)] + [rising(4, seed, 20, pace=30) for seed in range(3)]
    result = speedup(runs, targets=[0.6])
    assert result.rows[1].s_par == 3
    assert result.rows[1].e_stat == pytest.approx(0.5)
    assert result.rows[1].s_learn == pytest.approx(1.5)
    assert (result.rows[1].low, result.rows[1].high) == pytest.approx((1.5, 1.5))
    assert result.rows[1].kind == result.rows[1].s_par_kind == "measured"


def test_intervals_are_the_same_in_every_call_and_wider_with_more_confidence() -> None:
    runs = [rising(p, seed, 8 + seed * p, pace=p) for p in (1, 2, 4) for seed in range(5)]
    assert speedup(runs) == speedup(runs)
    sure, unsure = speedup(runs, confidence=0.99), speedup(runs, confidence=0.5)
    for wide, narrow in zip(sure.rows, unsure.rows, strict=True):
        assert wide.low <= narrow.low <= narrow.high <= wide.high


def test_a_median_that_never_arrives_is_an_upper_bound_and_printed_so() -> None:
    runs = [rising(1, seed, 10) for seed in range(3)]
    runs += [rising(2, 0, 20), never(rising(2, 1, 20)), never(rising(2, 2, 20))]
    row = speedup(runs, targets=[0.5]).rows[1]
    assert row.censored
    assert row.missed == 2
    assert row.e_stat == pytest.approx(5 / 40)
    assert row.low == 0
    assert "<=0.125" in str(speedup(runs, targets=[0.5]))


def test_a_target_is_crossed_by_the_best_value_so_far_between_evaluations() -> None:
    bumpy = run(1, 0, [0.5, 0.4, math.nan, 0.7])
    assert crossing_of(bumpy, "accuracy", 0.6, True).samples == pytest.approx(350)
    assert crossing_of(bumpy, "accuracy", 0.5, True).samples == 100
    assert not crossing_of(bumpy, "accuracy", 0.8, True).reached
    assert crossing_of(bumpy, "accuracy", 0.45, False).samples == pytest.approx(150)


@pytest.mark.parametrize("metric", ["loss", "valid_loss", "MAE", "rmse", "top1_error"])
def test_losses_and_errors_are_better_when_lower(metric: str) -> None:
    assert not higher_is_better(metric)
    assert higher_is_better("accuracy")


def test_automatic_targets_come_from_the_baseline_alone_and_all_its_seeds_reach_them() -> None:
    base = [run(1, 0, [0.0, 0.5, 1.0]), run(1, 1, [0.0, 0.5, 0.8])]
    others = [run(2, seed, [0.0, 0.1, 0.2]) for seed in range(2)]
    result = speedup(base + others)
    assert result.targets == pytest.approx((0.48, 0.64, 0.76))
    assert all(row.censored for row in result.rows if row.workers == 2)


def test_modelled_parallel_speed_up_is_multiplied_with_measured_efficiency() -> None:
    runs = [rising(p, seed, 10 * p) for p in (1, 2) for seed in range(2)]
    result = speedup(runs, targets=[0.5], s_par={2: 1.8})
    row = result.rows[1]
    assert row.s_par == 1.8
    assert row.s_learn == pytest.approx(0.9)
    assert row.s_par_kind == "modelled"
    assert row.residual == 0
    assert "1.8*" in str(result)
    with pytest.raises(TrainError, match="says nothing about 2 workers"):
        speedup(runs, s_par={4: 1})


def test_one_seed_has_no_interval() -> None:
    runs = [rising(1, 0, 10), rising(2, 0, 10)]
    with pytest.raises(TooFewSeeds, match=r"one only with 1, 2 workers; run more seeds, or .*confidence=None"):
        speedup(runs)
    row = speedup(runs, confidence=None).rows[1]
    assert (row.low, row.high, row.s_learn) == (None, None, 1)


def test_ledgers_and_their_paths_are_runs_too(tmp_path: Path) -> None:
    for workers in (1, 2):
        for seed in range(2):
            with Ledger(tmp_path / f"{workers}-{seed}.jsonl", workers=workers, seed=seed) as ledger:
                for step in range(1, 5):
                    ledger.step(samples=8)
                    ledger.evaluated(accuracy=step / 4)
    paths = sorted(tmp_path.iterdir())
    result = speedup([Ledger.read(paths[0]), *map(str, paths[1:])])
    assert [row.e_stat for row in result.rows] == [1] * 6
    json.dumps(result.as_dict(), allow_nan=False)


def test_a_baseline_that_is_not_one_worker_is_said() -> None:
    runs = [rising(p, seed, 10) for p in (2, 4) for seed in range(2)]
    assert speedup(runs).baseline == 2
    assert "against 2 workers (there is no run with 1 worker)" in str(speedup(runs))


PAIR = [rising(p, seed, 10) for p in (1, 2) for seed in range(3)]


@pytest.mark.parametrize(
    ("runs", "asked", "says"),
    [
        ([], {}, "there are no runs"),
        (PAIR, {"baseline": 3}, "no run with the baseline of 3 workers; there are: 1, 2"),
        (PAIR, {"metric": "acuracy"}, "did you mean 'accuracy'"),
        (PAIR, {"targets": [1.5]}, "reached by 0 of 3 runs of the baseline, 1 workers; all of them reach 1:"),
        (PAIR, {"targets": "some"}, "'auto' or numbers"),
        (PAIR, {"targets": []}, "no targets"),
        (PAIR, {"confidence": 90}, "between 0 and 1"),
        ([*PAIR, PAIR[0]], {}, "seed 0 with 1 workers is there twice"),
        ([1], {}, "not int"),
        ([run(1, seed, [0.5, 0.5]) for seed in range(2)], {}, "goes from 0.5 to 0.5"),
        ([run(1, seed, []) for seed in range(2)], {}, "none in common"),
    ],
)
def test_what_cannot_be_judged_is_refused_clearly(runs: list[Run], asked: dict[str, object], says: str) -> None:
    with pytest.raises(TrainError, match=says):
        speedup(runs, **asked)


def test_a_target_that_is_there_before_learning_is_refused() -> None:
    start = Evaluation(samples=0, seconds=0.0, metrics={"accuracy": 0.4})
    runs = [replace(run, evaluations=(start, *run.evaluations)) for run in PAIR]
    with pytest.raises(TrainError, match="before anything was learned"):
        speedup(runs, targets=[0.3])
