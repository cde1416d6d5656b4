"""How much memory or disk a rank needs for its samples, over some epochs."""

from __future__ import annotations

from pathlib import Path

from argosy.shuffle import PartialExchange
from work.numbered import LARGEST_NBYTES, Numbered, nbytes_of
from work.rank import run

BATCH = 32


def main(
    rank: int, num_ranks: int, *, fraction: float, equal: bool, shard_nbytes: int, epochs: int, store: str
) -> dict[str, float]:
    """All in bytes: the largest shard of an epoch, the largest batch, the store at its largest, and how far memory grew
    with the shard, beyond what the libraries and the group take."""
    mean = nbytes_of(0, equal=True) if equal else LARGEST_NBYTES // 2
    _read(Numbered(64 * num_ranks, equal=equal), fraction, store, epochs=2)  # what is loaded once is loaded now
    before = _memory_nbytes()
    largest = _read(Numbered(num_ranks * shard_nbytes // mean, equal=equal), fraction, store, epochs)
    return {**largest, "grown": largest["memory"] - before}


def _read(samples: Numbered, fraction: float, store: str, epochs: int) -> dict[str, float]:
    largest = dict.fromkeys(("shard", "batch", "stored", "memory"), 0.0)
    with PartialExchange(samples, fraction, seed=3, store=store, epochs=epochs + 1) as exchange:
        loader = exchange.loader(BATCH, collate_fn=list)
        for _ in range(epochs):
            shard = 0
            for batch in loader:
                nbytes = sum(len(values) for _, values in batch)
                shard += nbytes
                largest["batch"] = max(largest["batch"], nbytes)
                largest["stored"] = max(largest["stored"], exchange.stored_nbytes)
                largest["memory"] = max(largest["memory"], _memory_nbytes())
            largest["shard"] = max(largest["shard"], shard)
            loader.set_epoch(exchange.epoch + 1)  # what was exchanged has all arrived, and is still there
            largest["stored"] = max(largest["stored"], exchange.stored_nbytes)
            largest["memory"] = max(largest["memory"], _memory_nbytes())
    return largest


def _memory_nbytes() -> int:
    """Of this process, with memory that it shares, and without files: those of the disk can be read again."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))


if __name__ == "__main__":
    run(main)
