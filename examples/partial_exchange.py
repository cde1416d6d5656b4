"""A DDP program whose ranks keep their own samples, and exchange a tenth of them before each epoch.

    torchrun --nproc-per-node 2 examples/partial_exchange.py FOLDER

Each rank begins with the samples of some classes only, as if every machine had written its own files. What it reads is
less and less its own from epoch to epoch, as the law of retention says. The run is kept in FOLDER after every few
batches; started again, also with another number of ranks that divides 12, it goes on with the very next one: all
shards together, in order of rank, are the same samples with any number of them.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import TensorDataset

from argosy.shuffle import PartialExchange, retention

NUM_SAMPLES, NUM_FEATURES, NUM_CLASSES = 8400, 32, 12
BATCH, EPOCHS, FRACTION, KEPT_EVERY = 32, 5, 0.1, 50


def classes_of(rank: int, num_ranks: int) -> range:
    """Those that a rank begins with."""
    return range(NUM_CLASSES * rank // num_ranks, NUM_CLASSES * (rank + 1) // num_ranks)


def make_shard(own: range) -> TensorDataset:
    """Points around one centre for each class; a rank has those of its own classes."""
    draw = torch.Generator().manual_seed(0)
    centres = torch.randn(NUM_CLASSES, NUM_FEATURES, generator=draw) / 2
    classes = torch.arange(NUM_SAMPLES) * NUM_CLASSES // NUM_SAMPLES
    points = centres[classes] + torch.randn(NUM_SAMPLES, NUM_FEATURES, generator=draw)
    mine = (classes >= own.start) & (classes < own.stop)
    return TensorDataset(points[mine], classes[mine])


def main(folder: Path) -> None:
    dist.init_process_group("gloo")
    torch.set_num_threads(1)  # so small a model waits for threads longer than they save
    torch.manual_seed(0)
    rank, num_ranks = dist.get_rank(), dist.get_world_size()
    net = nn.Sequential(nn.Linear(NUM_FEATURES, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, NUM_CLASSES))
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    own = classes_of(rank, num_ranks)
    with PartialExchange(make_shard(own), FRACTION, seed=1, sharded=True, epochs=EPOCHS) as exchange:
        loader = exchange.loader(BATCH)
        kept = folder / "run.pt"
        if kept.exists():
            state = torch.load(kept)
            net.load_state_dict(state["net"])
            optimizer.load_state_dict(state["optimizer"])
            loader.load_state_dict(state["loader"])
            tell(rank, f"goes on in epoch {exchange.epoch}")

        for epoch in range(exchange.epoch, EPOCHS):
            stayed = seen = 0
            for batch, (points, classes) in enumerate(loader, 1):
                loss = nn.functional.cross_entropy(model(points), classes)
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                stayed += sum(int(number) in own for number in classes)
                seen += len(classes)
                if rank == 0 and batch % KEPT_EVERY == 0:
                    keep(kept, net=net, optimizer=optimizer, loader=loader)
            law = retention(FRACTION, num_ranks, epoch)
            tell(rank, f"epoch {epoch}: {seen} samples, {stayed / seen:.0%} of its own classes (the law: {law:.0%})")
        tell(rank, f"sent {exchange.exchanged_nbytes:,} bytes, stores {exchange.stored_nbytes:,}")
    del model, loader
    gc.collect()  # what DDP holds in cycles; freed while Python ends, it can make gloo's threads abort
    dist.barrier()  # nobody leaves while another still reads from it
    dist.destroy_process_group()


def keep(path: Path, **parts: Any) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    torch.save({name: part.state_dict() for name, part in parts.items()}, new)
    new.replace(path)


def tell(rank: int, line: str) -> None:
    if rank == 0:
        print(f"rank 0 {line}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
