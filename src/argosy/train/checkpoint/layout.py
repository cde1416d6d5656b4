"""Where the bytes of each leaf lie in one long stream, and which stretch of it a rank writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

ALIGN = 64
"""Leaves and shares start at multiples of this."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """Bytes `start:stop` of one leaf; zeros between leaves where `leaf` is None."""

    leaf: int | None
    start: int
    stop: int


def aligned(nbytes: int) -> int:
    return -(-nbytes // ALIGN) * ALIGN


def total(sizes: Sequence[int]) -> int:
    """Length of the stream that holds leaves of these sizes."""
    return sum(aligned(size) for size in sizes)


def share(nbytes: int, rank: int, num_ranks: int) -> tuple[int, int]:
    """The stretch of a stream of `nbytes` that this rank writes. Shares differ by less than two alignments, and a leaf
    may be cut between ranks."""
    blocks = nbytes // ALIGN
    return blocks * rank // num_ranks * ALIGN, blocks * (rank + 1) // num_ranks * ALIGN


def pieces(sizes: Sequence[int], low: int, high: int) -> Iterator[Piece]:
    """What lies in `low:high` of the stream, in order and without gaps."""
    at = 0
    for leaf, size in enumerate(sizes):
        end = at + aligned(size)
        if at >= high:
            return
        if end > low:
            start, stop = max(low - at, 0), min(high - at, end - at)
            if start < min(stop, size):
                yield Piece(leaf=leaf, start=start, stop=min(stop, size))
            if max(start, size) < stop:
                yield Piece(leaf=None, start=max(start, size), stop=stop)
        at = end
