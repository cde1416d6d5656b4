"""Training on several real ranks that exchange a share of their rows between epochs."""

from __future__ import annotations

import math
import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from train.problems import classes, linear, momentum, same, with_everything

import argosy
from argosy.errors import LossNotFinite, PeerFailed
from argosy.shuffle.lines import holdings_of
from argosy.shuffle.steps import exchanged_epoch
from argosy.train import Checkpoint, fit
from argosy.train.exchanging import most_arrivals

TRAIN, VALID = classes(), classes(90, seed=1)
BATCH = 24


class StopAt:
    def __init__(self, step: int) -> None:
        self.samples = step * BATCH

    def __call__(self, evaluations: Any) -> bool:
        return bool(evaluations[-1].samples >= self.samples)


def _frame(inputs: Any = TRAIN[0], labels: Any = TRAIN[1]) -> Any:
    return argosy.from_pydict({"x": inputs.tolist(), "label": labels.tolist()})


def _numbered(numbers: Any) -> pa.Table:
    values = np.asarray(numbers, np.float32)
    return pa.table({"x": list(np.stack([values, -values], axis=1)), "label": values})


def _read(comm: Any, sizes: tuple[int, ...], workers: int, **asked: Any) -> list[int]:
    """Train on rows that tell their number; what this rank learned from, in order."""
    first = sum(sizes[: comm.rank])
    read: list[int] = []

    def loss(output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        read.extend(labels.long().tolist())
        return 1e-9 * ((output.reshape(-1) - labels) ** 2).mean()

    fit(
        torch.nn.Linear(2, 1), _numbered(range(first, first + sizes[comm.rank])), loss=loss, batch_size=BATCH,
        workers=workers, comm=comm, valid=_numbered([-1] * 3), evaluate_every=BATCH, **asked,
    )  # fmt: skip
    learned = [number for number in read if number >= 0]  # others are looked at by evaluations
    looked_at = 2 * len(_epoch(comm, sizes, workers, 0, asked["shuffle"]).ids(0))  # before the first step
    return learned[looked_at:]


def _epoch(comm: Any, sizes: tuple[int, ...], workers: int, epoch: int, fraction: float) -> Any:
    return exchanged_epoch(
        sizes, fraction=fraction, deal=False, batch=BATCH, ranks=comm.size, rank=comm.rank, workers=workers, seed=0,
        epoch=epoch,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("sizes", "workers", "fraction"),
    [((80, 80, 80), 3, 0.1), ((70, 80, 90), 6, 0.3), ((70, 81, 90), 3, 1.0), ((80, 80, 80), 3, 0.0)],
)
def test_rows_are_read_on_the_rank_that_holds_them_once_in_each_epoch(
    pilot: argosy.Pilot, sizes: tuple[int, ...], workers: int, fraction: float
) -> None:
    def both(comm: Any) -> tuple[list[int], list[int]]:
        epochs = [_epoch(comm, sizes, workers, epoch, fraction) for epoch in range(4)]
        said = [number for epoch in epochs for step in range(epoch.num_steps) for number in epoch.ids(step).tolist()]
        return _read(comm, sizes, workers, epochs=4, shuffle=fraction), said

    told = pilot.submit(both, ranks=3, timeout=60).results()
    for rank, (read, said) in enumerate(told):
        assert read == said
        for epoch in range(4):
            assert len({*read[epoch * sizes[rank] : (epoch + 1) * sizes[rank]]}) == sizes[rank]
    for epoch in range(4):
        together = [n for rank, (read, _) in enumerate(told) for n in read[epoch * sizes[rank] :][: sizes[rank]]]
        assert sorted(together) == list(range(sum(sizes)))


@pytest.mark.parametrize("stop_at", [4, 13, 20])
def test_a_frame_goes_on_to_the_bit(pilot: argosy.Pilot, tmp_path: Path, stop_at: int) -> None:
    asked: dict[str, Any] = {
        "batch_size": BATCH, "epochs": 4, "optimizer": momentum(), "shuffle": 0.3, "valid": _frame(*VALID),
        "evaluate_every": BATCH,
    }  # fmt: skip
    unbroken = fit(with_everything, _frame(), **asked)
    kept = Checkpoint(folder=tmp_path, every_steps=1)
    fit(with_everything, _frame(), checkpoint=kept, stop=StopAt(stop_at), **asked)
    resumed = fit(with_everything, _frame(), checkpoint=kept, **asked)
    assert (resumed.resumed_at, resumed.steps) == (stop_at, 40)
    assert resumed.losses == unbroken.losses
    assert same(resumed.model, unbroken.model)


def test_rows_are_read_once_though_ranks_change_in_the_middle_of_epochs(pilot: argosy.Pilot, tmp_path: Path) -> None:
    """Three epochs of ten steps: 3 ranks stop at step 4, 2 at step 13, 3 others at step 17."""
    read: list[int] = []
    for sizes, workers, stop_at in (
        ((80, 80, 80), 3, 4),
        ((130, 110), 4, 13),
        ((70, 80, 90), 3, 17),
        ((120, 120), 2, 99),
    ):

        def part(comm: Any, sizes: Any = sizes, workers: int = workers, stop_at: int = stop_at) -> list[int]:
            kept = Checkpoint(folder=tmp_path, every_steps=1)
            return _read(comm, sizes, workers, epochs=3, shuffle=0.3, checkpoint=kept, stop=StopAt(stop_at))

        read += [number for told in pilot.submit(part, ranks=len(sizes), timeout=60).results() for number in told]
    assert sorted(read) == sorted([*range(240)] * 3)


def test_a_global_shuffle_of_a_frame_moves_its_rows(pilot: argosy.Pilot) -> None:
    named, counted = (fit(linear, _frame(), batch_size=BATCH, epochs=3, shuffle=how) for how in ("global", 1.0))
    assert named.losses == counted.losses
    assert named.ledger.facts["shuffle"] == 1.0
    assert fit(linear, _frame(), batch_size=BATCH, epochs=3).losses[10:] != counted.losses[10:]


def test_a_killed_rank_is_replaced_and_the_samples_are_exchanged_as_if_nothing_had_been(
    pilot: argosy.Pilot, tmp_path: Path
) -> None:
    kept = Checkpoint(folder=tmp_path / "kept", every_steps=3)
    asked: dict[str, Any] = {"batch_size": BATCH, "epochs": 3, "optimizer": momentum(), "shuffle": 0.3}
    unbroken = fit(with_everything, TRAIN, **asked)
    result = fit(with_everything, TRAIN, loss=Deadly(tmp_path / "died", 17), checkpoint=kept, **asked)
    assert result.resumed_at == 15
    assert result.losses == unbroken.losses


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


def _on_own_rows(comm: Any, **asked: Any) -> Any:
    mine = slice(comm.rank * 80, comm.rank * 80 + 80)
    table = pa.table({"x": list(TRAIN[0][mine]), "label": TRAIN[1][mine]})
    held_out = pa.table({"x": list(VALID[0]), "label": VALID[1]})
    return fit(linear, table, valid=held_out, epochs=3, shuffle=1.0, comm=comm, **asked)


def _exchange_goes_on() -> bool:
    for thread in threading.enumerate():
        if thread.name == "argosy-exchange":
            thread.join(10)
    return any(thread.name == "argosy-exchange" for thread in threading.enumerate())


def _told(failing: Any, comm: Any) -> tuple[str, bool]:
    try:
        failing(comm)
    except (OSError, PeerFailed) as error:
        return f"{type(error).__name__}: {error}", _exchange_goes_on()
    return "nothing", False


def _fails_in_mid_epoch(comm: Any) -> None:
    calls: list[int] = []

    def loss(output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        if comm.rank == 2 and len(calls) == 17:
            raise OSError("the cat sat on the disk")
        return torch.nn.functional.cross_entropy(output, labels)

    _on_own_rows(comm, batch_size=BATCH, loss=loss)


def _fails_when_others_wait_for_its_rows(comm: Any) -> None:
    """At the end of an epoch of one step."""

    def stop(_evaluations: Any) -> bool:
        if comm.rank == 2:
            raise OSError("the cat sat on the disk")
        return False

    _on_own_rows(comm, batch_size=240, stop=stop)


@pytest.mark.parametrize("failing", [_fails_in_mid_epoch, _fails_when_others_wait_for_its_rows])
def test_a_rank_that_fails_while_rows_move_frees_the_others_and_is_named(pilot: argosy.Pilot, failing: Any) -> None:
    told = pilot.submit(lambda comm: _told(failing, comm), ranks=3, timeout=60).results()
    assert told[2] == ("OSError: the cat sat on the disk", False)
    assert told[0] == told[1]
    assert told[0][0].startswith("PeerFailed: rank 2 of this run failed")
    assert not told[0][1]
    assert fit(linear, _frame(), batch_size=BATCH, epochs=2, shuffle=0.5).steps == 20  # the ranks are free again


def test_a_run_that_is_stopped_early_leaves_nothing_on_its_way(pilot: argosy.Pilot) -> None:
    def stopped(comm: Any) -> tuple[int, list[str]]:
        steps = _on_own_rows(comm, batch_size=240, stop=lambda _evaluations: True).steps
        return steps, [thread.name for thread in threading.enumerate() if thread.name == "argosy-exchange"]

    assert pilot.submit(stopped, ranks=3, timeout=60).results() == [(1, [])] * 3


def test_a_row_that_is_no_number_is_named_wherever_it_has_gone(pilot: argosy.Pilot) -> None:
    inputs = TRAIN[0].copy()
    inputs[100] = math.nan
    with pytest.raises((LossNotFinite, PeerFailed), match=r"rows [\d, .]+ of all ranks together"):
        fit(linear, _frame(inputs), batch_size=BATCH, epochs=2, shuffle=0.5)


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(2, 90), min_size=1, max_size=6).map(tuple),
    each=st.integers(1, 3),
    fraction=st.floats(0.01, 1.0),
    epoch=st.integers(0, 50),
)
def test_no_more_rows_arrive_than_there_is_room_for(
    sizes: tuple[int, ...], each: int, fraction: float, epoch: int
) -> None:
    holdings = holdings_of(sizes, fraction=fraction, deal=False, workers=each * len(sizes), seed=epoch)
    for rank, size in enumerate(sizes):
        received = len(holdings.moves(rank, epoch, epoch + 1, each=each).received)
        assert received <= most_arrivals(holdings, size) <= size
