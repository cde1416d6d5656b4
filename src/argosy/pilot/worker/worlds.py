"""The worlds this rank belongs to, by epoch, and the thread that makes new ones while tasks go on."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from argosy.comm import mpi
from argosy.comm.world import World


class Worlds:
    """Only the newest world made by a shrink, and those grown from it, can be used: shrinking revokes the one before."""

    def __init__(self) -> None:
        self._worlds: dict[int, World] = {}
        self._failed: set[int] = set()
        self._changed = threading.Condition()
        self._held: list[mpi.AnyCommunicator] = []
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    @property
    def newest(self) -> int:
        with self._changed:
            return max(self._worlds, default=-1)

    def add(self, world: World) -> None:
        with self._changed:
            self._worlds[world.epoch] = world
            self._changed.notify_all()

    def get(self, epoch: int) -> World | None:
        """The world of this epoch, waiting while it is being made; None when it will never be there."""
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    epoch in self._worlds or epoch in self._failed or epoch < max(self._worlds, default=-1)
                )
            )
            return self._worlds.get(epoch)

    def make(self, epoch: int, base: int, build: Callable[[World], World], report: Callable[[str], None]) -> None:
        """Build the world of this epoch from that of `base`, in the background, and report `""` or what went wrong."""

        def job() -> None:
            problem = self._build(epoch, base, build)
            report(problem)

        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="argosy-worlds", daemon=True)
            self._thread.start()
        self._jobs.put(job)

    def hold(self, comm: mpi.AnyCommunicator) -> None:
        """A communicator that a world in the making waits on."""
        with self._changed:
            self._held.append(comm)

    def give_up(self) -> None:
        """Free whoever waits in the making of a world: one of its members has died. From any thread."""
        with self._changed:
            held, self._held = self._held, []
        for comm in held:
            mpi.revoke(comm)

    def _build(self, epoch: int, base: int, build: Callable[[World], World]) -> str:
        problem = ""
        world = None
        try:
            world = build(self._worlds[base])
        except (mpi.MPIError, KeyError) as error:
            problem = f"{type(error).__name__}: {error}"
        with self._changed:
            self._held.clear()
            if world is None:
                self._failed.add(epoch)
            else:
                self._worlds[epoch] = world
            self._changed.notify_all()
        return problem

    def _work(self) -> None:
        while True:
            self._jobs.get()()
