"""Slots: whatever arrives and leaves, a sample is what it was, and pages are used again."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.shuffle.holdings import kept
from argosy.shuffle.store.arena import Arena
from argosy.shuffle.store.chains import Chains
from argosy.shuffle.store.slots import Slots


def _sample(number: int, nbytes: int | None) -> np.ndarray:
    size = nbytes if nbytes is not None else 1 + number * 37 % 500
    return np.random.default_rng(number).integers(0, 256, size, np.uint8)


def _filled(numbers: np.ndarray, nbytes: int | None, folder: Path | None = None) -> Slots | Chains:
    samples = [_sample(number, nbytes) for number in numbers.tolist()]
    which = np.arange(len(samples))
    if nbytes is not None:
        slots = Slots(len(samples), sample_nbytes=nbytes, folder=folder)
        slots.put(which, np.array(samples, np.uint8).reshape(len(samples), nbytes))
        return slots
    chains = Chains(len(samples), page_nbytes=64, folder=folder)
    sizes = np.array([len(sample) for sample in samples], np.int64)
    chains.put(which, sizes, np.concatenate([*samples, np.empty(0, np.uint8)]))
    chains.make_room(200 * 500, 200)
    return chains


def _there(store: Slots | Chains, slot: int) -> np.ndarray:
    return store.packed(slot) if isinstance(store, Chains) else store.rows(np.array([slot]))[0]


@settings(max_examples=40)
@given(
    sizes=st.lists(st.integers(0, 30), min_size=1, max_size=5).map(tuple).filter(any),
    fraction=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    nbytes=st.sampled_from([None, 1, 24]),
    hops=st.lists(st.integers(0, 9), min_size=1, max_size=5),
)
def test_samples_stay_whole_on_their_way(
    sizes: tuple[int, ...], fraction: float, nbytes: int | None, hops: list[int]
) -> None:
    holdings = kept(sizes, fraction=fraction, seed=3)
    stores = [_filled(holdings.held(holdings.slots(rank), 0), nbytes) for rank in range(len(sizes))]
    most = [0] * len(sizes)
    epoch = 0
    for to in hops:
        moves = [holdings.moves(rank, epoch, to) for rank in range(len(sizes))]
        for rank, move in enumerate(moves):
            for sender in np.unique(move.received_from).tolist():
                sent = moves[sender].sent[moves[sender].sent_to == rank]
                lengths = stores[sender].sizes(sent)
                packed = np.empty(int(lengths.sum()), np.uint8)
                stores[sender].read(sent, lengths, packed)
                stores[rank].arrive(move.received[move.received_from == sender], lengths, packed)
            most[rank] = max(most[rank], len(move.received))
        for rank, move in enumerate(moves):
            stores[rank].turn(move)
        epoch = to
        for rank, store in enumerate(stores):
            for slot, number in enumerate(holdings.held(holdings.slots(rank), epoch).tolist()):
                assert np.array_equal(_there(store, slot), _sample(number, nbytes))
    if nbytes is not None:  # a page for each of its own samples, and for as many as ever arrived at once
        assert all(store._pages._used <= size + more for store, size, more in zip(stores, sizes, most, strict=True))


def test_another_process_reads_the_same_pages() -> None:
    slots = _filled(np.arange(10), 24)
    other = pickle.loads(pickle.dumps(slots))
    assert np.array_equal(other.rows(np.arange(10)), slots.rows(np.arange(10)))
    slots._pages.rows[3] = 7
    assert np.array_equal(_there(other, 3), np.full(24, 7, np.uint8))


def test_an_arena_takes_memory_as_it_is_written_to() -> None:
    arena = Arena(1 << 30, 4096)
    assert arena.nbytes_used == 0
    arena.pages[1 << 29] = 1
    assert arena.nbytes_used == 4096


@pytest.mark.parametrize("nbytes", [None, 4096])
def test_a_folder_holds_the_same(tmp_path: Path, nbytes: int | None) -> None:
    slots = _filled(np.arange(20), nbytes, tmp_path)
    assert all(np.array_equal(_there(slots, slot), _sample(slot, nbytes)) for slot in range(20))
    assert slots.nbytes_used >= 20 * (nbytes or 64)
