"""What moves gradients between ranks, and how long that takes: a model, and its numbers measured on real ranks."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from argosy import arguments
from argosy.comm.ranks import ranks_of
from argosy.errors import TrainError

SIZES = (8, 4096, 65_536, 1 << 20, 1 << 22, 1 << 24)
"""Bytes of the all-reduces that are timed."""
REPEATS = 7


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """Between any two ranks or, with `inside`, between any two nodes of `ranks_per_node`."""

    latency_seconds: float
    """Of one message."""
    bytes_per_second: float
    """One way."""
    ranks_per_node: int = 1
    inside: Link | None = None
    """Between ranks of one node; without it, all ranks are equally far apart."""
    kind: str = "modelled"
    """`measured` or `modelled`."""

    def __post_init__(self) -> None:
        try:
            settled: dict[str, Any] = {
                "latency_seconds": arguments.number("latency_seconds", self.latency_seconds, least=0),
                "bytes_per_second": arguments.number("bytes_per_second", self.bytes_per_second, above=0, infinite=True),
                "ranks_per_node": arguments.whole("ranks_per_node", self.ranks_per_node, least=1),
            }
        except ValueError as error:
            raise TrainError(f"a link has a latency, a bandwidth and ranks on a node: {error}") from None
        arguments.settle(self, **settled)
        if self.inside is not None:
            arguments.instance("inside", self.inside, Link, "a train.Link")

    def all_reduce_seconds(self, nbytes: float, ranks: int) -> float:
        """Until every rank has the sum of all.

        Flat: the smaller of a ring, 2 (p - 1) (latency + nbytes / p / bandwidth), and a pipelined tree,
        2 ceil(log2 p) latency + 2 nbytes / bandwidth, which wins where a ring of many ranks is all latency. Two-level:
        inside each node, then between nodes.
        """
        nbytes, ranks = (
            arguments.number("nbytes", nbytes, least=0),
            arguments.whole("ranks", ranks, least=1, most=2**31 - 1),
        )
        if self.inside is None or self.ranks_per_node == 1:
            return self._flat(nbytes, ranks)
        nodes = -(-ranks // self.ranks_per_node)
        own = self.inside.all_reduce_seconds(nbytes, min(ranks, self.ranks_per_node))
        return own + self._flat(nbytes, nodes)

    def _flat(self, nbytes: float, ranks: int) -> float:
        if ranks <= 1:
            return 0.0
        ring = 2 * (ranks - 1) * (self.latency_seconds + nbytes / ranks / self.bytes_per_second)
        tree = 2 * math.ceil(math.log2(ranks)) * self.latency_seconds + 2 * nbytes / self.bytes_per_second
        return min(ring, tree)

    def __str__(self) -> str:
        within = f"; inside a node of {self.ranks_per_node}: {self.inside}" if self.inside is not None else ""
        return f"{self.latency_seconds * 1e6:.3g} us, {self.bytes_per_second / 1e9:.3g} GB/s ({self.kind}){within}"


def fit_ring(sizes: Sequence[float], seconds: Sequence[float], ranks: int) -> Link:
    """Latency and bandwidth of the ring formula, by least squares of relative errors.

    Where times tell of no latency it is zero; where they do not grow with the bytes, each of the two is what it would
    be if it were alone, so that the link looks rather too slow than too fast.
    """
    steps = 2 * (ranks - 1)
    terms = np.array([[steps, steps * nbytes / ranks] for nbytes in sizes], np.float64)
    terms /= np.asarray(seconds, np.float64)[:, None]
    latency, per_byte = np.linalg.lstsq(terms, np.ones(len(terms)), rcond=None)[0]
    if latency < 0:
        latency, per_byte = 0.0, _alone(terms[:, 1])
    elif per_byte <= 0:
        latency, per_byte = _alone(terms[:, 0]), 1 / terms[int(np.argmax(sizes)), 1]
    return Link(latency_seconds=float(latency), bytes_per_second=float(1 / per_byte), kind="measured")


def measure_group(group: Any, device: str = "cpu", *, sizes: Sequence[int] = SIZES, repeats: int = REPEATS) -> Link:
    """The link under a torch process group, by all-reduces of several sizes. A collective; all ranks get the same.

    Ranks are taken as equally far apart. A size's time is the slowest rank's, in the best of all repeats: what
    else the machine does is not the link's.
    """
    import torch
    import torch.distributed as dist

    ranks = dist.get_world_size(group)
    if ranks < 2:
        raise _one_rank()
    wait: Callable[[], object] = torch.cuda.synchronize if torch.device(device).type == "cuda" else lambda: None
    taken = torch.zeros(len(sizes), repeats, dtype=torch.float64)
    for row, nbytes in enumerate(sizes):
        buffer = torch.zeros(max(nbytes // 4, 1), dtype=torch.float32, device=device)
        for turn in range(-2, repeats):  # the first ones set up connections
            dist.barrier(group)
            wait()
            begin = time.perf_counter()
            dist.all_reduce(buffer, group=group)
            wait()
            if turn >= 0:
                taken[row, turn] = time.perf_counter() - begin
    taken = taken.to(device)
    dist.all_reduce(taken, op=dist.ReduceOp.MAX, group=group)
    return fit_ring(sizes, taken.min(dim=1).values.tolist(), ranks)


def measure(where: Any, *, device: str = "cpu", sizes: Sequence[int] = SIZES, repeats: int = REPEATS) -> Link:
    """The link of a pilot's ranks, or of a communicator inside a task, as training sees it: over torch's own group.

    On several nodes two levels are measured: the ranks of a node, and one rank of each node with those of others.
    """
    how = _How(device, tuple(sizes), repeats)
    if callable(getattr(where, "submit", None)):
        num_ranks = where.allocation.num_ranks
        link: Link = where.submit(_on_ranks, how, ranks=num_ranks, name="measure the link").result()
        return link
    return _on_ranks(how, where)


@dataclass(frozen=True, slots=True)
class _How:
    device: str
    sizes: tuple[int, ...]
    repeats: int


def _on_ranks(how: _How, comm: Any) -> Link:
    names = comm.allgather(socket.gethostname())
    return _on_nodes(how, comm, [names.index(name) for name in names])


def _on_nodes(how: _How, comm: Any, nodes: Sequence[int]) -> Link:
    """Rank r is on node `nodes[r]`."""
    rank = comm.Get_rank()
    if len(nodes) < 2:
        raise _one_rank()
    if len(set(nodes)) in (1, len(nodes)):
        return _measured(how, comm)
    leads = nodes.index(nodes[rank]) == rank
    inner = _of_part(how, comm, nodes[rank])
    outer = _of_part(how, comm, 0 if leads else 1 + rank)
    inners, outers = ([link for link in comm.allgather(each) if link is not None] for each in (inner, outer))
    per_node = max(nodes.count(node) for node in nodes)
    slowest = min(inners, key=lambda link: link.bytes_per_second)
    return replace(outers[0], ranks_per_node=per_node, inside=slowest)


def _of_part(how: _How, comm: Any, color: int) -> Link | None:
    """Of the ranks with one colour; None where a rank is alone."""
    part = comm.Split(color)
    try:
        return _measured(how, part) if part.Get_size() > 1 else None
    finally:
        part.Free()


def _measured(how: _How, comm: Any) -> Link:
    import torch

    from argosy.train.group import joined

    with joined(ranks_of(comm), torch.device(how.device)) as group:
        return measure_group(group.process_group, how.device, sizes=how.sizes, repeats=how.repeats)


def _one_rank() -> TrainError:
    return TrainError("a link is measured between ranks, but there is one only; start 2 or more")


def _alone(terms: Any) -> float:
    """The factor by which one term comes nearest to 1."""
    return float(terms.sum() / (terms**2).sum())
