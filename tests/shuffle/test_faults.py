"""What goes wrong is said clearly, and nothing that a rank holds is lost by it."""

from __future__ import annotations

import os
import resource
import signal
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from shuffle.ranks import on_ranks
from shuffle.samples import Numbered, number_of
from torch.utils.data import DataLoader, IterableDataset

from argosy.errors import (
    BadData,
    BadFraction,
    CannotPack,
    DiskFull,
    PeerFailed,
    PeerLost,
    RanksDisagree,
    ShuffleError,
    TooFewSamples,
    TypeMismatch,
)
from argosy.shuffle import PartialExchange


def _one_dies(rank: int, num_ranks: int, kind: str) -> Any:
    exchange = PartialExchange(Numbered(120, kind), 0.5, seed=4)
    first = [number_of(sample) for sample in exchange]
    if rank == 1:
        exchange._exchange.close()
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        for _ in range(3):
            iter(exchange).__next__()
            exchange.set_epoch(exchange.epoch + 1)
    except PeerLost as lost:
        there = [number_of(exchange.samples[slot]) for slot in range(len(exchange.samples))]
        return first, exchange.epoch, lost.rank, str(lost), there
    return None


@pytest.mark.parametrize("kind", ["tensors", "objects"])
def test_a_peer_that_dies_is_named_and_the_present_epoch_stays_whole(kind: str) -> None:
    results = on_ranks(3, _one_dies, kind, may_die=True)
    assert results[1] is None
    for rank in (0, 2):
        first, epoch, lost, words, there = results[rank]
        assert lost == 1
        assert "rank 1 was lost" in words
        if epoch == 0:
            assert sorted(there) == sorted(first)
        assert len(set(there)) == 40


def _of_length(rank: int, num_ranks: int, what: str) -> str:
    try:
        if what == "length":
            PartialExchange(Numbered(10 + rank))
        elif what == "fraction":
            PartialExchange(Numbered(10), fraction=0.1 * rank)
        elif what == "seed":
            PartialExchange(Numbered(10), seed=rank)
        elif what == "read":
            next(iter(PartialExchange(_Broken(10, rank == 1))))
        else:
            next(iter(PartialExchange([lambda: 1] * 10)))
    except (RanksDisagree, PeerFailed, CannotPack, OSError) as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


class _Broken(Numbered):
    def __init__(self, num_samples: int, broken: bool) -> None:
        super().__init__(num_samples)
        self.broken = broken

    def __getitem__(self, number: int) -> Any:
        if self.broken:
            raise OSError("the file is gone")
        return super().__getitem__(number)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("length", ["RanksDisagree: samples: rank 0 has 10, and rank 1 has 11"] * 2),
        ("fraction", ["RanksDisagree: fraction: rank 0 has 0.0, and rank 1 has 0.1"] * 2),
        ("seed", ["RanksDisagree: seed: rank 0 has 0, and rank 1 has 1"] * 2),
        ("read", ["PeerFailed: rank 1 of this run failed", "OSError: the file is gone"]),
        ("pack", ["CannotPack: a sample is a function that cannot be packed"] * 2),
    ],
)
def test_what_is_wrong_on_one_rank_is_raised_on_all(what: str, said: list[str]) -> None:
    for words, expected in zip(on_ranks(2, _of_length, what), said, strict=True):
        assert words.startswith(expected)


def _too_few(rank: int, num_ranks: int) -> str:
    with pytest.raises(TooFewSamples) as raised:
        PartialExchange(Numbered(2))
    return str(raised.value)


def test_there_must_be_a_sample_for_each_rank() -> None:
    assert on_ranks(3, _too_few) == ["2 samples for 3 ranks leave some without any; take at most 2 ranks"] * 3


@pytest.mark.parametrize("fraction", [-0.1, 1.1, float("nan"), True, "much", None])
def test_a_fraction_is_from_0_to_1(fraction: Any) -> None:
    with pytest.raises(BadFraction, match="from 0"):
        PartialExchange(Numbered(10), fraction)


class _Endless(IterableDataset):
    def __iter__(self) -> Any:
        yield 1


def test_samples_must_be_there_by_number() -> None:
    with pytest.raises(BadData, match="_Endless has no samples that can be asked for by number"):
        PartialExchange(_Endless())
    with pytest.raises(TypeMismatch, match="'name' is string"):
        PartialExchange(pa.table({"name": ["a", "b"]}))


def test_a_sample_that_cannot_be_packed_is_named() -> None:
    samples: list[Any] = [{"text": "a" * k} for k in range(40)]
    samples[33]["lock"] = threading.Lock()
    with pytest.raises(CannotPack, match=r"sample 33 is a dict that cannot be packed .*_thread.lock.*; return tensors"):
        next(iter(PartialExchange(samples)))


def _on_a_small_disk(rank: int, num_ranks: int, folder: Path, kind: str) -> str:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))  # of any file: what the system then says is the same
    with pytest.raises(DiskFull) as raised:
        next(iter(PartialExchange(Numbered(20_000, kind), store=folder)))
    return str(raised.value)


@pytest.mark.parametrize("kind", ["tensors", "objects"])
def test_a_disk_that_is_too_small_says_so_before_training(tmp_path: Path, kind: str) -> None:
    for words in on_ranks(2, _on_a_small_disk, tmp_path, kind):
        assert "more are needed for samples" in words
        assert str(tmp_path) in words


def test_nothing_is_left_on_the_disk(tmp_path: Path) -> None:
    exchange = PartialExchange(Numbered(10), store=tmp_path / "new")
    assert sorted(map(number_of, exchange)) == list(range(10))
    assert list((tmp_path / "new").iterdir()) == []


def _workers_whose_peers_are_gone(rank: int, num_ranks: int) -> str:
    exchange = PartialExchange(Numbered(40), fraction=1.0)
    loader = DataLoader(exchange, batch_size=2, num_workers=1)
    assert len(list(loader)) == 10
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    with pytest.raises(ShuffleError) as raised:  # in the second epoch, if all was sent for the first before it died
        [list(loader) for _ in range(2)]
    return str(raised.value)


def test_worker_processes_say_why_there_is_no_next_epoch() -> None:
    words, _ = on_ranks(2, _workers_whose_peers_are_gone, may_die=True)
    assert "PeerLost: rank 1 was lost" in words


@pytest.mark.parametrize(("epoch", "kind"), [(-1, ValueError), (1.5, TypeError), (True, TypeError), ("1", TypeError)])
def test_an_epoch_is_a_number(epoch: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=f"epoch must be a whole number from 0 on, not {epoch!r}"):
        PartialExchange(Numbered(10)).set_epoch(epoch)


def test_slots_that_are_not_there_are_no_samples() -> None:
    exchange = PartialExchange(Numbered(10))
    with pytest.raises(IndexError, match="slot 10 of a shard with 10 samples"):
        exchange.samples[10]
