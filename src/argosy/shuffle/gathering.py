"""Small values of all ranks, over a gloo group: a rank that fails cuts its connections, and so nobody waits for it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import torch

from argosy.comm.ranks import Bytes, Exchange, Offsets, Ranks
from argosy.shuffle.seal import Seal

_AT_ONCE = 1024
"""Bytes that go with their length; longer values take a second message."""


class Gathering:
    """Ranks whose values travel over gloo, sealed. All must call it in the same order, as they must any collective."""

    def __init__(self, group: Any, rank: int, size: int, seal: Seal, *, below: Ranks | None = None) -> None:
        """`below`: what moves rows, where the group belongs to ranks that have such."""
        self.rank = rank
        self.size = size
        self._group = group
        self._seal = seal
        self._below = below
        self._count = 0

    def allgather(self, value: Any) -> list[Any]:
        self._count += 1
        sealed = self._seal.sealed(pickle.dumps(value, protocol=5), self._count, self.rank)
        everybody = tell_over(self._group, self.size)(sealed)
        return [pickle.loads(self._seal.opened(said, self._count, rank)) for rank, said in enumerate(everybody)]

    def alltoall_rows(self, send: Any) -> Any:
        assert self._below is not None, "only ranks of a communicator move rows"
        return self._below.alltoall_rows(send)

    def start_exchange(self, send: Bytes, send_at: Offsets, receive: Bytes, receive_at: Offsets) -> Exchange:
        assert self._below is not None, "only ranks of a communicator move rows"
        return self._below.start_exchange(send, send_at, receive, receive_at)


def tell_over(group: Any, size: int) -> Callable[[bytes], list[bytes]]:
    """Plain bytes of all ranks. Nobody has said yet that they come from a rank."""

    def tell(data: bytes) -> list[bytes]:
        first = torch.zeros(8 + _AT_ONCE, dtype=torch.uint8)
        first[:8] = torch.frombuffer(bytearray(len(data).to_bytes(8, "little")), dtype=torch.uint8)
        _fill(first[8:], data[:_AT_ONCE])
        heads = [bytes(each.numpy()) for each in _gathered(group, first, size)]
        lengths = [int.from_bytes(head[:8], "little") for head in heads]
        if max(lengths) <= _AT_ONCE:
            return [head[8 : 8 + length] for head, length in zip(heads, lengths, strict=True)]
        whole = torch.zeros(max(lengths), dtype=torch.uint8)
        _fill(whole, data)
        rows = _gathered(group, whole, size)
        return [bytes(row[:length].numpy()) for row, length in zip(rows, lengths, strict=True)]

    return tell


def _fill(row: torch.Tensor, data: bytes) -> None:
    if data:
        row[: len(data)] = torch.frombuffer(bytearray(data), dtype=torch.uint8)


def _gathered(group: Any, row: torch.Tensor, size: int) -> list[torch.Tensor]:
    rows = [torch.empty_like(row) for _ in range(size)]
    group.allgather([rows], [row]).wait()
    return rows
