"""All ranks that live, as one MPI communicator, and the private communicators cut out of it.

A `World` is a value: when a rank dies, the survivors make a new one (`shrink`), and with new ranks another (`grow`).
Each has an epoch, the same on all of its members. Communicators that tasks already hold are not touched by either.
All of this works from any thread (MPI is initialised with THREAD_MULTIPLE).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mpi4py import MPI


@dataclass(frozen=True, slots=True)
class World:
    epoch: int
    comm: MPI.Intracomm
    members: tuple[int, ...]
    """The pilot's number of each rank, in the order of the communicator."""

    def communicator(self, ranks: Sequence[int], tag: int) -> MPI.Intracomm:
        """A communicator for these ranks only, in this order; all of them must call it, with the same tag.

        12-45 microseconds for two ranks. Raises `MPI.Exception` when the world has been revoked.
        """
        place = {rank: index for index, rank in enumerate(self.members)}
        everybody = self.comm.Get_group()
        group = everybody.Incl([place[rank] for rank in ranks])
        try:
            made = self.comm.Create_group(group, tag=tag)
        finally:
            group.Free()
            everybody.Free()
        made.Set_errhandler(MPI.ERRORS_RETURN)
        return made

    def shrink(self, epoch: int) -> World:
        """The world without its dead. All survivors must call it. Needs ULFM."""
        self.comm.Revoke()
        return _world(epoch, self.comm.Shrink(), self.members[self.comm.rank])

    def grow(
        self,
        epoch: int,
        command: Sequence[str],
        count: int,
        host: str | None,
        hold: Callable[[MPI.Comm], None],
    ) -> World:
        """This world and `count` new processes, which run `command` and call `join`. All members must call it.

        `hold` is given each communicator used on the way: should a member die meanwhile, revoking them frees the rest.
        """
        info = MPI.Info.Create()
        if host is not None:
            info.Set("host", host)
        spawning = self.comm.Dup()
        spawning.Set_errhandler(MPI.ERRORS_RETURN)
        hold(spawning)
        both = spawning.Spawn(command[0], list(command[1:]), maxprocs=count, info=info, root=0)
        both.Set_errhandler(MPI.ERRORS_RETURN)
        hold(both)
        return _world(epoch, both.Merge(high=False), self.members[self.comm.rank])


def first_world() -> World:
    """The world that mpiexec started: the pilot's ranks are numbered as in COMM_WORLD."""
    comm = MPI.COMM_WORLD.Dup()
    return _world(0, comm, comm.rank)


def join(epoch: int, rank: int) -> World:
    """For a process started by `grow`: enter the world as this rank."""
    parent = MPI.Comm.Get_parent()
    parent.Set_errhandler(MPI.ERRORS_RETURN)
    return _world(epoch, parent.Merge(high=True), rank)


def _world(epoch: int, comm: MPI.Intracomm, rank: int) -> World:
    comm.Set_errhandler(MPI.ERRORS_RETURN)
    return World(epoch, comm, tuple(comm.allgather(rank)))
