"""Shares and pieces cover the stream, once and in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from argosy.train.checkpoint.layout import ALIGN, aligned, pieces, share, total

sizes = st.lists(st.integers(0, 300), max_size=8)


@given(sizes, st.integers(1, 9))
def test_the_shares_of_all_ranks_are_every_byte_once_and_nearly_equal(sizes: list[int], num_ranks: int) -> None:
    shares = [share(total(sizes), rank, num_ranks) for rank in range(num_ranks)]
    assert [low for low, _high in shares] == [0, *(high for _low, high in shares[:-1])]
    assert shares[-1][1] == total(sizes)
    lengths = [high - low for low, high in shares]
    assert max(lengths) - min(lengths) <= ALIGN


@given(sizes, st.integers(1, 9))
def test_the_pieces_of_all_shares_are_each_leaf_once_with_zeros_between(sizes: list[int], num_ranks: int) -> None:
    seen = [bytearray(size) for size in sizes]
    for rank in range(num_ranks):
        low, high = share(total(sizes), rank, num_ranks)
        for piece in pieces(sizes, low, high):
            low += piece.stop - piece.start
            if piece.leaf is not None:
                for at in range(piece.start, piece.stop):
                    seen[piece.leaf][at] += 1
        assert low == high
    assert all(byte == 1 for leaf in seen for byte in leaf)


@given(st.integers(0, 10_000))
def test_aligned_is_the_next_multiple(nbytes: int) -> None:
    assert 0 <= aligned(nbytes) - nbytes < ALIGN
    assert aligned(nbytes) % ALIGN == 0
