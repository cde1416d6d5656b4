"""A model that is divided over ranks: what of it each has, writes and reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from train.learners.test_units import Body, Wrapper
from train.problems import classes, same

import argosy
from argosy.train import fit

TRAIN = classes(48, width=32)


class Words(nn.Module):
    """Wrapped, with lists and dicts of modules, and a parameter that is tied."""

    def __init__(self) -> None:
        super().__init__()
        self.body = Wrapper(Body(32, 4))
        self.out = nn.Linear(160, 3)
        self.first = nn.Linear(32, 32)
        self.second = nn.Linear(32, 32)
        self.second.weight = self.first.weight

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return self.out(self.body(self.second(self.first(rows))))


def words() -> nn.Module:
    return Words()


def adam(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.Adam(parameters, lr=1e-3)


def test_it_learns_what_one_process_learns_and_any_ranks_go_on(pilot: argosy.Pilot, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"batch_size": 12, "optimizer": adam}
    alone = fit(words, TRAIN, ranks=1, epochs=5, **asked)
    together = fit(words, TRAIN, epochs=5, scheme="fsdp", **asked)
    assert together.losses == pytest.approx(alone.losses, rel=1e-4)
    assert together.model.second.weight is together.model.first.weight
    for epochs, ranks in enumerate((3, 2, 1, 3, 3), 1):  # also one, which has all
        kept = fit(words, TRAIN, ranks=ranks, epochs=epochs, scheme="fsdp", checkpoint=tmp_path, **asked)
    assert kept.resumed_at == 16
    assert kept.losses == pytest.approx(alone.losses, rel=1e-4)
    assert same(kept.model, alone.model, 5e-3)  # Adam makes a step of what is nearly no gradient


def test_a_checkpoint_goes_from_one_scheme_to_the_other(pilot: argosy.Pilot, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"batch_size": 12, "optimizer": adam, "checkpoint": tmp_path}
    for epochs, scheme in enumerate(("fsdp", "sync", "fsdp"), 1):
        result = fit(words, TRAIN, epochs=epochs, scheme=scheme, **asked)
    alone = fit(words, TRAIN, ranks=1, epochs=3, batch_size=12, optimizer=adam)
    assert result.resumed_at == 8
    assert result.losses == pytest.approx(alone.losses, rel=1e-4)


def build() -> nn.Module:
    return nn.Sequential(nn.Linear(32, 600), nn.Linear(600, 600), nn.Linear(600, 3))


class Largest(TorchDispatchMode):
    """The largest memory that any operation makes."""

    def __init__(self) -> None:
        super().__init__()
        self.nbytes = 0

    def __torch_dispatch__(self, call: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = call(*args, **(kwargs or {}))
        for one in tree_leaves(made):
            if type(one) is torch.Tensor:
                self.nbytes = max(self.nbytes, one.untyped_storage().nbytes())
        return made


def _kept_and_gone_on_from(comm: Any, folder: str) -> int:
    """What saving and resuming take."""
    from argosy.train.keeper import Keeper

    most = Largest()

    def counted(what: Any) -> Any:
        def run(*args: Any) -> Any:
            with most:
                return what(*args)

        return run

    saves, resumes = Keeper.save, Keeper.resume
    Keeper.save, Keeper.resume = counted(saves), counted(resumes)  # type: ignore[method-assign]
    try:
        asked: dict[str, Any] = {"batch_size": 12, "optimizer": adam, "scheme": "fsdp", "checkpoint": folder}
        for epochs in (1, 2):
            fit(build, TRAIN, epochs=epochs, comm=comm, **asked)
    finally:
        Keeper.save, Keeper.resume = saves, resumes  # type: ignore[method-assign]
    return most.nbytes


def test_no_rank_ever_has_a_whole_tensor_of_a_checkpoint(pilot: argosy.Pilot, tmp_path: Path) -> None:
    largest = 4 * 600 * 600
    for nbytes in pilot.submit(_kept_and_gone_on_from, str(tmp_path), ranks=3, timeout=55).results():
        assert largest / 3 <= nbytes < 0.4 * largest
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "step-00000008").iterdir()}
    rows = [size for name, size in sizes.items() if name.startswith("rows-")]
    assert len(rows) == 3
    assert max(rows) < 1.1 * sum(rows) / 3
    assert sum(rows) > 10 * max(size for name, size in sizes.items() if not name.startswith("rows-"))
