"""All ranks that live, as one MPI communicator, and the private communicators cut out of it.

A `World` is a value: when a rank dies, the survivors make a new one (`shrink`); one of them starts processes for the
lost ranks (`spawn`), and with these all make another (`grow`). Each has an epoch, the same on all of its members.
Communicators that tasks already hold are not touched by either. All of this works from any thread (MPI is initialised
with THREAD_MULTIPLE).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mpi4py import MPI

Hold = Callable[[MPI.Comm], None]
_JOIN_TAG = 7


@dataclass(frozen=True, slots=True)
class World:
    epoch: int
    comm: MPI.Intracomm
    members: tuple[int, ...]
    """The pilot's number of each rank, in the order of the communicator."""

    def team(self, ranks: Sequence[int], number: int, survive: bool) -> MPI.Intracomm:
        """A communicator for these ranks only, in this order; all of them must call it, with the same number.

        With `survive` it is made without the help of the world, in milliseconds instead of 12-45 microseconds: the
        death of a rank outside of it then does not matter, while a call on the world would fail on some ranks and
        hang on others.
        """
        place = {rank: index for index, rank in enumerate(self.members)}
        everybody = self.comm.Get_group()
        group = everybody.Incl([place[rank] for rank in ranks])
        try:
            if survive:
                made = MPI.Intracomm.Create_from_group(group, f"argosy-{number}")
            else:
                made = self.comm.Create_group(group, tag=number % 32768)
        finally:
            group.Free()
            everybody.Free()
        made.Set_errhandler(MPI.ERRORS_RETURN)
        return made

    def shrink(self, epoch: int) -> World:
        """The world without its dead. All survivors must call it. Needs ULFM."""
        survivors = MPI.Intracomm(self.comm.Shrink())
        return _world(epoch, survivors, self.members[self.comm.rank])

    def grow(self, epoch: int, bridge: MPI.Intracomm | None, leader: int, hold: Hold) -> World:
        """This world and the processes behind the leader's bridge, which call `join`. All members must call it.

        Only the rank `leader` has the bridge, from `spawn`. `hold` is given each communicator that somebody waits on:
        should a member die meanwhile, revoking them frees the rest. Takes milliseconds.
        """
        hold(self.comm)
        if bridge is not None:
            hold(bridge)
        both = self.comm.Create_intercomm(self.members.index(leader), bridge or self.comm, 1, tag=_JOIN_TAG)
        return _merge(epoch, both, False, self.members[self.comm.rank], hold)


def first_world() -> World:
    """The world that mpiexec started: the pilot's ranks are numbered as in COMM_WORLD."""
    comm = MPI.COMM_WORLD.Dup()
    return _world(0, comm, comm.rank)


def spawn(command: Sequence[str], count: int, hosts: str | None) -> MPI.Intracomm:
    """Start so many processes, which run `command` and call `meet`. The bridge to them; this rank is its first.

    One rank does this alone: it takes a tenth of a second, and the death of another rank meanwhile must not matter.
    """
    info = MPI.Info.Create()
    if hosts is not None:
        info.Set("host", hosts)
    children = MPI.COMM_SELF.Spawn(command[0], list(command[1:]), maxprocs=count, info=info)
    bridge = children.Merge(high=False)
    bridge.Set_errhandler(MPI.ERRORS_RETURN)
    return bridge


def meet() -> MPI.Intracomm:
    """For a process started by `spawn`: its end of the bridge."""
    bridge = MPI.Comm.Get_parent().Merge(high=True)
    bridge.Set_errhandler(MPI.ERRORS_RETURN)
    return bridge


def join(epoch: int, bridge: MPI.Intracomm, rank: int, hold: Hold) -> World:
    """For a process started by `spawn`: enter the world of the others, who call `grow`, as this rank."""
    hold(bridge)
    both = MPI.COMM_WORLD.Create_intercomm(0, bridge, 0, tag=_JOIN_TAG)
    return _merge(epoch, both, True, rank, hold)


def _merge(epoch: int, both: MPI.Intercomm, high: bool, rank: int, hold: Hold) -> World:
    both.Set_errhandler(MPI.ERRORS_RETURN)
    hold(both)
    merged = both.Merge(high=high)
    hold(merged)
    return _world(epoch, merged, rank)


def _world(epoch: int, comm: MPI.Intracomm, rank: int) -> World:
    comm.Set_errhandler(MPI.ERRORS_RETURN)
    return World(epoch, comm, tuple(comm.allgather(rank)))
