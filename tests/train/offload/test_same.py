"""What is learned does not depend on where objects lie."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from train.offload.models import STEPS, TRAIN, VALID, Tied, learned_the_same, wide
from train.problems import momentum

from argosy.train import Checkpoint, Fit, Offload, fit
from argosy.train.ledger.lines import read_lines

pytestmark = pytest.mark.usefixtures("plans_early")
OPTIMIZERS: dict[str, Any] = {"momentum": momentum(), "adamw": "adamw", "sgd": "sgd"}


@cache
def plain(optimizer: str, **asked: Any) -> Fit:
    return fit(wide, TRAIN, batch_size=24, optimizer=OPTIMIZERS[optimizer], **asked)


def need_of(tmp_path: Path, optimizer: str) -> tuple[int, int]:
    """Of fast memory: with nothing offloaded, and with everything."""
    asked: dict[str, Any] = {"batch_size": 24, "optimizer": OPTIMIZERS[optimizer]}
    told = fit(wide, TRAIN, offload=Offload(kind="all", folder=tmp_path), **asked).offload
    assert told is not None
    return told.need_nbytes, told.least_nbytes


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_with_everything_offloaded(tmp_path: Path, optimizer: str) -> None:
    """An optimizer without states has none to offload."""
    result = fit(
        wide, TRAIN, batch_size=24, optimizer=OPTIMIZERS[optimizer], offload=Offload(kind="all", folder=tmp_path)
    )
    assert learned_the_same(result, plain(optimizer))
    told = result.offload
    assert told is not None
    assert set(told.placement.values()) == {"disk"}
    assert any(name.startswith("optimizer:") for name in told.sizes) == (optimizer != "sgd")
    assert told.sizes["parameters:4"] == 2 * 64 * 64 * 4
    assert told.peak_nbytes <= told.least_nbytes == told.fast_nbytes < told.need_nbytes
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "asked", [{"clip": 0.05}, {"accumulate": 3}, {"precision": "bfloat16"}, {"workers": 2}], ids=str
)
def test_whatever_else_a_step_does(tmp_path: Path, asked: dict[str, Any]) -> None:
    result = fit(wide, TRAIN, batch_size=24, optimizer="adamw", offload=Offload(kind="all", folder=tmp_path), **asked)
    assert learned_the_same(result, plain("adamw", **asked))


@pytest.mark.parametrize("share", [0.3, 0.7, 1.0])
def test_with_a_plan_which_keeps_to_the_budget(tmp_path: Path, share: float) -> None:
    need, least = need_of(tmp_path, "momentum")
    memory = round(least + share * (need - least))
    result = fit(
        wide,
        TRAIN,
        batch_size=24,
        optimizer=momentum(),
        offload=Offload(folder=tmp_path),
        memory=memory,
        clip=0.05,
        valid=VALID,
        ledger=tmp_path / "ledger",
    )
    asked: dict[str, Any] = {"batch_size": 24, "optimizer": momentum(), "clip": 0.05, "valid": VALID}
    assert learned_the_same(result, fit(wide, TRAIN, **asked))
    told = result.offload
    assert told is not None
    assert told.plan is not None
    assert told.peak_nbytes <= told.fast_nbytes <= memory
    assert dict(told.plan.placement) == dict(told.placement)
    assert set(told.placement.values()) == ({"ram"} if share == 1.0 else {"ram", "disk"})
    assert told.predicted_seconds == pytest.approx(told.plan.seconds)
    assert told.measured_seconds is not None
    line = next(line for _, line in read_lines(tmp_path / "ledger") if line["kind"] == "offload")
    assert line["placement"] == told.placement
    assert line["predicted_seconds"] == told.predicted_seconds
    assert "predicted" in str(told)


@pytest.mark.parametrize("kind", ["all", "auto"])
def test_a_resumed_run_is_the_one_that_was_never_stopped(tmp_path: Path, kind: Any) -> None:
    (folder := tmp_path / "slow").mkdir()
    asked: dict[str, Any] = {
        "batch_size": 24,
        "optimizer": "adamw",
        "offload": Offload(kind=kind, folder=folder, memory="1MiB"),
        "checkpoint": Checkpoint(folder=tmp_path / "kept", every_steps=4),
    }
    fit(wide, TRAIN, epochs=1, **asked)
    resumed = fit(wide, TRAIN, epochs=2, **asked)
    assert resumed.resumed_at == STEPS
    assert learned_the_same(resumed, plain("adamw", epochs=2))
    without = fit(wide, TRAIN, epochs=3, **{**asked, "offload": None})
    assert learned_the_same(without, plain("adamw", epochs=3))


def test_layers_that_share_weights_and_modules_that_read_those_of_others(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"batch_size": 24, "optimizer": "adamw", "valid": VALID}
    result = fit(Tied, TRAIN, offload=Offload(kind="all", folder=tmp_path), **asked)
    assert learned_the_same(result, fit(Tied, TRAIN, **asked))
    told = result.offload
    assert told is not None
    assert told.kept["there.weight"] == "several layers share it"
    assert "no layer of its own" in told.kept["back.weight"] or "other layers run" in told.kept["back.weight"]
    assert "parameters:attention" in told.placement
    assert "optimizer:there" in told.placement
    assert result.model.there.weight is result.model.once_more.weight


def test_with_the_noise_scale_parameters_stay(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"batch_size": 24, "noise": True, "noise_every": 2, "optimizer": momentum()}
    result = fit(wide, TRAIN, offload=Offload(kind="all", folder=tmp_path), **asked)
    assert learned_the_same(result, fit(wide, TRAIN, **asked))
    assert result.noise is not None
    assert result.noise.num_steps == 3
    assert result.offload is not None
    assert not any(name.startswith("parameters:") for name in result.offload.sizes)
    assert "noise" in result.offload.notes[0]


def test_a_run_too_short_to_be_measured_says_so(tmp_path: Path) -> None:
    result = fit(wide, TRAIN, batch_size=144, offload=Offload(kind="all", folder=tmp_path))
    assert result.offload is not None
    assert result.offload.predicted_seconds is None
    assert "ended before" in str(result.offload)
