"""Training and evaluation mode, and what is frozen, as users of torch expect."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn
from train.problems import classes

from argosy.comm.ranks import Alone
from argosy.train import fit
from argosy.train.data import samples_of
from argosy.train.evaluate import evaluate
from argosy.train.group import Group
from argosy.train.learners.norm import SyncedBatchNorm, synchronised
from argosy.train.precision import Precision

TRAIN, VALID = classes(48), classes(30, seed=1)
CPU = torch.device("cpu")


class Frozen(nn.Module):
    """As users freeze a part: its parameters do not learn, its statistics and its dropout stand still."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 7), nn.BatchNorm1d(7), nn.Dropout(0.5))
        self.body.requires_grad_(False)
        self.head = nn.Sequential(nn.Linear(7, 7), nn.BatchNorm1d(7), nn.Linear(7, 3))
        self.register_buffer("mask", torch.full((3,), torch.finfo(torch.float32).min))
        self.modes: list[tuple[bool, bool, bool]] = []
        self.body.eval()

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        seen = (self.training, self.body[1].training, self.head[1].training)
        if seen not in self.modes:
            self.modes.append(seen)
        assert not self.body[2].training
        return self.head(self.body(rows))


def test_each_module_is_in_its_own_mode_again_after_an_evaluation() -> None:
    model = Frozen()
    held_out = samples_of(VALID, ranks=Alone())
    before = [module.training for module in model.modules()]

    def broken(_output: torch.Tensor, _labels: torch.Tensor) -> torch.Tensor:
        raise OSError("no disk")

    group = Group(Alone(), None, ["here"])
    evaluate(model, held_out, {}, group, Precision("float32", CPU), CPU, uniform=False)
    assert [module.training for module in model.modules()] == before
    with pytest.raises(OSError, match="no disk"):
        evaluate(model, held_out, {"broken": broken}, group, Precision("float32", CPU), CPU, uniform=False)
    assert [module.training for module in model.modules()] == before


@pytest.mark.parametrize("batch_norm", ["average", "sync"])
def test_a_frozen_part_stays_frozen_through_evaluations(batch_norm: Any) -> None:
    given = Frozen()
    result = fit(given, TRAIN, valid=VALID, batch_size=12, epochs=3, lr=0.1, batch_norm=batch_norm)
    for name, was in given.state_dict().items():
        if name == "head.0.bias":  # a norm follows: it moves by rounding alone
            continue
        moved = not torch.equal(result.model.state_dict()[name], was)
        assert moved == name.startswith("head"), name
    assert [module.training for module in result.model.modules()] == [module.training for module in given.modules()]
    assert given.modes == [], "the model that was given stays as it is"


def test_a_model_in_evaluation_mode_learns_in_training_mode() -> None:
    """As pretrained models come."""
    model = nn.Sequential(nn.BatchNorm1d(8), nn.Linear(8, 3)).eval()
    result = fit(model, TRAIN, batch_size=12)
    assert not torch.equal(result.model[0].running_mean, model[0].running_mean)
    assert not result.model.training


def test_synchronised_batch_norm_takes_over_what_it_stands_for() -> None:
    norm = nn.BatchNorm1d(4).eval()
    norm.weight.requires_grad_(False)
    model = nn.ModuleDict({"a": norm, "b": nn.Sequential(norm, nn.BatchNorm1d(4))})
    synced = synchronised(model, Group(Alone(), None, ["here"]))
    first = synced["a"]
    assert isinstance(first, SyncedBatchNorm)
    assert first is synced["b"][0], "one that is there twice stays one"
    assert first.weight is norm.weight
    assert (first.training, first.weight.requires_grad, synced["b"][1].training) == (False, False, True)
    back = copy.deepcopy(first)
    assert type(back) is nn.BatchNorm1d
    assert (back.training, back.weight.requires_grad) == (False, False)


def test_a_run_goes_on_with_another_precision(tmp_path: Any) -> None:
    kept = {"checkpoint": str(tmp_path), "batch_size": 12}
    fit(nn.Linear(8, 3), TRAIN, **kept)
    assert fit(nn.Linear(8, 3), TRAIN, epochs=2, precision="float16", **kept).resumed_at == 4
    assert fit(nn.Linear(8, 3), TRAIN, epochs=3, **kept).resumed_at == 8
