"""What is asked for and cannot be had is told."""

from __future__ import annotations

import pickle
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from train.offload.models import STEPS, TRAIN, learned_the_same, wide
from train.problems import momentum

from argosy.errors import CapacityTooSmall, LossNotFinite, NoTier, TierFull, TrainError
from argosy.memory.tiers import Disk
from argosy.train import Offload, fit
from argosy.train.offload import opening

pytestmark = pytest.mark.usefixtures("plans_early")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"memory": "8GiB"}, "give offload='auto' too"),
        ({"offload": "disk?"}, "offload='disk\\?' is not known; ask for 'auto'"),
        ({"offload": "auto", "memory": "8 elephants"}, "not an amount of memory: '8 elephants'"),
        ({"offload": "auto", "memory": 0}, "memory=0 leaves no fast memory"),
        ({"offload": "auto", "memory": -5}, "memory must be .* a whole number of bytes and at least 0, not -5"),
    ],
)
def test_words_that_cannot_be_meant(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(wide, TRAIN, batch_size=24, **asked)


def test_memory_said_twice() -> None:
    with pytest.raises(ValueError, match="said twice: '1GiB' and '2GiB'"):
        fit(wide, TRAIN, batch_size=24, offload=Offload(memory="1GiB"), memory="2GiB")


@pytest.mark.parametrize("kind", ["auto", "all"])
def test_a_budget_that_cannot_work_says_the_least_that_can(tmp_path: Path, kind: Any) -> None:
    asked: dict[str, Any] = {"batch_size": 24, "optimizer": "adamw"}
    with pytest.raises(CapacityTooSmall, match=r"memory=8.0 KiB is too small .* is the least") as told:
        fit(wide, TRAIN, offload=Offload(kind=kind, folder=tmp_path), memory="8KiB", **asked)
    least = told.value.least_nbytes
    assert pickle.loads(pickle.dumps(told.value)).least_nbytes == least
    result = fit(wide, TRAIN, offload=Offload(kind=kind, folder=tmp_path), memory=least, **asked)
    assert result.offload is not None
    assert result.offload.peak_nbytes <= least


@pytest.mark.parametrize("scheme", ["local_sgd", "diloco"])
def test_schemes_that_keep_parameters_of_their_own(scheme: str) -> None:
    with pytest.raises(TrainError, match="offload= goes with the scheme 'sync'"):
        fit(wide, TRAIN, batch_size=24, scheme=scheme, every=2, offload="all")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NoTier, match="not a folder that can be written to"):
        fit(wide, TRAIN, batch_size=24, offload=Offload(kind="all", folder=tmp_path / "none"))


class Counting(torch.optim.SGD):
    """Counts its steps for all parameters together."""

    def step(self, closure: Any = None) -> Any:
        for settings in self.param_groups:
            settings["steps"] = settings.get("steps", 0) + 1
        return super().step(closure)


def test_an_optimizer_that_keeps_something_for_all_parameters(tmp_path: Path) -> None:
    with pytest.raises(TrainError, match="Counting keeps steps for all parameters together"):
        fit(
            wide,
            TRAIN,
            batch_size=24,
            optimizer=lambda parameters: Counting(parameters, lr=0.1),
            offload=Offload(kind="all", folder=tmp_path),
        )


class Changing(nn.Module):
    """From its ninth pass on it reads a weight of another layer."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = wide()
        self.passes = 0

    def forward(self, inputs: torch.Tensor) -> Any:
        self.passes += 1
        return self.layers(inputs) + (self.layers[4].weight.mean() if self.passes > 8 else 0.0)


def test_a_weight_that_is_read_where_nobody_was_seen_to_read_it_is_never_learned_from(tmp_path: Path) -> None:
    with pytest.raises(LossNotFinite, match="became nan"):
        fit(Changing, TRAIN, batch_size=24, epochs=2, offload=Offload(kind="all", folder=tmp_path))


@contextmanager
def small_files() -> Iterator[None]:
    """No file of this process may grow beyond 12 KiB: not the one either that pytest's own output may go to."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (12 << 10, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_disk_that_is_full_at_once(tmp_path: Path) -> None:
    with small_files(), pytest.raises(TierFull, match="parameters:4 cannot be offloaded: tier 'disk' is full"):
        fit(wide, TRAIN, batch_size=24, offload=Offload(kind="all", folder=tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("capacity", ["30KiB", "60KiB", "100KiB"])
def test_a_disk_that_fills_up_on_the_way_leaves_the_checkpoint_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capacity: str
) -> None:
    """In a forward pass, in a backward pass, where states are made."""
    (folder := tmp_path / "slow").mkdir()
    asked: dict[str, Any] = {"batch_size": 24, "optimizer": momentum(), "checkpoint": tmp_path / "kept"}
    fit(wide, TRAIN, **asked)
    before = {path: path.read_bytes() for path in sorted((tmp_path / "kept").rglob("*")) if path.is_file()}
    asked |= {"offload": Offload(kind="all", folder=folder), "epochs": 2}
    with monkeypatch.context() as patch:
        patch.setattr(opening, "Disk", partial(Disk, capacity=capacity))
        with pytest.raises(TierFull, match=r"cannot be offloaded: tier 'disk' is full.*checkpoints are as they were"):
            fit(wide, TRAIN, **asked)
    assert before == {path: path.read_bytes() for path in before}
    resumed = fit(wide, TRAIN, **asked)
    assert resumed.resumed_at == STEPS
    assert learned_the_same(resumed, fit(wide, TRAIN, batch_size=24, optimizer=momentum(), epochs=2))
    assert list(folder.iterdir()) == []
