"""A START message: one attempt of one task, as one of its ranks is told of it. The values it takes follow as frames."""

from __future__ import annotations

from typing import NamedTuple

from argosy.pilot.shelf import Box


class StartMessage(NamedTuple):
    """A tuple, because one is made, packed and unpacked for every rank of every task."""

    task: int
    attempt: int
    name: str
    position: int
    """The place of this rank among the ranks of the task."""
    ranks: tuple[int, ...]
    hosts: tuple[str, ...]
    gpus: tuple[tuple[str, ...], ...]
    """What CUDA calls the GPUs of each rank of the task; empty when it asked for none."""
    cores: tuple[tuple[int, ...], ...]
    """The cores each rank of the task is held to; empty when it did not ask for a number of them."""
    nbytes: int
    """How much memory it may add to this process; 0: nothing was said."""
    epoch: int
    """The world that the ranks of a new team have in common."""
    team: int
    """The number of this set of ranks, which share a communicator; 0 where none is wanted."""
    oldest_team: int
    wants_comm: bool
    keep: bool
    kept_inputs: tuple[int, ...]
    """Tasks whose kept values are taken, from this rank."""
    boxed_inputs: tuple[tuple[int, Box], ...]
    """Tasks whose values lie on the shelf."""
    inputs: tuple[int, ...]
    """Tasks whose values follow as frames, in this order."""
    function: bytes | Box
    arguments: bytes | Box
