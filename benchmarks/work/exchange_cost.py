"""Epochs of reading, without a model: out of shards that are exchanged, and out of files that all ranks share."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from argosy.shuffle import PartialExchange
from work.cold import drop_cache
from work.rank import run

BATCH = 64


class Files(Dataset):  # type: ignore[misc]
    """One file for each sample; how many bytes of them were read in this process."""

    def __init__(self, folder: Path, num_samples: int) -> None:
        self.folder = folder
        self.num_samples = num_samples
        self.nbytes_read = 0

    def __len__(self) -> int:
        return self.num_samples

    def __getitem__(self, number: int) -> Any:
        values = np.fromfile(self.folder / f"{number}", np.uint8)
        self.nbytes_read += len(values)
        return torch.from_numpy(values), number


class _Exchanged:
    """A side that keeps its shard, which it loads in its first epoch."""

    def __init__(self, files: Files, fraction: float) -> None:
        self._files = files
        self._fraction = fraction
        self._exchange: PartialExchange | None = None

    def epoch(self) -> int:
        if self._exchange is None:
            self._exchange = PartialExchange(self._files, self._fraction, seed=1)
            self._loader = self._exchange.loader(BATCH)
        count = _count(self._loader)
        self._loader.set_epoch(self._exchange.epoch + 1)  # nothing is left to be done later
        return count

    @property
    def nbytes_sent(self) -> int:
        return 0 if self._exchange is None else self._exchange.exchanged_nbytes

    def close(self) -> None:
        if self._exchange is not None:
            self._exchange.close()


class _Sampled:
    """A side that reads other files in each epoch."""

    nbytes_sent = 0

    def __init__(self, files: Files, num_workers: int) -> None:
        self.sampler = DistributedSampler(files, seed=1)
        options = {"persistent_workers": True} if num_workers else {}
        self.loader = DataLoader(files, BATCH, sampler=self.sampler, num_workers=num_workers, **options)
        self.number = 0

    def epoch(self) -> int:
        self.sampler.set_epoch(self.number)
        self.number += 1
        return _count(self.loader)


def main(
    rank: int, num_ranks: int, *, folder: str, num_samples: int, fractions: list[float], rounds: int, everything: bool
) -> dict[str, Any]:
    """For each side and epoch: seconds, bytes of files that this rank asked for, bytes that came from the disk, bytes
    that it sent. The first epoch of a side is the one in which shards are loaded."""
    files = {f"Q = {fraction}": Files(Path(folder), num_samples) for fraction in fractions}
    sides: dict[str, Any] = {
        name: _Exchanged(own, fraction) for (name, own), fraction in zip(files.items(), fractions, strict=True)
    }
    for num_workers in (0, 2):
        name = f"DistributedSampler, {num_workers} processes"
        files[name] = Files(Path(folder), num_samples)
        sides[name] = _Sampled(files[name], num_workers)
    seen: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
    how = ""
    for number in range(rounds + 1):
        for name in sorted(sides, reverse=number % 2 == 1):
            if rank == 0:
                how = drop_cache(Path(folder), everything=everything)
            seen[name].append(_measured(sides[name], files[name], num_samples // num_ranks))
    for side in sides.values():
        if isinstance(side, _Exchanged):
            side.close()
    return {"seen": seen, "how": how}


def _measured(side: Any, files: Files, expected: int) -> dict[str, float]:
    asked, disk, sent = files.nbytes_read, _disk_nbytes(), side.nbytes_sent
    dist.barrier()
    begin = time.perf_counter()
    count = side.epoch()
    dist.barrier()
    seconds = time.perf_counter() - begin
    if count != expected:
        raise ValueError(f"an epoch of {count} samples on a rank that has {expected}")
    return {
        "seconds": seconds,
        "asked": files.nbytes_read - asked,
        "disk": _disk_nbytes() - disk,
        "sent": side.nbytes_sent - sent,
    }


def _count(batches: Iterable[Any]) -> int:
    return sum(len(numbers) for _, numbers in batches)


def _disk_nbytes() -> int:
    """That came from a disk, for this process."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("read_bytes:"))


if __name__ == "__main__":
    run(main)
