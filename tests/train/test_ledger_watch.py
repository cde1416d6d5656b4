"""Exposed communication under DistributedDataParallel: measured on three real ranks, and nothing is changed by it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch

from argosy.errors import TrainError
from argosy.train.ledger import Ledger

RANK = """
import json, sys, time, warnings
warnings.simplefilter("error")
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from argosy.train.ledger import Ledger

store, rank, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=size)


def train(how):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(40, 300), torch.nn.Tanh(), torch.nn.Linear(300, 7))
    ddp = DistributedDataParallel(model, bucket_cap_mb=0.01, gradient_as_bucket_view=how == "view")
    ledger = Ledger(workers=size, seed=0)
    calls = []
    if how == "plain":
        says = ""
    elif how == "wrapped":
        def hook(state, bucket) -> torch.futures.Future[torch.Tensor]:
            state.append(bucket.index())
            future = dist.all_reduce(bucket.buffer().mul_(1 / size), async_op=True).get_future()
            return future.then(lambda done: done.value()[0])
        says = ledger.watch(ddp, hook, calls)
    else:
        says = ledger.watch(ddp)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(rank)
    ledger.start()
    for _ in range(4):
        x, y = torch.randn(8, 40, generator=generator), torch.randn(8, 7, generator=generator)
        loss = (ddp(x) - y).square().mean()
        ledger.lap("forward")
        if rank == 0:
            time.sleep(0.01)  # the others wait for this rank
        loss.backward()
        ledger.lap("backward")
        optimizer.step()
        optimizer.zero_grad()
        ledger.lap("optimizer")
        ledger.step(samples=8 * size, loss=loss)
    bits = torch.cat([p.detach().flatten() for p in model.parameters()]).view(torch.int32).sum(dtype=torch.int64)
    told = {"bits": int(bits), "seconds": ledger.seconds, "losses": ledger.losses}
    return told | {"says": str(says), "calls": len(calls)}


print(json.dumps({how: train(how) for how in ("plain", "watched", "view", "wrapped")}))
dist.destroy_process_group()
"""


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, dict[str, object]]]:
    store = tmp_path_factory.mktemp("watch") / "store"
    children = [
        subprocess.Popen([sys.executable, "-c", RANK, str(store), str(rank), "3"], stdout=subprocess.PIPE, text=True)
        for rank in range(3)
    ]
    try:
        return [json.loads(child.communicate(timeout=50)[0]) for child in children]
    finally:
        for child in children:
            child.kill()
            child.wait()


def test_gradients_are_those_without_a_ledger_bit_for_bit(ranks: list[dict[str, dict[str, object]]]) -> None:
    for told in ranks:
        for how in ("watched", "view", "wrapped"):
            assert told[how]["bits"] == told["plain"]["bits"]
            assert told[how]["losses"] == told["plain"]["losses"]


def test_waiting_for_gradients_is_communication_only_where_it_is_watched(
    ranks: list[dict[str, dict[str, object]]],
) -> None:
    for told in ranks:
        assert told["plain"]["seconds"]["comm"] == 0
        assert told["watched"]["seconds"]["comm"] > 0
        assert told["watched"]["seconds"]["backward"] > 0
        assert "last bucket" in told["watched"]["says"]
        assert told["wrapped"]["calls"] >= 4


def test_time_from_a_mark_to_the_end_of_the_lap_is_communication() -> None:
    ledger = Ledger()
    ledger.start()
    ledger.laps.waiting()
    ledger.lap("backward")
    assert ledger.seconds["backward"] >= 0
    assert ledger.seconds["comm"] > 0


def test_a_mark_older_than_the_lap_takes_no_more_than_the_lap() -> None:
    ledger = Ledger()
    ledger.laps.waiting()
    ledger.start()
    ledger.lap("backward")
    assert ledger.seconds["backward"] == 0


def test_watch_says_what_it_cannot_measure() -> None:
    class Sharded(torch.nn.Module):
        def set_requires_gradient_sync(self) -> None: ...

    assert not Ledger().watch(Sharded()).exposed
    assert "FSDP2" in str(Ledger().watch(Sharded()))
    assert "with ledger.comm()" in str(Ledger().watch(torch.nn.Linear(1, 1)))
    with pytest.raises(TrainError, match="watches a model, not str"):
        Ledger().watch("model")
