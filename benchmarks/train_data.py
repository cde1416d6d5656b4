"""From a resident table to batches: memory at the first batch, and batches a second against torch's DataLoader."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from figures import Figure, Options
from sections import run

from argosy.comm.ranks import Alone
from argosy.shuffle.steps import EpochSteps, sharded_epoch
from argosy.train.data import batches as batches_of
from argosy.train.data import samples_of

WIDTH = 256
BATCH = 256
CHUNKS = 8


class Rows(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """One sample at a time, as a Dataset is commonly written."""

    def __init__(self, inputs: torch.Tensor, labels: torch.Tensor) -> None:
        self.inputs = inputs
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.inputs[i], self.labels[i]


def first_batch(options: Options) -> list[Figure]:
    """Growth of this process from a resident table to its first batch, shuffled, at its peak; libraries are loaded."""
    return [_growth(_table(options, num_chunks)[0], num_chunks) for num_chunks in (CHUNKS, 250 * CHUNKS)]


def _growth(table: pa.Table, num_chunks: int) -> Figure:
    small = table.slice(0, 4 * BATCH)
    next(_batches(small, _epoch(small)))
    Path("/proc/self/clear_refs").write_text("5")  # what was the peak before does not count
    before = _status_nbytes("VmRSS:")
    epoch = _epoch(table)
    taken = _batches(table, epoch)  # held while memory is read, as a loop would hold it: order, buffers and all
    batch = next(taken)
    held = _status_nbytes("VmRSS:") - before
    peak = _status_nbytes("VmHWM:") - before
    note = f"{peak / 1e6:.1f} MB at the peak, {held / 1e6:.1f} MB held, of {table.nbytes / 1e6:,.0f} MB"
    note += f"; the order is {epoch.lines[0].ids.nbytes / 1e6:.1f} MB, a batch {batch.inputs.nbytes / 1e6:.1f} MB"
    what = f"first batch, table in {num_chunks:,} chunks: growth of memory"
    return Figure(what=what, value=100 * peak / table.nbytes, unit="%", at_most=5.0, note=note)


def batches(options: Options) -> list[Figure]:
    """Batches a second, shuffled, of the same samples, in turns; each side is timed from its first batch on."""
    table, inputs, labels = _table(options)
    rows = Rows(inputs, labels)
    sides: dict[str, Callable[[], Iterator[Any]]] = {
        "argosy": lambda: _batches(table, _epoch(table)),
        "DataLoader, 0 processes": lambda: _loader(rows, 0),
        "DataLoader, 2 processes": lambda: _loader(rows, 2),
    }
    count = options.count(400, 50)
    rates: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(options.turns(5, 2)):
        for name, side in sides.items():
            rates[name].append(_rate(side(), count))
    ours, *theirs = (median(rates[name]) for name in sides)
    best = max(theirs)
    note = ", ".join(f"{name}: {median(values):,.0f}/s" for name, values in rates.items())
    what = f"batches of {BATCH} x {WIDTH} float32 / s, over the better DataLoader"
    figures = [Figure(what=what, value=ours / best, unit="x", at_least=5.0, note=note)]
    return figures + _small(table, options)


def _small(table: pa.Table, options: Options) -> list[Figure]:
    """What a thread costs or hides where batches are tiny."""
    count = options.count(20_000, 2_000)
    ahead, alone = [], []
    for _ in range(options.turns(5, 2)):
        ahead.append(_rate(_batches(table, _epoch(table, 8)), count))
        alone.append(_rate(_batches(table, _epoch(table, 8), prefetch=0), count))
    note = f"{median(ahead):,.0f}/s against {median(alone):,.0f}/s"
    what = f"batches of 8 x {WIDTH} float32 / s, with the thread over without"
    return [Figure(what=what, value=median(ahead) / median(alone), unit="x", note=note)]


def _table(options: Options, num_chunks: int = CHUNKS) -> tuple[pa.Table, torch.Tensor, torch.Tensor]:
    """A table in several chunks, and tensors over the same memory."""
    num_rows = options.count(2_000_000_000, 100_000_000) // (4 * WIDTH + 8)
    draw = np.random.default_rng(0)
    values = draw.random((num_rows, WIDTH), dtype=np.float32)
    labels = draw.integers(0, 10, num_rows)
    cuts = [num_rows * k // num_chunks for k in range(num_chunks + 1)]
    lists = [
        pa.FixedSizeListArray.from_arrays(pa.array(values[begin:end].reshape(-1)), WIDTH)
        for begin, end in pairwise(cuts)
    ]
    numbers = [pa.array(labels[begin:end]) for begin, end in pairwise(cuts)]
    table = pa.table({"image": pa.chunked_array(lists), "label": pa.chunked_array(numbers)})
    return table, torch.from_numpy(values), torch.from_numpy(labels)


def _epoch(table: pa.Table, batch: int = BATCH) -> EpochSteps:
    return sharded_epoch((table.num_rows,), batch=batch, rank=0, workers=1, seed=0, epoch=0)


def _batches(table: pa.Table, epoch: EpochSteps, prefetch: int = 2) -> Iterator[Any]:
    return batches_of(samples_of(table, ranks=Alone()), epoch, prefetch=prefetch)


def _loader(rows: Rows, processes: int) -> Iterator[Any]:
    return iter(torch.utils.data.DataLoader(rows, batch_size=BATCH, shuffle=True, num_workers=processes))


def _rate(batches: Iterator[Any], count: int) -> float:
    next(batches)
    begin = time.perf_counter()
    done = sum(1 for _ in islice(batches, count))
    return done / (time.perf_counter() - begin)


def _status_nbytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


if __name__ == "__main__":
    sys.exit(run({"first_batch": first_batch, "batches": batches}, __doc__))
