"""Which rank reads which piece."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.frame.io.assign import assign
from argosy.frame.io.source import Piece


def a_piece(place: int, nbytes: int) -> Piece:
    return Piece(path="f", start=place, stop=place + 1, num_rows=None, nbytes=nbytes)


pieces = st.lists(st.one_of(st.integers(0, 20), st.integers(0, 10**12)), max_size=60).map(
    lambda sizes: [a_piece(place, nbytes) for place, nbytes in enumerate(sizes)]
)


@settings(max_examples=100, deadline=None)
@given(pieces, st.integers(1, 40))
def test_every_piece_goes_to_one_rank_in_order(pieces: list[Piece], num_ranks: int) -> None:
    shares = assign(pieces, num_ranks)
    assert len(shares) == num_ranks
    assert [piece for share in shares for piece in share] == pieces


@settings(max_examples=100, deadline=None)
@given(pieces, st.integers(1, 40))
def test_no_share_is_larger_than_an_equal_one_and_the_largest_piece(pieces: list[Piece], num_ranks: int) -> None:
    largest = max((piece.nbytes for piece in pieces), default=0)
    total = sum(piece.nbytes for piece in pieces)
    for share in assign(pieces, num_ranks):
        assert sum(piece.nbytes for piece in share) * num_ranks <= total + largest * num_ranks


def test_no_pieces_give_every_rank_an_empty_share() -> None:
    assert assign([], 3) == ((), (), ())


def test_fewer_pieces_than_ranks_go_to_different_ranks() -> None:
    assert [len(share) for share in assign([a_piece(place, 10) for place in range(3)], 6)] == [0, 1, 0, 1, 0, 1]


def test_equal_pieces_make_equal_shares() -> None:
    assert [len(share) for share in assign([a_piece(place, 7) for place in range(12)], 4)] == [3, 3, 3, 3]


def test_pieces_without_bytes_are_spread_by_number() -> None:
    assert [len(share) for share in assign([a_piece(place, 0) for place in range(4)], 2)] == [2, 2]


def test_a_projected_size_can_be_what_counts() -> None:
    wide = Piece(path="f", start=0, stop=1, num_rows=1, nbytes=90, column_names=("a", "b"), column_nbytes=(10, 80))
    narrow = Piece(path="f", start=1, stop=2, num_rows=1, nbytes=10, column_names=("a",), column_nbytes=(10,))
    assert [piece.nbytes_of(["a"]) for piece in (wide, narrow)] == [10, 10]
    assert assign([wide, narrow], 2, lambda piece: piece.nbytes_of(["a"])) == ((wide,), (narrow,))


def test_no_ranks_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="not over 0"):
        assign([], 0)
