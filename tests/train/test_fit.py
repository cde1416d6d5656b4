"""Training in one process."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import Dataset
from train.problems import classes, linear, momentum, same, with_everything, with_norm

import argosy
from argosy.errors import BadBatch, BadCheckpoint, BadData, LossNotFinite, TrainError
from argosy.train import Checkpoint, EarlyStop, LocalSGD, fit, per_worker
from argosy.train.checkpoint import CheckpointSkipped
from argosy.train.ledger.lines import read_lines

TRAIN, VALID = classes(), classes(90, seed=1)


def test_a_model_learns() -> None:
    result = fit(linear, TRAIN, batch_size=24, epochs=20, lr=0.5, valid=VALID, metrics="accuracy")
    assert result.metrics["accuracy"] > 0.9
    assert result.losses[-1] < result.losses[0] / 2
    assert (result.steps, result.samples, len(result.losses)) == (200, 4800, 200)
    assert len(result.evaluations) == 20
    assert result.why_stopped == "epochs"


def test_it_does_what_a_plain_loop_does() -> None:
    """Without shuffling, every step is the one that five lines of PyTorch make."""
    result = fit(linear, TRAIN, batch_size=24, epochs=2, optimizer=momentum(), shuffle=False, seed=7)
    torch.manual_seed(7)
    model = linear()
    optimizer = momentum()(model.parameters())
    for at in list(range(0, 240, 24)) * 2:
        inputs, labels = (torch.from_numpy(side[at : at + 24]) for side in TRAIN)
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
        optimizer.zero_grad()
    assert same(result.model, model, 1e-6)


def test_the_same_seed_gives_the_same_bits() -> None:
    first, second = (fit(with_everything, TRAIN, batch_size=30, epochs=2, optimizer=momentum()) for _ in range(2))
    other = fit(with_everything, TRAIN, batch_size=30, epochs=2, optimizer=momentum(), seed=1)
    assert first.losses == second.losses
    assert same(first.model, second.model)
    assert first.losses != other.losses


def test_virtual_workers_are_one_large_batch() -> None:
    together = fit(linear, TRAIN, batch_size=48, epochs=2, optimizer=momentum())
    apart = fit(linear, TRAIN, batch_size=per_worker(6), workers=8, epochs=2, optimizer=momentum())
    pieces = fit(linear, TRAIN, batch_size=48, epochs=2, optimizer=momentum(), accumulate=4)
    assert same(together.model, apart.model, 1e-5)
    assert same(together.model, pieces.model, 1e-5)
    assert apart.ledger.facts["batch"] == 48
    assert apart.ledger.facts["batch_said"] == "6 for each worker"


def test_virtual_workers_have_batch_norm_statistics_of_their_own() -> None:
    together = fit(with_norm, TRAIN, batch_size=48, epochs=1, optimizer=momentum())
    apart = fit(with_norm, TRAIN, batch_size=48, workers=8, epochs=1, optimizer=momentum())
    in_step = fit(with_norm, TRAIN, batch_size=48, workers=8, epochs=1, optimizer=momentum(), batch_norm="sync")
    assert not same(together.model, apart.model, 1e-3)
    assert same(together.model, in_step.model, 1e-4)


def test_virtual_workers_of_local_sgd_are_stacked() -> None:
    asked: dict[str, Any] = {"batch_size": per_worker(6), "workers": 4, "epochs": 10, "lr": 0.3}
    result = fit(linear, TRAIN, scheme=LocalSGD(every=4), **asked)
    assert result.losses[-1] < result.losses[0] / 2
    assert fit(linear, TRAIN, scheme="local_sgd", every=4, **asked).losses == result.losses


def test_the_module_that_was_given_stays_as_it_is() -> None:
    model = linear()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    result = fit(model, TRAIN, batch_size=24, lr=0.5)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not same(result.model, model, 1e-3)


def test_training_stops_early() -> None:
    stop = EarlyStop(metric="accuracy", patience=None, target=0.8)
    result = fit(
        linear, TRAIN, batch_size=24, epochs=50, lr=0.5, valid=VALID, metrics=["accuracy"], evaluate_every=48, stop=stop
    )
    assert result.why_stopped == "stop"
    assert result.steps < 500
    assert result.metrics["accuracy"] >= 0.8 > result.evaluations[-2].metrics["accuracy"]
    assert [evaluation.samples % 48 for evaluation in result.evaluations] == [0] * len(result.evaluations)


def test_a_larger_batch_changes_the_rate_as_the_rule_says_and_the_ledger_tells() -> None:
    result = fit(
        linear, TRAIN, batch_size=per_worker(6), workers=8, epochs=10, lr=0.1, lr_rule="linear", schedule="cosine"
    )
    assert result.ledger.facts["lr_rule"] == "linear"
    assert result.ledger.facts["lr_factor"] == 8
    assert result.ledger.facts["warmup_steps"] == 5


def test_gradients_are_clipped() -> None:
    still = fit(linear, TRAIN, batch_size=24, lr=1.0, clip=1e-6)
    torch.manual_seed(0)
    assert same(still.model, linear(), 1e-4)


def test_bfloat16_learns_too() -> None:
    result = fit(linear, TRAIN, batch_size=24, epochs=10, lr=0.5, precision="bfloat16")
    assert result.losses[-1] < result.losses[0] / 2
    assert next(result.model.parameters()).dtype == torch.float32


def test_the_noise_scale_is_measured_on_the_way() -> None:
    result = fit(linear, TRAIN, batch_size=48, epochs=4, lr=0.1, noise=True, noise_every=2)
    quiet = fit(linear, TRAIN, batch_size=48, epochs=4, lr=0.1)
    assert result.noise is not None
    assert result.noise.num_steps == 10
    assert result.noise.value > 0
    assert result.losses == quiet.losses


class Rows(Dataset[tuple[torch.Tensor, int]]):
    """Draws random numbers for each sample."""

    def __len__(self) -> int:
        return len(TRAIN[0])

    def __getitem__(self, row: int) -> tuple[torch.Tensor, int]:
        return torch.from_numpy(TRAIN[0][row]) + 0.01 * torch.randn(8), int(TRAIN[1][row])


def test_a_dataset_with_random_numbers_resumes_to_the_bit(tmp_path: Path) -> None:
    kept = Checkpoint(folder=tmp_path, every_steps=7)
    unbroken = fit(with_everything, Rows(), batch_size=24, epochs=3)
    fit(with_everything, Rows(), batch_size=24, epochs=2, checkpoint=kept)
    resumed = fit(with_everything, Rows(), batch_size=24, epochs=3, checkpoint=kept)
    assert resumed.resumed_at == 20
    assert resumed.losses == unbroken.losses
    assert same(resumed.model, unbroken.model)


def test_a_frame_without_a_pilot_lies_in_this_process() -> None:
    frame = argosy.from_pydict({"x": TRAIN[0].tolist(), "kind": ["abc"[label] for label in TRAIN[1]]})
    result = fit(linear, frame, batch_size=24, epochs=10, lr=0.5, label="kind")
    assert result.classes == ("a", "b", "c")
    assert result.losses[-1] < result.losses[0] / 2


def test_a_finished_run_is_not_trained_again(tmp_path: Path) -> None:
    first = fit(linear, TRAIN, batch_size=24, epochs=2, checkpoint=tmp_path)
    again = fit(linear, TRAIN, batch_size=24, epochs=2, checkpoint=tmp_path)
    assert again.resumed_at == again.steps == 20
    assert again.losses == first.losses
    assert same(first.model, again.model)


def test_a_result_travels() -> None:
    result = fit(linear, TRAIN, batch_size=24, valid=VALID, noise=True)
    copy = pickle.loads(pickle.dumps(result))
    assert copy.losses == result.losses
    assert copy.metrics == result.metrics
    assert same(copy.model, result.model)


def test_another_rate_may_be_asked_for_when_going_on(tmp_path: Path) -> None:
    fit(linear, TRAIN, batch_size=24, epochs=1, lr=0.1, checkpoint=tmp_path)
    slower = fit(linear, TRAIN, batch_size=24, epochs=2, lr=0.01, checkpoint=tmp_path)
    rates = [line["lr"] for _, line in read_lines(tmp_path / "ledger.jsonl") if line["kind"] == "step"]
    assert rates == [0.1] * 10 + [0.01] * 10
    assert slower.steps == 20


def test_stacked_workers_go_on_as_one(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"batch_size": 24, "scheme": LocalSGD(every=4), "checkpoint": tmp_path}
    fit(linear, TRAIN, workers=4, epochs=1, **asked)
    alone = fit(linear, TRAIN, workers=1, epochs=2, **asked)
    assert (alone.resumed_at, alone.steps) == (10, 20)


# Mistakes ------------------------------------------------------------------------------------------------------------


def test_a_loss_that_is_not_a_number_stops_and_keeps_the_last_good_checkpoint(tmp_path: Path) -> None:
    inputs = TRAIN[0].copy()
    inputs[17] = math.nan
    kept = Checkpoint(folder=tmp_path, every_steps=1)
    with pytest.raises(
        LossNotFinite, match=r"became nan at step \d+ on rank 0, in the batch with rows .*kept in"
    ) as told:
        fit(linear, (inputs, TRAIN[1]), batch_size=24, checkpoint=kept, seed=3)
    good = [int(path.name.removeprefix("step-")) for path in tmp_path.glob("step-*")]
    assert told.value.step > 1
    assert max(good) == told.value.step - 1


def test_classes_that_do_not_fit_are_told() -> None:
    with pytest.raises(BadData, match="class 3, but the model has 3 outputs"):
        fit(linear, (TRAIN[0], TRAIN[1] + 1), batch_size=24)
    few = TRAIN[1] < 2
    with pytest.raises(BadData, match="training never sees"):
        fit(linear, (TRAIN[0][few], TRAIN[1][few]), batch_size=24, valid=VALID)


def test_a_label_with_nulls_is_told() -> None:
    labels = [None, *TRAIN[1][1:].tolist()]
    frame = argosy.from_pydict({"x": TRAIN[0].tolist(), "label": labels})
    with pytest.raises(BadData, match="label"):
        fit(linear, frame, batch_size=24)


def test_a_batch_larger_than_the_data_is_told() -> None:
    with pytest.raises(BadBatch, match="a batch of 512 is larger than the data"):
        fit(linear, TRAIN, batch_size=512)


def test_a_checkpoint_of_another_model_is_told(tmp_path: Path) -> None:
    fit(linear, TRAIN, batch_size=24, checkpoint=tmp_path)
    with pytest.raises(BadCheckpoint, match="another model"):
        fit(with_norm, TRAIN, batch_size=24, checkpoint=tmp_path)


def test_a_folder_that_cannot_be_written_to_is_told_before_the_first_step(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadCheckpoint, match=r"cannot be saved in .*file/kept.*name another folder"):
        fit(linear, TRAIN, batch_size=24, checkpoint=tmp_path / "file" / "kept")


def test_a_truncated_checkpoint_falls_back_to_the_one_before_and_says_so(tmp_path: Path) -> None:
    unbroken = fit(linear, TRAIN, batch_size=24, epochs=3, optimizer=momentum())
    fit(linear, TRAIN, batch_size=24, epochs=2, optimizer=momentum(), checkpoint=tmp_path)
    newest = max(tmp_path.glob("step-*"))
    part = next(newest.glob("*.bin"))
    part.write_bytes(part.read_bytes()[:-10])
    with pytest.warns(CheckpointSkipped, match="is taken instead"):
        resumed = fit(linear, TRAIN, batch_size=24, epochs=3, optimizer=momentum(), checkpoint=tmp_path)
    assert resumed.resumed_at == 10
    assert resumed.losses == unbroken.losses


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"optimizer": "adam"}, "has optimizer SGD, but Adam is asked for"),
        ({"scheme": LocalSGD(every=4)}, "has scheme Sync, but LocalSGD is asked for"),
        ({"seed": 1}, "has seed 0, but 1 is asked for"),
    ],
)
def test_a_run_cannot_go_on_as_another_one(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    fit(linear, TRAIN, batch_size=24, checkpoint=tmp_path)
    with pytest.raises(BadCheckpoint, match=message):
        fit(linear, TRAIN, batch_size=24, epochs=2, checkpoint=tmp_path, **changed)


@pytest.mark.parametrize("asked", [{"noise": True}, {"clip": 1.0}, {"accumulate": 2}, {"precision": "bfloat16"}])
def test_what_stacked_workers_cannot_do_is_told(asked: dict[str, Any]) -> None:
    with pytest.raises(TrainError, match=f"{next(iter(asked))}= cannot be had"):
        fit(linear, TRAIN, batch_size=24, workers=4, scheme="local_sgd", **asked)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"loss": "cross_entrpy"}, "did you mean 'cross_entropy'"),
        ({"metrics": "acuracy"}, "did you mean 'accuracy'"),
        ({"optimizer": "sdg"}, "there is no optimizer 'sdg'"),
        ({"scheme": "async"}, "there is no scheme 'async'"),
        ({"every": 4}, "'sync' does so in each step"),
        ({"lr": -1}, "above 0"),
        ({"epochs": 0}, "epochs must be a whole number from 1 to 2147483647, not 0"),
        ({"ranks": 2}, "open a pilot"),
        ({"precision": "float8"}, "there is no precision 'float8'"),
        ({"batch_norm": "none"}, "'average' or 'sync'"),
        ({"shuffle": "local"}, "shuffle='global'"),
        ({"stop": EarlyStop()}, "give valid="),
        ({"workers": 48}, "leaves some of 48 workers without a sample"),
    ],
)
def test_typing_errors_are_told(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(linear, TRAIN, **{"batch_size": 24, **wrong})


def test_a_model_that_is_none_is_told() -> None:
    with pytest.raises(TypeError, match="torch module or a function that makes one"):
        fit(np.zeros(3), TRAIN, batch_size=24)
