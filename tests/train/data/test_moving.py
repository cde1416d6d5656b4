"""Rows that move between ranks: each is read where it is held, and memory is used again."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.comm.ranks import Alone
from argosy.shuffle.holdings import Holdings, Moves
from argosy.shuffle.legs import runs_of
from argosy.shuffle.lines import holdings_of
from argosy.shuffle.store import Store
from argosy.train.data import Samples, samples_of
from argosy.train.data.moving import MovingSamples

torch.set_num_threads(1)
NAMES = ["ash", "beech", "cedar"]


def _table(numbers: range, chunks: int = 1) -> pa.Table:
    """Rows that tell their number, in columns of all kinds."""
    at = np.arange(numbers.start, numbers.stop)
    columns = {
        "single": pa.array(at.astype(np.float32)),
        "double": pa.array(at + 0.5),
        "byte": pa.array((at % 100).astype(np.int8)),
        "flag": pa.array(at % 3 == 0),
        "pair": pa.FixedSizeListArray.from_arrays(pa.array(np.repeat(at, 2).astype(np.int16)), 2),
        "label": pa.array([NAMES[number % 3] for number in at], pa.string()),
    }
    table = pa.table(columns)
    size = max(1, -(-len(table) // chunks))
    return pa.concat_tables([table.slice(begin, size) for begin in range(0, max(1, len(table)), size)])


def _samples(table: pa.Table) -> Any:
    whole = samples_of(_table(range(3)), ranks=Alone())  # for the classes, which are those of all ranks
    return samples_of(table, like=whole, ranks=Alone())


def _moving(holdings: Holdings, ranks: int, chunks: int) -> list[MovingSamples]:
    starts = holdings.starts[:: len(holdings.sizes) // ranks].tolist()
    return [
        MovingSamples(_samples(_table(range(begin, end), chunks)), most_arrivals=end - begin)
        for begin, end in pairwise(starts)
    ]


def _exchange(stores: list[MovingSamples], holdings: Holdings, before: int, after: int, rows: int) -> None:
    """Every rank's rows to every other's, a few at a time, and then all turn."""
    each = len(holdings.sizes) // len(stores)
    moves = [holdings.moves(rank, before, after, each=each) for rank in range(len(stores))]
    for receiver, into in enumerate(moves):
        for begin, end, sender in runs_of(into.received_from):
            slots = moves[sender].sent[moves[sender].sent_to == receiver]
            assert len(slots) == end - begin
            for at in range(0, len(slots), rows):
                some, theirs = slots[at : at + rows], into.received[begin:end][at : at + rows]
                _send(stores[sender], some, stores[receiver], theirs)
    for store, own in zip(stores, moves, strict=True):
        store.turn(own)


def _send(sender: Store, slots: Any, receiver: Store, theirs: Any) -> None:
    assert sender.sample_nbytes == receiver.sample_nbytes == 4 + 8 + 1 + 1 + 4 + 4
    sizes = sender.sizes(slots)
    packed = np.empty(int(sizes.sum()) + 3, np.uint8)[3:]  # messages need not begin at an even address
    sender.read(slots, sizes, packed)
    receiver.arrive(theirs, sizes, packed.copy())


def _check(samples: Samples, numbers: Any) -> None:
    slots = np.random.default_rng(len(numbers)).permutation(len(numbers))
    whole = _samples(_table(range(int(numbers.max()) + 1)))
    for mine, right in zip(samples.batch(slots), whole.batch(numbers[slots]), strict=True):
        assert torch.equal(mine, right)


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.lists(st.integers(4, 60), min_size=1, max_size=4).map(tuple),
    each=st.integers(1, 2),
    fraction=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    chunks=st.integers(1, 3),
    rows=st.integers(1, 20),
    jump=st.integers(0, 30),
)
def test_a_rank_reads_the_rows_that_it_holds_in_every_epoch(
    sizes: tuple[int, ...], each: int, fraction: float, chunks: int, rows: int, jump: int
) -> None:
    workers = each * len(sizes)
    holdings = holdings_of(sizes, fraction=fraction, deal=False, workers=workers, seed=3)
    stores = _moving(holdings, len(sizes), chunks)
    starts = holdings.starts[::each].tolist()
    before = 0
    for after in (jump, jump + 1, jump + 2, jump + 3, jump):
        _exchange(stores, holdings, before, after, rows)
        for rank, store in enumerate(stores):
            assert len(store) == sizes[rank]
            _check(store, holdings.held(range(starts[rank], starts[rank + 1]), after))
        before = after


def test_the_present_epoch_stays_readable_while_rows_arrive() -> None:
    holdings = holdings_of((40, 40), fraction=0.5, deal=False, workers=2, seed=0)
    stores = _moving(holdings, 2, 2)
    for epoch in range(4):
        moves = [holdings.moves(rank, epoch, epoch + 1) for rank in range(2)]
        for rank in range(2):
            _send(stores[rank], moves[rank].sent, stores[1 - rank], moves[1 - rank].received)
        for rank in range(2):
            _check(stores[rank], holdings.held(holdings.slots(rank), epoch))
            stores[rank].turn(moves[rank])
            _check(stores[rank], holdings.held(holdings.slots(rank), epoch + 1))


@pytest.mark.parametrize("fraction", [0.1, 0.3, 1.0])
def test_memory_for_arrivals_is_at_most_the_shard_and_what_arrives_in_one_epoch(fraction: float) -> None:
    holdings = holdings_of((200, 200, 200), fraction=fraction, deal=False, workers=3, seed=0)
    stores = _moving(holdings, 3, 1)
    for epoch in range(40):
        _exchange(stores, holdings, epoch, epoch + 1, 50)
    for store in stores:
        assert 100 < store.arrivals_nbytes / store.sample_nbytes <= 200 + 200 * fraction


def test_a_row_that_leaves_gives_its_memory_to_the_next() -> None:
    store = MovingSamples(_samples(_table(range(4))), most_arrivals=1)
    other = MovingSamples(_samples(_table(range(4, 200))), most_arrivals=1)
    none = np.empty(0, np.int64)
    for number in range(60):
        slot = np.array([number % 4])
        _send(other, np.array([number]), store, slot)
        moves = Moves(
            sent=slot, sent_to=slot * 0 + 1, received=slot, received_from=slot * 0 + 1, shifted=none, shifted_to=none
        )
        store.turn(moves)
    _check(store, np.array([60, 61, 62, 63]))
    assert store.arrivals_nbytes == 5 * store.sample_nbytes
