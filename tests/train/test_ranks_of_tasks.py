"""A training claims the GPUs that it uses, and finds torch as in a new process, whatever ran there before."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

import argosy
from argosy import train
from argosy.pilot.schedule import Schedule
from argosy.resources import Allocation, Need, Node
from argosy.train.fitting import _gpus_of_each
from argosy.train.group import backend_of

torch = pytest.importorskip("torch")


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 5)), min_size=1, max_size=3), st.data())
def test_as_many_ranks_as_there_are_can_share_what_gpus_there_are(
    nodes: list[tuple[int, int]], data: st.DataObject
) -> None:
    there = [Node(name=f"n{i}", ranks=ranks, cores=ranks, gpus=gpus) for i, (ranks, gpus) in enumerate(nodes)]
    allocation = Allocation(nodes=tuple(there))
    ranks = data.draw(st.integers(1, allocation.num_ranks))
    gpus = _gpus_of_each(ranks, "auto", allocation)
    assert 0 < gpus <= 1
    assert gpus == 1 or any(min(ranks, node.ranks) > node.gpus for node in there)
    assert Schedule(allocation).can_ever_fit(Need(ranks=ranks, gpus_per_rank=gpus)) is None


def test_devices_that_are_no_gpu_or_name_one_claim_none() -> None:
    with_gpus = Node(name="a", ranks=4, cores=4, gpus=2)
    without = Node(name="b", ranks=4, cores=4)
    assert _gpus_of_each(4, "auto", Allocation(nodes=(with_gpus,))) == 0.5
    assert _gpus_of_each(2, "cuda", Allocation(nodes=(with_gpus,))) == 1
    assert _gpus_of_each(4, "cpu", Allocation(nodes=(with_gpus,))) == 0
    assert _gpus_of_each(4, "cuda:1", Allocation(nodes=(with_gpus,))) == 0
    assert _gpus_of_each(4, "auto", Allocation(nodes=(without,))) == 0
    assert _gpus_of_each(8, "auto", Allocation(nodes=(with_gpus, without))) == 0


class Seen(torch.nn.Linear):
    """Keeps what its rank was given, as a buffer."""

    def __init__(self) -> None:
        super().__init__(1, 2)
        said = os.environ["CUDA_VISIBLE_DEVICES"]
        self.register_buffer("given", torch.tensor([int(word) for word in said.split(",")]))


def make() -> torch.nn.Module:
    return Seen()


def leave_settings() -> None:
    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(False)
    torch.use_deterministic_algorithms(True)
    torch.set_default_device("meta")
    torch.manual_seed(1)


def settings() -> tuple[str, str, bool, bool, int]:
    made = torch.ones(1)
    deterministic = torch.are_deterministic_algorithms_enabled()
    return str(made.device), str(made.dtype), torch.is_grad_enabled(), deterministic, torch.get_num_threads()


def test_a_training_has_its_gpu_and_what_tasks_leave_in_torch_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,7")
    data = (torch.arange(8.0).reshape(8, 1), torch.arange(8) % 2)
    with argosy.Pilot(ranks=1) as pilot:
        fitted = train.fit(make, data, loss="cross_entropy", batch_size=4, epochs=1)
        assert fitted.model.given.tolist() == [5]
        before = pilot.submit(settings).result()
        drawn = []
        for _ in range(3):
            pilot.submit(leave_settings).result()
            assert pilot.submit(settings, cores=1).result() == (*before[:-1], 1)
            assert pilot.submit(settings).result() == before
            drawn.append(pilot.submit(lambda: float(torch.rand(()))).result())
    assert len(set(drawn)) == 3


@pytest.mark.parametrize(
    ("places", "backend"),
    [
        ([("a", "GPU-1"), ("a", "GPU-2")], "cpu:gloo,cuda:nccl"),
        ([("a", "GPU-1"), ("b", "GPU-1")], "cpu:gloo,cuda:nccl"),
        ([("a", "GPU-1"), ("a", "GPU-2"), ("a", "GPU-1")], "gloo"),
    ],
)
def test_ranks_that_share_a_gpu_do_without_nccl_which_refuses_them(
    places: list[tuple[str, str]], backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.distributed.is_nccl_available", lambda: True)
    assert backend_of("cuda", places) == backend
    assert backend_of("cpu", places) == "gloo"
