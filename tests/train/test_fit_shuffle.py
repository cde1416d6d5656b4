"""Training with a share of the samples exchanged between epochs, in one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import Dataset
from train.problems import classes, linear, momentum, same, with_everything

from argosy.errors import BadCheckpoint, BadFraction
from argosy.shuffle import partial_order
from argosy.train import Checkpoint, fit
from argosy.train.shuffling import Shuffle, shuffle_of

TRAIN, VALID = classes(), classes(90, seed=1)


class Recorded(Dataset[tuple[torch.Tensor, int]]):
    """Remembers what was read, in order."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def __len__(self) -> int:
        return len(TRAIN[0])

    def __getitem__(self, row: int) -> tuple[torch.Tensor, int]:
        self.read.append(row)
        return torch.from_numpy(TRAIN[0][row]), int(TRAIN[1][row])


class StopAt:
    def __init__(self, step: int) -> None:
        self.samples = step * 24

    def __call__(self, evaluations: Any) -> bool:
        return bool(evaluations[-1].samples >= self.samples)


def _read_by_each_of(workers: int, epochs: int, shuffle: Any) -> list[list[list[int]]]:
    """For each epoch and worker what it read, in order; 24 samples in each of ten steps."""
    rows = Recorded()
    fit(linear, rows, batch_size=24, workers=workers, epochs=epochs, shuffle=shuffle)
    read = rows.read[24:]  # the first batch is looked at before the first step
    each = 24 // workers
    return [
        [
            [row for step in range(10) for row in read[epoch * 240 + step * 24 + k * each :][:each]]
            for k in range(workers)
        ]
        for epoch in range(epochs)
    ]


@pytest.mark.parametrize("fraction", [0.1, 1.0])
def test_each_worker_reads_what_the_partial_order_says(fraction: float) -> None:
    for epoch, read in enumerate(_read_by_each_of(4, 3, fraction)):
        assert read == [line.tolist() for line in partial_order(240, 4, fraction=fraction, seed=0, epoch=epoch)]


def test_without_an_exchange_each_worker_reads_the_same_samples_in_all_epochs() -> None:
    first, second, third = _read_by_each_of(4, 3, 0.0)
    for worker in range(4):
        assert {*first[worker]} == {*second[worker]} == {*third[worker]}
        assert first[worker] != second[worker] != third[worker]


@pytest.mark.parametrize("stop_at", [3, 13])
def test_a_run_goes_on_to_the_bit_in_the_middle_of_an_epoch(tmp_path: Path, stop_at: int) -> None:
    asked: dict[str, Any] = {
        "batch_size": 24,
        "workers": 4,
        "epochs": 3,
        "optimizer": momentum(),
        "shuffle": 0.2,
        "valid": VALID,
        "evaluate_every": 24,
    }
    unbroken = fit(with_everything, TRAIN, **asked)
    kept = Checkpoint(folder=tmp_path, every_steps=1)
    fit(with_everything, TRAIN, checkpoint=kept, stop=StopAt(stop_at), **asked)
    resumed = fit(with_everything, TRAIN, checkpoint=kept, **asked)
    assert (resumed.resumed_at, resumed.steps) == (stop_at, 30)
    assert resumed.losses == unbroken.losses
    assert same(resumed.model, unbroken.model)


def test_other_workers_go_on_with_the_samples_that_are_left(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"batch_size": 24, "shuffle": 0.2, "valid": VALID, "evaluate_every": 24}
    kept = Checkpoint(folder=tmp_path, every_steps=1)
    first, second = Recorded(), Recorded()
    fit(linear, first, workers=4, checkpoint=kept, stop=StopAt(4), **asked)
    fit(linear, second, workers=3, checkpoint=kept, **asked)
    assert sorted(first.read[24:] + second.read[24:]) == list(range(240))


def test_the_ledger_says_the_fraction() -> None:
    for given in (0.1, 1.0, 0.0, True, False):
        said = fit(linear, TRAIN, batch_size=24, shuffle=given).ledger.facts["shuffle"]
        assert (said, type(said)) == (given, type(given))


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        (0.1, 0.3, "has shuffle 0.1, but 0.3 is asked for"),
        (True, 1.0, "has shuffle True, but 1.0 is asked for"),
        (0.0, False, "has shuffle 0.0, but False is asked for"),
    ],
)
def test_a_run_cannot_go_on_with_another_shuffle(tmp_path: Path, first: Any, then: Any, message: str) -> None:
    fit(linear, TRAIN, batch_size=24, checkpoint=tmp_path, shuffle=first)
    with pytest.raises(BadCheckpoint, match=message):
        fit(linear, TRAIN, batch_size=24, epochs=2, checkpoint=tmp_path, shuffle=then)


@pytest.mark.parametrize("given", [-0.1, 1.5, float("nan"), 7])
def test_a_fraction_outside_0_to_1_is_refused(given: float) -> None:
    with pytest.raises(BadFraction, match="from 0"):
        fit(linear, TRAIN, batch_size=24, shuffle=given)


def test_a_word_that_is_no_way_to_shuffle_is_told() -> None:
    with pytest.raises(ValueError, match=r"shuffle is True, False, .* or the fraction .* not 'glbal'"):
        fit(linear, TRAIN, batch_size=24, shuffle="glbal")


def test_rows_on_ranks_are_shuffled_over_all_of_them_by_an_exchange_alone() -> None:
    assert shuffle_of("global", on_ranks=True).exchanged(sharded=True) == 1.0
    assert shuffle_of("global", on_ranks=False).exchanged(sharded=False) is None
    assert shuffle_of(True, on_ranks=True) == shuffle_of("local", on_ranks=True) == Shuffle(kind="local")
