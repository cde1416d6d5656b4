"""A plain data-parallel script for torchrun, as PyTorch's own tutorial has it; the other side of train_fit.py.

python -m torch.distributed.run --standalone --nproc-per-node 2 plain_ddp.py FOLDER LOADER

Trains once for each file `go-N` that appears in the folder, and answers with the seconds of its epochs in `done-N`.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from work.pictures import BATCH, EPOCHS, LR, build, pictures


def main(folder: Path, loader: str) -> None:
    dist.init_process_group("gloo")
    inputs, labels = map(torch.from_numpy, pictures())
    for number in itertools.count():
        while not (folder / f"go-{number}").exists():
            time.sleep(0.05)  # who waits takes nothing from who trains
        seconds = train(inputs, labels, loader)
        if dist.get_rank() == 0:
            (folder / "answer").write_text(json.dumps(seconds))
            (folder / "answer").rename(folder / f"done-{number}")


def train(inputs: torch.Tensor, labels: torch.Tensor, loader: str) -> list[float]:
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DistributedDataParallel(build())
    optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=0.9)
    dataset = TensorDataset(inputs, labels)
    sampler = DistributedSampler(dataset, size, rank, shuffle=True, seed=0)
    spent = []
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        if loader == "rows":
            batches = DataLoader(dataset, BATCH // size, sampler=sampler)
        else:  # one index operation a batch, by hand
            ids = torch.tensor(list(sampler)).split(BATCH // size)
            batches = ((inputs[rows], labels[rows]) for rows in ids)
        dist.barrier()
        begin = time.perf_counter()
        for x, y in batches:
            optimizer.zero_grad()
            loss = cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        dist.barrier()
        spent.append(time.perf_counter() - begin)
    return spent


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
