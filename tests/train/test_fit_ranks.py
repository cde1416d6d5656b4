"""Training on several real ranks."""

from __future__ import annotations

import math
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from train.problems import classes, linear, momentum, same, with_everything, with_norm

import argosy
from argosy.errors import BadBatch, BadData, LossNotFinite, PeerFailed, TrainError
from argosy.train import Checkpoint, DiLoCo, Hierarchical, LocalSGD, Sync, fit, per_worker

TRAIN, VALID = classes(), classes(90, seed=1)
ODD = classes(235)
"""Of which no step divides evenly over three ranks."""
SCHEMES = [
    Sync(),
    Sync(sharded=True),
    LocalSGD(every=4),
    DiLoCo(every=4),
    Hierarchical(every=4, ranks_per_node=2),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_every_scheme_learns_and_goes_on_to_the_bit(pilot: argosy.Pilot, scheme: Any, tmp_path: Path) -> None:
    asked: dict[str, Any] = {
        "batch_size": 24,
        "scheme": scheme,
        "optimizer": momentum(),
        "valid": VALID,
        "metrics": "accuracy",
    }
    unbroken = fit(with_everything, TRAIN, epochs=6, **asked)
    assert unbroken.losses[-1] < unbroken.losses[0] / 1.5
    assert unbroken.metrics["accuracy"] > 0.7  # a third is chance
    kept = Checkpoint(folder=tmp_path, every_steps=7)
    fit(with_everything, TRAIN, epochs=2, checkpoint=kept, **asked)
    resumed = fit(with_everything, TRAIN, epochs=6, checkpoint=kept, **asked)
    assert resumed.resumed_at == 20
    assert resumed.losses == unbroken.losses
    assert resumed.metrics == unbroken.metrics
    assert same(resumed.model, unbroken.model)


@pytest.mark.parametrize("scheme", [Sync(), Sync(sharded=True)], ids=str)
def test_three_ranks_do_what_one_process_does(pilot: argosy.Pilot, scheme: Any) -> None:
    """Ranks have unequal parts of each step; the mean is over samples all the same."""
    asked: dict[str, Any] = {"batch_size": 25, "epochs": 2, "optimizer": momentum()}
    together = fit(linear, ODD, scheme=scheme, **asked)
    alone = fit(linear, ODD, ranks=1, **asked)
    assert same(together.model, alone.model, 1e-5)
    assert together.losses == pytest.approx(alone.losses, rel=1e-4)


@pytest.mark.parametrize(("workers", "ranks"), [(6, 3), (4, 2), (5, 1)])
def test_workers_are_spread_over_as_many_ranks_as_they_divide_over(
    pilot: argosy.Pilot, workers: int, ranks: int
) -> None:
    facts = fit(linear, TRAIN, batch_size=30, workers=workers).ledger.facts
    assert (facts["workers"], facts["ranks"]) == (workers, ranks)


def test_synchronised_batch_norm_is_that_of_the_whole_batch(pilot: argosy.Pilot) -> None:
    asked: dict[str, Any] = {"batch_size": 25, "epochs": 2, "optimizer": momentum(), "batch_norm": "sync"}
    together = fit(with_norm, ODD, **asked)
    alone = fit(with_norm, ODD, ranks=1, **asked)
    assert same(together.model, alone.model, 1e-4)


def test_batch_norm_statistics_are_the_mean_of_all_ranks(pilot: argosy.Pilot) -> None:
    """Each rank has rows of another kind: rank 0's statistics would be far off."""

    def shifted(comm: Any) -> tuple[list[float], float]:
        draw = np.random.default_rng(comm.rank)
        inputs = draw.normal(loc=10.0 * comm.rank, size=(60, 8)).astype(np.float32)
        table = pa.table({"x": list(inputs), "label": draw.integers(0, 3, 60)})
        model = torch.nn.Sequential(torch.nn.BatchNorm1d(8, momentum=None), torch.nn.Linear(8, 3))
        result = fit(model, table, batch_size=30, comm=comm)
        return result.model[0].running_mean.tolist(), float(inputs.mean())

    told = pilot.submit(shifted, ranks=3).results()
    means = [mean for mean, _ in told]
    assert means[0] == means[1] == means[2]
    assert np.mean(means[0]) == pytest.approx(np.mean([own for _, own in told]), rel=1e-3)


def test_a_frame_is_learned_from_where_it_lies(pilot: argosy.Pilot) -> None:
    frame = argosy.from_pydict({"x": TRAIN[0].tolist(), "label": TRAIN[1].tolist()}).filter(argosy.col("label") >= 0)
    held_out = argosy.from_pydict({"x": VALID[0].tolist(), "label": VALID[1].tolist()})
    result = fit(linear, frame, batch_size=24, epochs=15, lr=0.5, valid=held_out, metrics="accuracy", noise=True)
    assert result.metrics["accuracy"] > 0.85
    assert result.ledger.facts["ranks"] == 3
    assert result.ledger.seconds["comm"] > 0
    assert result.noise is not None
    assert result.noise.num_steps == result.steps


def test_a_table_that_is_given_to_all_ranks_is_read_once_by_all_together(pilot: argosy.Pilot) -> None:
    table = pa.table({"x": list(TRAIN[0]), "label": TRAIN[1]})
    assert fit(linear, table, batch_size=24, valid=table).samples == len(TRAIN[1])


def test_shards_of_unequal_size_are_read_once_each_epoch(pilot: argosy.Pilot) -> None:
    def unequal(comm: Any) -> tuple[int, int, list[int]]:
        size = (50, 70, 120)[comm.rank]
        draw = np.random.default_rng(comm.rank)
        rows = {"x": list(draw.normal(size=(size, 8)).astype(np.float32)), "label": draw.integers(0, 3, size)}
        result = fit(linear, pa.table(rows), batch_size=24, epochs=2, comm=comm)
        return result.samples, result.steps, [round(loss, 4) for loss in result.losses]

    told = pilot.submit(unequal, ranks=3).results()
    assert told[0][:2] == (480, 20)
    assert told[0] == told[1] == told[2]


def test_another_number_of_ranks_goes_on_with_the_samples_that_are_left(pilot: argosy.Pilot, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"batch_size": 24, "optimizer": momentum()}
    unbroken = fit(linear, TRAIN, ranks=1, epochs=2, **asked)
    for ranks, stop_at in ((3, 6), (2, 13), (1, 20)):
        kept = Checkpoint(folder=tmp_path, every_steps=1)
        stop = StopAt(stop_at)
        result = fit(
            linear, TRAIN, ranks=ranks, epochs=2, checkpoint=kept, valid=VALID, stop=stop, evaluate_every=24, **asked
        )
    assert result.resumed_at == 13
    assert result.steps == 20
    assert result.losses == pytest.approx(unbroken.losses, rel=1e-4)
    assert same(result.model, unbroken.model, 1e-4)


class StopAt:
    def __init__(self, step: int) -> None:
        self.samples = step * 24

    def __call__(self, evaluations: Any) -> bool:
        return bool(evaluations[-1].samples >= self.samples)


def test_a_killed_rank_is_replaced_and_the_losses_are_those_of_a_run_that_was_never_stopped(
    pilot: argosy.Pilot, tmp_path: Path
) -> None:
    kept = Checkpoint(folder=tmp_path / "kept", every_steps=3)
    asked: dict[str, Any] = {"batch_size": 24, "epochs": 3, "optimizer": momentum()}
    unbroken = fit(with_everything, TRAIN, **asked)
    marker = tmp_path / "died"
    result = fit(with_everything, TRAIN, loss=Deadly(marker, 17), checkpoint=kept, **asked)
    assert marker.exists()
    assert result.resumed_at == 15
    assert result.losses == unbroken.losses
    assert same(result.model, unbroken.model)


class Deadly:
    """A loss that kills its process once, on the rank that comes first to this call."""

    def __init__(self, marker: Path, call: int) -> None:
        self.marker = marker
        self.left = call + 2  # a replica learns twice before its first step

    def __call__(self, output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        self.left -= 1
        if self.left == 0 and not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return torch.nn.functional.cross_entropy(output, labels)


# Mistakes ------------------------------------------------------------------------------------------------------------


def test_a_loss_that_is_not_a_number_names_the_rank_and_frees_the_others(pilot: argosy.Pilot) -> None:
    inputs = TRAIN[0].copy()
    inputs[100] = math.nan
    frame = argosy.from_pydict({"x": inputs.tolist(), "label": TRAIN[1].tolist()})
    with pytest.raises((LossNotFinite, PeerFailed), match=r"nan at step \d+ on rank 1"):
        fit(linear, frame, batch_size=24, epochs=2)
    assert fit(linear, TRAIN, batch_size=24).steps == 10  # the ranks are free again


def test_what_one_rank_raises_frees_the_others(pilot: argosy.Pilot) -> None:
    def broken(comm: Any) -> str:
        def loss(output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
            calls.append(1)
            if comm.rank == 2 and len(calls) == 5:
                raise OSError("the cat sat on the disk")
            return torch.nn.functional.cross_entropy(output, labels)

        calls: list[int] = []
        try:
            fit(linear, TRAIN, batch_size=24, loss=loss, comm=comm)
        except (OSError, PeerFailed) as error:
            return f"{type(error).__name__}: {error}"
        return "nothing"

    told = pilot.submit(broken, ranks=3, timeout=30).results()
    assert told[2] == "OSError: the cat sat on the disk"
    assert told[0] == told[1]
    assert told[0].startswith("PeerFailed: rank 2 of this run failed")
    assert "the cat sat on the disk" in told[0]


def test_an_error_that_all_ranks_make_is_told_as_it_is(pilot: argosy.Pilot) -> None:
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        fit(linear, (TRAIN[0][:, :3], TRAIN[1]), batch_size=24)


def test_a_batch_larger_than_a_shard_is_told(pilot: argosy.Pilot) -> None:
    frame = argosy.from_pydict({"x": TRAIN[0][:30].tolist(), "label": TRAIN[1][:30].tolist()})
    with pytest.raises(BadBatch, match="is larger than the"):
        fit(linear, frame, batch_size=per_worker(64))


def test_a_frame_is_not_learned_from_on_other_ranks_than_its_own(pilot: argosy.Pilot) -> None:
    frame = argosy.from_pydict({"x": TRAIN[0].tolist(), "label": TRAIN[1].tolist()})
    with pytest.raises(ValueError, match="the frame lies on 3 ranks"):
        fit(linear, frame, batch_size=24, ranks=2)


def test_the_noise_of_a_divided_model_is_refused(pilot: argosy.Pilot) -> None:
    with pytest.raises((TrainError, PeerFailed), match="cannot be heard where the model is divided"):
        fit(linear, TRAIN, batch_size=24, scheme="fsdp", noise=True)


def test_ranks_with_other_samples_are_told(pilot: argosy.Pilot) -> None:
    def differ(comm: Any) -> str:
        count = 200 + 20 * comm.rank
        try:
            fit(linear, (TRAIN[0][:count], TRAIN[1][:count]), batch_size=24, comm=comm)
        except argosy.errors.RanksDisagree as error:
            return str(error)
        return "nothing"

    told = pilot.submit(differ, ranks=3, timeout=30).results()
    assert all("200, 220, 240" in message for message in told)


def test_features_of_unequal_length_are_told(pilot: argosy.Pilot) -> None:
    rows = TRAIN[0].tolist()
    rows[130] = rows[130][:5]
    frame = argosy.from_pydict({"x": rows, "label": TRAIN[1].tolist()})
    with pytest.raises(BadData, match="'x' has lists of unequal length"):
        fit(linear, frame, batch_size=24)
