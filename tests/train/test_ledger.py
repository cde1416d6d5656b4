"""Where the time went, and what was learned by then."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.errors import TrainError
from argosy.train.ledger import PHASES, Ledger
from argosy.train.ledger import laps as module


class Clock:
    """Time goes on when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "_clock", clock)
    return clock


def lines_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_laps_give_the_time_since_the_last_one_to_their_phase(clock: Clock) -> None:
    ledger = Ledger()
    for phase, seconds in (("data", 1), ("forward", 2), ("backward", 4), ("optimizer", 8)):
        clock.now += seconds
        ledger.lap(phase)
    clock.now += 16
    ledger.step(samples=4)
    spent = {phase: seconds for phase, seconds in ledger.seconds.items() if seconds}
    assert spent == {"data": 1, "forward": 2, "backward": 4, "optimizer": 8, "other": 16}
    assert ledger.training_seconds == 31


def test_contexts_pause_the_phase_around_them_and_the_rest_is_other(clock: Clock) -> None:
    ledger = Ledger()
    clock.now += 1000  # before the first phase: nobody's
    with ledger.backward():
        clock.now += 1
        with ledger.comm():
            clock.now += 2
        clock.now += 4
    clock.now += 8
    with ledger.evaluation():
        clock.now += 16
    ledger.step(samples=1)
    spent = {phase: seconds for phase, seconds in ledger.seconds.items() if seconds}
    assert spent == {"backward": 5, "comm": 2, "other": 8, "evaluation": 16}
    assert ledger.training_seconds == 15


def test_waiting_for_batches_is_data(clock: Clock) -> None:
    def loader() -> object:
        for batch in range(3):
            clock.now += 2
            yield batch

    ledger = Ledger()
    seen = []
    for batch in ledger.data(loader()):
        seen.append(batch)
        clock.now += 1
        ledger.step(samples=5)
    assert seen == [0, 1, 2]
    assert ledger.seconds["data"] == 6
    assert ledger.seconds["other"] == 3
    assert ledger.samples == 15


def test_a_move_takes_no_more_than_the_step_spent_and_may_come_before_its_phase_ends(clock: Clock) -> None:
    ledger = Ledger()
    ledger.start()
    ledger.move(1.5)
    clock.now += 2
    ledger.lap("backward")
    ledger.move(100, from_="forward", to="data")
    ledger.step(samples=1)
    assert ledger.seconds["backward"] == 0.5
    assert ledger.seconds["comm"] == 1.5
    assert ledger.seconds["data"] == 0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PHASES), st.integers(0, 1000)), max_size=30))
def test_phases_add_up_to_the_wall_time(laps: list[tuple[str, int]]) -> None:
    clock = Clock()
    real, module._clock = module._clock, clock
    try:
        ledger = Ledger()
        ledger.start()
        for phase, seconds in laps:
            with ledger.phase(phase):
                clock.now += seconds
            ledger.move(seconds / 3, from_=phase, to="other")
            if seconds % 2:
                ledger.step(samples=1)
        ledger.step(samples=1)
        assert sum(ledger.seconds.values()) == pytest.approx(sum(seconds for _, seconds in laps))
        assert min(ledger.seconds.values()) >= 0
    finally:
        module._clock = real


def test_a_loss_is_what_it_was_when_the_step_ended() -> None:
    ledger = Ledger()
    loss = torch.tensor(1.5, requires_grad=True)
    ledger.step(samples=1, loss=loss)
    with torch.no_grad():
        loss.add_(1)
    ledger.step(samples=1, loss=loss)
    ledger.step(samples=1)
    ledger.step(samples=1, loss=7)
    assert ledger.losses[:2] == [1.5, 2.5]
    assert math.isnan(ledger.losses[2])
    assert ledger.losses[3] == 7


def test_a_loss_of_several_numbers_is_refused() -> None:
    words = r"loss must be a number or a tensor of one element, not one of shape \(2,\); reduce it first"
    for loss in (torch.zeros(2), np.zeros(2)):
        with pytest.raises(ValueError, match=words):
            Ledger().step(samples=1, loss=loss)
    with pytest.raises(TrainError, match=r"shape \(2,\); reduce it"):
        Ledger().step(samples=1, accuracy=torch.zeros(2))


def test_an_unknown_phase_names_the_nearest() -> None:
    with pytest.raises(TrainError, match="did you mean 'forward'"):
        Ledger().lap("forwards")
    with pytest.raises(TrainError, match="did you mean 'comm'"):
        Ledger().move(1, to="com")


def test_lines_say_what_was_told(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "deep" / "run.jsonl"
    with Ledger(path, workers=2, seed=3, batch=8, lr_rule="linear") as ledger:
        ledger.start()
        clock.now += 0.5
        ledger.lap("forward")
        ledger.step(samples=8, loss=0.1, lr=0.25, epoch=0, norm=torch.tensor(2.0))
        clock.now += 0.25
        ledger.evaluated(accuracy=torch.tensor(0.5))
        ledger.step(samples=8, loss=math.nan)
    run, first, evaluation, second, end = lines_of(path)
    assert run == {"kind": "run", "version": 1, "workers": 2, "seed": 3, "batch": 8, "lr_rule": "linear"}
    assert first == {
        "kind": "step", "step": 1, "epoch": 0, "samples": 8, "loss": 0.1, "lr": 0.25,
        "seconds": {"forward": 0.5}, "norm": 2.0,
    }  # fmt: skip
    assert evaluation == {"kind": "evaluation", "step": 1, "samples": 8, "seconds": 0.5, "metrics": {"accuracy": 0.5}}
    assert second["loss"] == "NaN"
    assert second["seconds"] == {"evaluation": 0.25}
    assert end["seconds"] == ledger.seconds
    record = Ledger.read(path)
    assert record.ended
    assert math.isnan(record.losses[1])
    assert record.run() == ledger.run()
    assert record.run().samples_per_second == 16 / 0.5


@settings(max_examples=40, deadline=None)
@given(losses=st.lists(st.floats(), min_size=1, max_size=20), cut=st.integers(1, 60))
def test_what_was_cut_by_a_kill_is_passed_over(
    tmp_path_factory: pytest.TempPathFactory, losses: list[float], cut: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "run.jsonl"
    ledger = Ledger(path, workers=1, seed=0)
    for loss in losses:
        ledger.step(samples=2, loss=loss)
    ledger.flush()
    path.write_bytes(path.read_bytes()[:-cut])
    record = Ledger.read(path)
    assert len(losses) - 2 <= record.steps < len(losses)
    assert not record.ended
    assert [repr(loss) for loss in record.losses] == [repr(loss) for loss in losses[: record.steps]]


def test_a_broken_line_in_the_middle_is_an_error_that_says_where(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"kind":"run","version":1}\n{"kind":\n{"kind":"end"}\n')
    with pytest.raises(TrainError, match="begins at byte 27"):
        Ledger.read(path)
    with pytest.raises(TrainError, match="there is no ledger at"):
        Ledger.read(tmp_path / "other.jsonl")


def train(ledger: Ledger, until: int) -> None:
    while ledger.steps < until:
        ledger.step(samples=4, loss=1 / (ledger.steps + 1), lr=0.1, epoch=0)
        if ledger.steps % 4 == 0:
            ledger.evaluated(accuracy=ledger.steps / 100)


@settings(max_examples=30, deadline=None)
@given(saved=st.integers(0, 15), killed=st.integers(0, 15), cut=st.integers(0, 30))
def test_a_resumed_run_has_every_step_once_and_goes_on_with_its_totals(
    tmp_path_factory: pytest.TempPathFactory, saved: int, killed: int, cut: int
) -> None:
    path = tmp_path_factory.mktemp("resume") / "run.jsonl"
    ledger = Ledger(path, workers=1, seed=0)
    train(ledger, saved)
    state = json.loads(json.dumps(ledger.state_dict()))
    kept = path.stat().st_size if path.exists() else 0
    train(ledger, saved + killed)
    ledger.flush()
    if path.exists():
        path.write_bytes(path.read_bytes()[: max(kept, path.stat().st_size - cut)])

    with Ledger(path, workers=2, seed=0) as resumed:
        resumed.load_state_dict(state)
        assert resumed.training_seconds == pytest.approx(
            sum(state["seconds"].values()) - state["seconds"]["evaluation"]
        )
        train(resumed, 20)
    steps = [line["step"] for line in lines_of(path) if line["kind"] == "step"]
    assert steps == list(range(1, 21))
    assert resumed.losses == [1 / step for step in range(1, 21)]
    assert resumed.run().workers == 2
    record = Ledger.read(path)
    assert list(record.losses) == resumed.losses
    assert record.run() == resumed.run()
    assert [at.samples for at in record.evaluations] == [16, 32, 48, 64, 80]


def test_a_run_whose_file_is_gone_resumes_with_its_evaluations(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    ledger = Ledger(path, workers=1, seed=0)
    train(ledger, 6)
    state = ledger.state_dict()
    path.unlink()
    with Ledger(path, workers=1, seed=0) as resumed:
        resumed.load_state_dict(state)
        train(resumed, 8)
    assert Ledger.read(path).run() == resumed.run()


def test_a_state_is_loaded_into_a_new_ledger_only() -> None:
    ledger = Ledger()
    state = ledger.state_dict()
    ledger.step(samples=1)
    with pytest.raises(TrainError, match="has 1 steps already"):
        ledger.load_state_dict(state)
    with pytest.raises(TrainError, match="version 9"):
        Ledger().load_state_dict({"version": 9})


def test_an_exception_leaves_the_lines_but_no_end(tmp_path: Path) -> None:
    def fails() -> None:
        with Ledger(tmp_path / "run.jsonl") as ledger:
            ledger.step(samples=1)
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    record = Ledger.read(tmp_path / "run.jsonl")
    assert record.steps == 1
    assert not record.ended


def test_a_ledger_nobody_closed_is_written_when_it_goes(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "run.jsonl")
    ledger.step(samples=1)
    assert not (tmp_path / "run.jsonl").exists()
    del ledger
    assert Ledger.read(tmp_path / "run.jsonl").steps == 1


def test_a_run_needs_workers_and_seed() -> None:
    with pytest.raises(TrainError, match=r"does not say 'workers'.*Ledger\(workers=\.\.\.\)"):
        Ledger(seed=1).run()


def test_facts_that_json_does_not_have_are_refused_at_once() -> None:
    with pytest.raises(TrainError, match="text, numbers, lists and dicts"):
        Ledger(model=object())


def test_a_name_that_a_step_has_already_is_refused() -> None:
    with pytest.raises(TrainError, match="a step has its own kind"):
        Ledger().step(samples=1, kind=3)


def test_the_table_shows_phases_with_their_shares(clock: Clock) -> None:
    ledger = Ledger()
    ledger.start()
    clock.now += 3
    ledger.lap("forward")
    ledger.step(samples=300, loss=0.5)
    clock.now += 1
    ledger.evaluated(accuracy=0.75)
    text = str(ledger)
    assert "1 steps, 300 samples, 3.0 s of training, 100 samples/s" in text
    assert "forward             3.0 s   75.0%" in text
    assert "accuracy 0.75 after 300 samples" in text
    assert "comm" not in text
    assert ledger.summary()["shares"]["evaluation"] == 0.25
