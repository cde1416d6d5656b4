"""A plain data-parallel script for torchrun, as PyTorch's own tutorial has it; the other side of train_fit.py.

python -m torch.distributed.run --standalone --nproc-per-node 2 plain_ddp.py EPOCHS LOADER
"""

from __future__ import annotations

import sys
import time

import torch
import torch.distributed as dist
from children import answer
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from work.pictures import BATCH, LR, build, pictures


def main(epochs: int, loader: str) -> None:
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    inputs, labels = map(torch.from_numpy, pictures())
    torch.manual_seed(0)
    model = DistributedDataParallel(build())
    optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=0.9)
    dataset = TensorDataset(inputs, labels)
    sampler = DistributedSampler(dataset, size, rank, shuffle=True, seed=0)
    rates = []
    for epoch in range(epochs):
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
        rates.append(len(inputs) / (time.perf_counter() - begin))
    if rank == 0:
        answer(rates)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
