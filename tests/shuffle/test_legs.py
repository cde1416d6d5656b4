"""Legs: both sides of a piece agree on it, all is sent once, and nobody waits for a leg that comes later elsewhere."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.shuffle.holdings import kept
from argosy.shuffle.legs import Leg, legs_of, runs_of

_UNDER_WAY = 2


def _legs(sizes: tuple[int, ...], seed: int, nbytes: list[int], spread: int) -> list[list[Leg]]:
    """Of all ranks, in an exchange of samples whose sizes follow from their numbers."""
    holdings = kept(sizes, fraction=0.7, seed=seed)
    moves = [holdings.moves(rank, 0, 1) for rank in range(len(sizes))]
    size_of = np.array(nbytes)[np.arange(holdings.num_samples) % len(nbytes)] * spread
    legs = []
    for rank, move in enumerate(moves):
        sent = holdings.held(holdings.slots(rank), 0)[move.sent]
        received = holdings.held(holdings.slots(rank), 1)[move.received]
        legs.append(
            legs_of(
                rank,
                len(sizes),
                sent_to=move.sent_to,
                sent_sizes=size_of[sent],
                received_from=move.received_from,
                received_sizes=size_of[received],
            )
        )
        assert sum(leg.out.nbytes for leg in legs[-1] if leg.out) == size_of[sent].sum()
        assert sum(leg.into.last - leg.into.first for leg in legs[-1] if leg.into) == len(received)
    return legs


_sizes = st.lists(st.integers(0, 60), min_size=1, max_size=9).map(tuple).filter(any)


@settings(max_examples=60)
@given(
    sizes=_sizes,
    seed=st.integers(0, 2**40),
    nbytes=st.lists(st.integers(0, 300), min_size=1, max_size=5),
    spread=st.sampled_from([1, 1000, 1_000_000]),
)
def test_what_is_sent_is_what_is_received_and_no_rank_waits_in_vain(
    sizes: tuple[int, ...], seed: int, nbytes: list[int], spread: int
) -> None:
    todo = [deque(legs) for legs in _legs(sizes, seed, nbytes, spread)]
    under_way: list[deque[Leg]] = [deque() for _ in sizes]
    sent: dict[tuple[int, int], deque[int]] = {}
    expected: dict[tuple[int, int], deque[int]] = {}
    moved = True
    while moved:
        moved = False
        for rank in range(len(sizes)):
            while todo[rank] and len(under_way[rank]) < _UNDER_WAY:
                leg = todo[rank].popleft()
                under_way[rank].append(leg)
                if leg.out:
                    sent.setdefault((rank, leg.out.peer), deque()).append(leg.out.nbytes)
                if leg.into:
                    expected.setdefault((leg.into.peer, rank), deque()).append(leg.into.nbytes)
                moved = True
        for pair in list(sent):
            while sent[pair] and expected.get(pair):
                assert sent[pair].popleft() == expected[pair].popleft()
        for rank in range(len(sizes)):  # the oldest leg ends when neither side of it is still waiting
            while under_way[rank]:
                leg = under_way[rank][0]
                later = list(under_way[rank])[1:]
                out_waits = leg.out and len(sent.get((rank, leg.out.peer), ())) > sum(
                    1 for other in later if other.out and other.out.peer == leg.out.peer
                )
                into_waits = leg.into and len(expected.get((leg.into.peer, rank), ())) > sum(
                    1 for other in later if other.into and other.into.peer == leg.into.peer
                )
                if out_waits or into_waits:
                    break
                under_way[rank].popleft()
                moved = True
    assert not any(todo)
    assert not any(under_way)
    assert not any(sent.values())
    assert not any(expected.values())


def test_large_exchanges_travel_in_pieces_and_a_sample_is_never_cut() -> None:
    legs = _legs((1000, 1000), 0, [4096], 1)[0]
    pieces = [leg.out for leg in legs if leg.out]
    assert len(pieces) > 10
    assert all(piece.nbytes % 4096 == 0 and piece.nbytes <= 1 << 16 for piece in pieces)
    huge = [leg.out for leg in _legs((10, 10), 0, [50_000_000], 1)[0] if leg.out]
    assert len(huge) > 1
    assert all(piece.last - piece.first == 1 for piece in huge)


@pytest.mark.parametrize(
    ("nbytes", "num_ranks", "largest"),
    [
        (64, 2, 64 << 10),  # little in all: pieces of 64 KiB
        (1 << 16, 2, 2 << 20),  # about 64 pieces on all ranks together
        (1 << 16, 4, 4 << 20),
        (1 << 20, 2, 8 << 20),  # much: no piece is larger than 8 MiB
    ],
)
def test_pieces_are_neither_too_small_nor_too_large(nbytes: int, num_ranks: int, largest: int) -> None:
    sizes, there = np.full(1024, nbytes), np.zeros(0, np.int64)
    legs = legs_of(
        0, num_ranks, sent_to=np.ones(1024, np.int64), sent_sizes=sizes, received_from=there, received_sizes=there
    )
    pieces = [leg.out for leg in legs if leg.out]
    assert {piece.nbytes for piece in pieces} == {largest}
    assert [(piece.peer, piece.first) for piece in pieces] == [
        (1, first) for first in range(0, 1024, largest // nbytes)
    ]
    assert pieces[-1].last == 1024


@given(st.lists(st.integers(0, 3)).map(sorted))
def test_runs_cover_all_numbers_in_order(numbers: list[int]) -> None:
    found = runs_of(np.array(numbers, np.int64))
    assert [value for begin, end, value in found for _ in range(begin, end)] == numbers
    assert len({value for *_, value in found}) == len(found)
