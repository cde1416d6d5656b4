"""Real ranks keep shards, exchange a share of them, and read every sample exactly once in each epoch."""

from __future__ import annotations

from pathlib import Path

import pytest
from shuffle.ranks import on_ranks
from shuffle.samples import Numbered, number_of, numbers_of_batch
from torch.utils.data import DataLoader

from argosy.shuffle import PartialExchange, partial_order


def _read(rank: int, num_ranks: int, kind: str, how: str, epochs: int, store: str) -> list[list[int]]:
    exchange = PartialExchange(Numbered(103, kind), 0.3, seed=5, store=store)
    seen = []
    for epoch in range(epochs):
        if how == "iterated":
            seen.append([number_of(sample) for sample in exchange])
        elif how == "DataLoader":
            seen.append([n for batch in DataLoader(exchange, batch_size=4) for n in numbers_of_batch(batch)])
        elif how == "workers":
            loader = DataLoader(exchange, batch_size=4, num_workers=2)
            seen.append([n for batch in loader for n in numbers_of_batch(batch)])
        elif how == "kept workers":
            loader = DataLoader(exchange, batch_size=4, num_workers=2, persistent_workers=True) if not epoch else loader
            seen.append([n for batch in loader for n in numbers_of_batch(batch)])
        elif how == "spawned workers":
            exchange.set_epoch(epoch)
            loader = DataLoader(exchange, batch_size=4, num_workers=1, multiprocessing_context="spawn")
            seen.append([n for batch in loader for n in numbers_of_batch(batch)])
        elif how == "pair":
            loader = DataLoader(exchange.samples, batch_size=4, sampler=exchange.sampler, num_workers=1)
            seen.append([n for batch in loader for n in numbers_of_batch(batch)])
        else:
            loader = exchange.loader(4) if epoch == 0 else loader
            seen.append([n for batch in loader for n in numbers_of_batch(batch)])
    exchange.close()
    return seen


@pytest.mark.parametrize("num_ranks", [1, 2, 3])
@pytest.mark.parametrize("kind", ["tensors", "objects"])
def test_each_rank_reads_what_the_order_says(num_ranks: int, kind: str, tmp_path: Path) -> None:
    store = "memory" if num_ranks == 2 else str(tmp_path)
    seen = on_ranks(num_ranks, _read, kind, "iterated", 4, store)
    for epoch in range(4):
        order = partial_order(103, num_ranks, fraction=0.3, seed=5, epoch=epoch)
        assert [each[epoch] for each in seen] == [line.tolist() for line in order]


@pytest.mark.parametrize("how", ["DataLoader", "workers", "kept workers", "spawned workers", "pair", "loader"])
def test_every_way_of_reading_reads_every_sample_once(how: str) -> None:
    seen = on_ranks(2, _read, "tensors", how, 3, "memory")
    for epoch in range(3):
        assert sorted(seen[0][epoch] + seen[1][epoch]) == list(range(103))
        order = partial_order(103, 2, fraction=0.3, seed=5, epoch=epoch)
        assert [sorted(each[epoch]) for each in seen] == [sorted(line.tolist()) for line in order]
