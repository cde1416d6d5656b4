"""Epochs of training with several shares of exchange in turn, in the same processes, with the same model."""

from __future__ import annotations

import random
import time
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import TensorDataset

from argosy.shuffle import PartialExchange
from work.pictures import LR, build, pictures
from work.rank import run

BATCH = 32


def main(rank: int, num_ranks: int, *, sides: dict[str, float], rounds: int) -> dict[str, Any]:
    """For each side the seconds of its epochs, and the bytes that this rank sent in one of them."""
    dataset = TensorDataset(*map(torch.from_numpy, pictures()))
    torch.manual_seed(0)
    model = DistributedDataParallel(build())
    optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=0.9)
    exchanges = {side: PartialExchange(dataset, fraction, seed=1) for side, fraction in sides.items()}
    loaders = {side: exchange.loader(BATCH) for side, exchange in exchanges.items()}
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    draw = random.Random(0)
    for number in range(rounds + 1):
        for side in draw.sample(list(sides), len(sides)):
            spent = _epoch(model, optimizer, loaders[side])
            if number:  # the first round loads and compiles
                seconds[side].append(spent)
    sent = {side: exchange.exchanged_nbytes / (rounds + 1) for side, exchange in exchanges.items()}
    steps = len(loaders["0"])
    for exchange in exchanges.values():
        exchange.close()
    return {"seconds": seconds, "sent": sent, "steps": steps}


def _epoch(model: Any, optimizer: Any, loader: Any) -> float:
    """With the change to the next epoch: nothing of the exchange is left for when the others train."""
    dist.barrier()
    begin = time.perf_counter()
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
    loader.set_epoch(loader.exchange.epoch + 1)
    dist.barrier()
    return time.perf_counter() - begin


if __name__ == "__main__":
    run(main)
