"""Which rank reads which piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from argosy.frame.io.source import Piece


def assign(
    pieces: Sequence[Piece], num_ranks: int, nbytes_of: Callable[[Piece], int] = lambda piece: piece.nbytes
) -> tuple[tuple[Piece, ...], ...]:
    """The pieces of each rank: every piece once, in order over the ranks, balanced by bytes.

    A piece goes to the rank in whose equal share of all bytes its middle lies, so the largest share is at most
    `total / num_ranks` plus the largest piece. Pieces without any bytes are spread by their number.
    """
    if num_ranks < 1:
        raise ValueError(f"pieces can be shared out over 1 rank or more, not over {num_ranks}")
    weights = [nbytes_of(piece) for piece in pieces]
    if not any(weights):
        weights = [1] * len(weights)
    total = sum(weights)
    shares: list[list[Piece]] = [[] for _ in range(num_ranks)]
    before = 0
    for piece, weight in zip(pieces, weights, strict=True):
        twice_the_middle = 2 * before + weight
        rank = min(twice_the_middle * num_ranks // (2 * total), num_ranks - 1)
        shares[rank].append(piece)
        before += weight
    return tuple(tuple(share) for share in shares)
