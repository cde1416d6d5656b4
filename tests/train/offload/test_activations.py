"""What a forward pass saves: moved once, given back when the backward pass is done with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from argosy.errors import TierFull
from argosy.memory.tiers import Disk
from argosy.train.offload.activations import Activations
from argosy.train.offload.disk import OnHost
from argosy.train.offload.meter import Meter
from argosy.train.offload.parameters import Parameters


class Rig:
    """Activations of a model without layers of its own."""

    def __init__(self, folder: Path, capacity: int | None = None) -> None:
        self.slow = OnHost(Disk(folder, capacity))
        self.meter = Meter(self.slow)
        parameters = Parameters([], {}, self.slow, self.meter, torch.device("cpu"), norms=False)
        self.activations = Activations(parameters, self.slow, self.meter, ["only"])

    def saving(self) -> torch.autograd.graph.saved_tensors_hooks:
        return torch.autograd.graph.saved_tensors_hooks(self.activations.pack, self.activations.unpack)

    @property
    def num_held(self) -> int:
        return len(self.slow._held)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    made = Rig(tmp_path)
    yield made
    assert made.num_held == 0
    assert made.meter.fast_nbytes == 0
    made.slow.close()


def test_tensors_over_the_same_bytes_move_once(rig: Rig) -> None:
    inputs = torch.randn(64, 96, requires_grad=True)
    with rig.saving():
        whole = inputs.exp()
        left, middle, right = whole.chunk(3, dim=1)
        total = (left * middle * right.t().contiguous().t()).sum()
        assert rig.meter.saved["activations:only"] <= 5 * 64 * 96 * 4
        held = rig.num_held
        total.backward()
    assert 1 <= held <= 4
    expected = inputs.detach().clone().requires_grad_()
    left, middle, right = expected.exp().chunk(3, dim=1)
    (left * middle * right).sum().backward()
    assert torch.equal(inputs.grad, expected.grad)


@pytest.mark.parametrize("slow", [True, False])
def test_a_graph_that_is_kept_can_be_gone_through_twice(rig: Rig, slow: bool) -> None:
    rig.activations.slow_objects = {"activations:only"} if slow else set()
    inputs = torch.randn(64, 64, requires_grad=True)
    with rig.saving():
        total = inputs.sigmoid().sum()
        assert rig.num_held == slow
        total.backward(retain_graph=True)
        once = inputs.grad.clone()
        total.backward()
    assert torch.equal(inputs.grad, 2 * once)


def test_a_storage_that_is_gone_is_not_taken_for_the_next_one_at_its_address(rig: Rig) -> None:
    inputs = torch.randn(64, 64, requires_grad=True)
    with rig.saving():
        outputs = [(inputs * number).sigmoid().sum() for number in range(1, 6)]
        sum(outputs).backward()
    expected = inputs.detach().clone().requires_grad_()
    sum([(expected * number).sigmoid().sum() for number in range(1, 6)]).backward()
    assert torch.equal(inputs.grad, expected.grad)


def test_a_pass_that_is_forgotten_gives_everything_back(rig: Rig) -> None:
    inputs = torch.randn(64, 64, requires_grad=True)
    with rig.saving():
        total = inputs.sigmoid().sum()
    assert rig.num_held == 1
    del total


def test_the_batch_small_and_sparse_tensors_stay(rig: Rig) -> None:
    batch = torch.randn(64, 64)
    weight = torch.randn(64, 64, requires_grad=True)
    rig.activations.begin([batch, weight])
    with rig.saving():
        total = (batch @ weight).sum() + weight[:2, :2].sigmoid().sum()
        total = total + torch.sparse.mm(torch.eye(64).to_sparse(), weight).sum()
        assert rig.num_held == 0
        total.backward()


def test_a_disk_that_fills_up_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    rig = Rig(tmp_path, capacity=20_000)
    inputs = torch.randn(64, 64, requires_grad=True)
    with rig.saving():
        kept = inputs.sigmoid().sum()
        with pytest.raises(TierFull, match="activations:only cannot be offloaded: tier 'disk' is full"):
            inputs.tanh().sum()
        kept.backward()
    assert torch.equal(inputs.grad, inputs.sigmoid() * (1 - inputs.sigmoid()))
    assert rig.num_held == 0
    rig.slow.close()
