"""The communicators this rank shares with others, one for each team, and the copies that tasks get."""

from __future__ import annotations

from argosy.comm import mpi
from argosy.comm.world import World
from argosy.pilot.start import StartMessage
from argosy.pilot.worker.worlds import Worlds


class Teams:
    """Owned by the main thread. Making the communicator of a new team takes milliseconds, a copy of it some 50 µs."""

    def __init__(self, worlds: Worlds, survive: bool) -> None:
        self._worlds = worlds
        self._survive = survive
        self._comms: dict[int, mpi.Communicator] = {}

    def communicator(self, start: StartMessage) -> mpi.Communicator | None:
        """One for this attempt alone; None when it cannot be made because the world has changed.

        Every rank of the task must call this, whatever else it has heard: the others wait for it here. An error of
        MPI is not caught: a peer died meanwhile, and Open MPI can make no communicator any more in a process that was
        interrupted in making one (the next attempt hangs), so that this process must end and be replaced.
        """
        if len(start.ranks) == 1:
            return mpi.own_communicator()
        with self._worlds.creating_in(start.epoch) as world:
            if world is None:
                return None
            shared = self._comms.get(start.team) or self._make(start, world)
            return mpi.duplicate(shared, self._survive)

    def _make(self, start: StartMessage, world: World) -> mpi.Communicator:
        for team in [team for team in self._comms if team < start.oldest_team]:
            mpi.free(self._comms.pop(team))
        self._comms[start.team] = shared = world.team(start.ranks, start.team, self._survive)
        return shared
