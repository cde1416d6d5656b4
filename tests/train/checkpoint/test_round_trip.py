"""What is saved comes back, bit for bit, on any number of ranks."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from train.checkpoint.states import same, states

from argosy.comm.ranks import Alone, Ranks
from argosy.comm.threads import on_threads
from argosy.errors import BadCheckpoint, RanksDisagree
from argosy.train.checkpoint import Checkpoints, Loaded

torch.set_num_threads(1)
SIZES = [1, 2, 3, 5]


def saved(ranks: Ranks, folder: Path, shared: dict[str, Any], owns: list[dict[str, Any]]) -> None:
    Checkpoints(folder, ranks).save(3, shared=shared, own=owns[ranks.rank], facts={"epoch": 1})


def loaded(ranks: Ranks, folder: Path) -> Loaded:
    found = Checkpoints(folder, ranks).load()
    assert found is not None
    return found


@given(st.sampled_from(SIZES), st.sampled_from(SIZES), states, st.lists(states, min_size=5, max_size=5))
@settings(max_examples=50, deadline=None)
def test_save_then_load_is_identity(then: int, now: int, shared: dict[str, Any], owns: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        on_threads(then, saved, folder, shared, owns)
        assert [path.name for path in folder.iterdir()] == ["step-00000003"]
        for rank, found in enumerate(on_threads(now, loaded, folder)):
            assert (found.step, found.facts, found.skipped) == (3, {"epoch": 1}, ())
            assert same(found.shared, shared)
            assert same(found.own, (owns[rank] or None) if then == now else None)


def test_each_rank_writes_an_equal_share(tmp_path: Path) -> None:
    on_threads(3, saved, tmp_path, {"model": {"large": torch.zeros(300_000), "small": torch.ones(3)}}, [{}] * 3)
    sizes = [path.stat().st_size for path in (tmp_path / "step-00000003").glob("rank-*")]
    assert len(sizes) == 3
    assert max(sizes) - min(sizes) <= 128


def test_tied_parameters_are_written_once_and_come_back_tied(tmp_path: Path) -> None:
    weight = torch.nn.Parameter(torch.randn(100, 100))
    saved(Alone(), tmp_path, {"model": {"in": weight, "out": weight, "part": weight[:50]}}, [{}])
    (part,) = (tmp_path / "step-00000003").glob("rank-*")
    assert part.stat().st_size < 70_000
    model = loaded(Alone(), tmp_path).shared["model"]
    model["in"][0, 0] = 5.0
    assert model["out"][0, 0] == 5.0
    assert model["part"][0, 0] != 5.0


def test_a_model_and_its_optimizer_go_on_from_what_is_loaded(tmp_path: Path) -> None:
    def fresh() -> tuple[torch.nn.Module, torch.optim.Optimizer, Any]:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 1))
        optimizer = torch.optim.AdamW(model.parameters())
        return model, optimizer, torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 3])

    def step(parts: tuple[Any, Any, Any]) -> None:
        model, optimizer, schedule = parts
        optimizer.zero_grad()
        model(torch.randn(6, 4)).square().mean().backward()
        optimizer.step()
        schedule.step()

    parts = fresh()
    step(parts)
    own = {"torch": torch.get_rng_state()}
    saved(Alone(), tmp_path, dict(zip("mos", (part.state_dict() for part in parts), strict=True)), [own])
    step(parts)
    others, found = fresh(), loaded(Alone(), tmp_path)
    assert found.own is not None
    torch.set_rng_state(found.own["torch"])
    for part, name in zip(others, "mos", strict=True):
        part.load_state_dict(found.shared[name])
    assert found.shared["m"]._metadata == parts[0].state_dict()._metadata
    step(others)
    assert same(others[0].state_dict(), parts[0].state_dict())
    assert same(others[1].state_dict(), parts[1].state_dict())


def test_negated_and_conjugated_views_are_saved_as_they_look(tmp_path: Path) -> None:
    base = torch.randn(4, dtype=torch.complex64)
    shared = {"base": base, "conj": base.conj(), "imag": base.conj().imag}
    saved(Alone(), tmp_path, shared, [{}])
    assert same(loaded(Alone(), tmp_path).shared, shared)


class Odd:
    def to_local(self) -> None: ...


class Sub(torch.Tensor):
    pass


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (torch.eye(2).to_sparse(), "sparse_coo"),
        (torch.empty(2, device="meta"), "no values"),
        (torch.zeros(2).as_subclass(Sub), "Sub; save the plain tensors"),
        (np.array([object()]), "ndarray of object"),
        (Odd(), "Odd"),
        (lambda: 1, "function"),
        ({b"key": 1}, "cannot be keys"),
    ],
)
@pytest.mark.parametrize("where", ["shared", "own"])
def test_what_cannot_be_saved_is_refused_by_name_on_all_ranks(value: Any, why: str, where: str, tmp_path: Path) -> None:
    def go(ranks: Ranks) -> None:
        state = {"good": 1, "deep": [{"bad": value}]} if ranks.rank == 1 or where == "shared" else {}
        states = {"shared": {}, "own": {}} | {where: state}
        with pytest.raises(BadCheckpoint, match=rf"deep\[0\].bad.*{why}"):
            Checkpoints(tmp_path / "run", ranks).save(0, facts={}, **states)

    on_threads(2, go)
    assert list(tmp_path.iterdir()) == []


def test_a_distributed_tensor_belongs_into_the_own_state(tmp_path: Path) -> None:
    distributed = torch.zeros(2).as_subclass(type("DTensor", (torch.Tensor,), {"to_local": lambda self: self}))
    with pytest.raises(BadCheckpoint, match="to_local"):
        saved(Alone(), tmp_path, {"w": distributed}, [{}])


@pytest.mark.parametrize(
    ("mine", "why"),
    [
        ({"a": torch.zeros(2), "b": torch.zeros(3)}, "'a' is tensor float32 \\[3\\] in it"),
        ({"b": torch.zeros(3), "a": torch.zeros(3)}, "in the same order"),
        ({"a": torch.zeros(3)}, "it has 'b'"),
    ],
)
def test_ranks_that_hold_other_tensors_are_told_which(mine: dict[str, Any], why: str, tmp_path: Path) -> None:
    def go(ranks: Ranks) -> None:
        shared = mine if ranks.rank == 2 else {"a": torch.zeros(3), "b": torch.zeros(3)}
        with pytest.raises(RanksDisagree, match=why):
            Checkpoints(tmp_path, ranks).save(0, shared=shared, own={}, facts={})

    on_threads(3, go)


def test_ranks_that_tie_other_tensors_tie_none(tmp_path: Path) -> None:
    def go(ranks: Ranks) -> None:
        weight = torch.arange(1000.0)
        other = weight if ranks.rank == 0 else weight.clone()
        Checkpoints(tmp_path, ranks).save(0, shared={"a": weight, "b": other}, own={}, facts={})
        found = loaded(ranks, tmp_path)
        assert same(found.shared, {"a": weight, "b": weight})

    on_threads(2, go)


def test_there_is_nothing_to_load_in_an_empty_or_missing_folder(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path, Alone()).load() is None
    assert on_threads(2, lambda ranks: Checkpoints(tmp_path / "no", ranks).load()) == [None, None]
