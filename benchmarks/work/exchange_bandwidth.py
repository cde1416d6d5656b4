"""Samples between two ranks: as they are exchanged, as one large send, and with a barrier and a pickle for each."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from argosy.shuffle.exchange import Exchange
from argosy.shuffle.holdings import dealt
from argosy.shuffle.peers import Peers
from argosy.shuffle.store.slots import Slots
from work.rank import run

SAMPLE_NBYTES = 4096
_BLOCK = 4096


def main(rank: int, num_ranks: int, *, num_samples: int, rounds: int, warm_up: int, one_by_one: int) -> dict[str, Any]:
    """For each side, in each round, the seconds and the bytes that travelled, from both ranks together. `num_samples`:
    on each rank; at Q = 1 half of those of both leave their rank."""
    large = torch.ones(num_samples * SAMPLE_NBYTES, dtype=torch.uint8)
    sides: dict[str, Callable[[], int]] = {
        "exchange": _exchange(rank, num_samples),
        "send": lambda: _send(rank, large),
        "both ways": lambda: _send_both_ways(rank, large),
        "one by one": _one_by_one(rank, one_by_one),
    }
    seen: dict[str, list[tuple[float, int]]] = {side: [] for side in sides}
    for number in range(warm_up + rounds):
        for side in sorted(sides, reverse=number % 2 == 1):  # nobody is always after the same one
            dist.barrier()
            begin = time.perf_counter()
            nbytes = sides[side]()
            dist.barrier()
            seconds = time.perf_counter() - begin
            if number >= warm_up:
                seen[side].append((seconds, nbytes))
    return seen


def _exchange(rank: int, num_samples: int) -> Callable[[], int]:
    holdings = dealt(2 * num_samples, 2, fraction=1.0, seed=0)
    slots = Slots(num_samples, sample_nbytes=SAMPLE_NBYTES)
    held = holdings.held(holdings.slots(rank), 0)
    for first in range(0, num_samples, _BLOCK):
        which = np.arange(first, min(first + _BLOCK, num_samples))
        rows = np.zeros((len(which), SAMPLE_NBYTES), np.uint8)
        rows.view(np.int64)[:] = held[which, None]
        slots.put(which, rows)
    exchange = Exchange(slots, holdings, peers=Peers())
    epoch = 0

    def once() -> int:
        """Both ranks send as much as they receive."""
        nonlocal epoch
        before = exchange.nbytes
        exchange.begin(epoch)
        exchange.finish()
        epoch += 1
        return 2 * (exchange.nbytes - before)

    once()
    _check(slots, holdings.held(holdings.slots(rank), epoch))
    return once


def _check(slots: Slots, held: Any) -> None:
    """Every sample is where it belongs, whole."""
    for first in range(0, len(held), _BLOCK):
        which = np.arange(first, min(first + _BLOCK, len(held)))
        if not (slots.rows(which).view(np.int64) == held[which, None]).all():
            raise ValueError(f"samples in the slots from {first} on are not those that belong there")


def _send(rank: int, large: torch.Tensor) -> int:
    """One send from rank 0 to rank 1."""
    if rank == 0:
        dist.send(large, 1)
    else:
        dist.recv(large, 0)
    return len(large)


def _send_both_ways(rank: int, large: torch.Tensor) -> int:
    """The same number of bytes, half of them each way at once."""
    half = len(large) // 2
    transfers = [dist.irecv(large[half:], 1 - rank), dist.isend(large[:half], 1 - rank)]
    for transfer in transfers:
        transfer.wait()
    return len(large)


def _one_by_one(rank: int, count: int) -> Callable[[], int]:
    """A barrier, and then each rank sends one pickled sample and receives another. That all pickles have one length is
    known on both sides, so it need not be sent."""
    sample = np.ones(SAMPLE_NBYTES, np.uint8)
    into = torch.empty(len(pickle.dumps(sample)), dtype=torch.uint8)
    kept: list[Any] = [None] * count

    def once() -> int:
        for number in range(count):
            dist.barrier()
            out = torch.frombuffer(bytearray(pickle.dumps(sample)), dtype=torch.uint8)
            sent = dist.isend(out, 1 - rank)
            dist.recv(into, 1 - rank)
            kept[number] = pickle.loads(into.numpy())
            sent.wait()
        return 2 * count * SAMPLE_NBYTES

    return once


if __name__ == "__main__":
    run(main)
