"""Offloading on several real ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from train.offload.models import TRAIN, learned_the_same, wide
from train.problems import momentum

import argosy
from argosy.train import Offload, fit


def test_on_two_ranks_parameters_stay_and_both_have_one_plan(tmp_path: Path, pilot: argosy.Pilot) -> None:
    asked: dict[str, Any] = {"batch_size": 72, "epochs": 4, "optimizer": momentum(), "ranks": 2}
    whole = fit(wide, TRAIN, **asked)
    for offload in (Offload(kind="all", folder=tmp_path), Offload(memory="120KiB", folder=tmp_path)):
        result = fit(wide, TRAIN, offload=offload, **asked)
        assert learned_the_same(result, whole)
        told = result.offload
        assert told is not None
        assert "buckets of DDP" in told.notes[0]
        assert {name.partition(":")[0] for name in told.sizes} == {"optimizer", "activations"}
        assert "disk" in told.placement.values()
