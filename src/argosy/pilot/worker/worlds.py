"""The worlds this rank belongs to, by epoch, and the threads that make new ones while tasks go on."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from argosy.comm import mpi
from argosy.comm.world import World

Report = Callable[[str], None]
"""Told `""` when all went well, else what went wrong."""

_CREATE_SECONDS = 1.0
"""Making a communicator takes less than this when all of its ranks live."""


class Worlds:
    """Communicators are made in the world the controller names; after a death that is one which is still to be made."""

    def __init__(self) -> None:
        self._worlds: dict[int, World] = {}
        self._failed: set[int] = set()
        self._changed = threading.Condition()
        self._held: list[mpi.AnyCommunicator] = []
        self._creating = threading.Lock()
        self._bridges: dict[int, mpi.Communicator] = {}
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
                lambda: epoch in self._worlds or epoch in self._failed or epoch < max(self._worlds, default=-1)
            )
            return self._worlds.get(epoch)

    @contextmanager
    def creating_in(self, epoch: int) -> Iterator[World | None]:
        """For the main thread, while it makes a communicator: no world is made in this process meanwhile.

        Two that are made at the same time by two threads can wait for each other across processes for ever.
        """
        world = self.get(epoch)
        self._creating.acquire()
        try:
            yield world
        finally:
            self._creating.release()

    def bridge(self, spawning: int) -> mpi.Communicator | None:
        """To the processes that this rank has started, or that started this rank."""
        return self._bridges.get(spawning)

    def shrink(self, epoch: int, base: int, report: Report) -> None:
        """Make the world of this epoch of those who live of `base`; whoever waits for the dead is freed first."""
        with self._changed:
            held, self._held = self._held, []
        for comm in held:
            mpi.revoke(comm)
        self._later(lambda: self._build(epoch, lambda: self._worlds[base].shrink(epoch), report))

    def grow(self, epoch: int, base: int, spawning: int, leader: int, report: Report) -> None:
        """Make the world of this epoch of `base` and the processes that the leader has started."""
        bridge = self.bridge(spawning)
        self._later(
            lambda: self._build(epoch, lambda: self._worlds[base].grow(epoch, bridge, leader, self.hold), report)
        )

    def spawn(self, spawning: int, start: Callable[[], mpi.Communicator], report: Report) -> None:
        """Start processes, in a thread of its own: nothing else waits for them."""

        def work() -> None:
            try:
                self.keep_bridge(spawning, start())
            except mpi.MPIError as error:
                report(str(error))
            else:
                report("")

        threading.Thread(target=work, name="argosy-spawn", daemon=True).start()

    def keep_bridge(self, spawning: int, bridge: mpi.Communicator) -> None:
        self._bridges[spawning] = bridge

    def hold(self, comm: mpi.AnyCommunicator) -> None:
        """A communicator that a world in the making waits on."""
        with self._changed:
            self._held.append(comm)

    def _build(self, epoch: int, make: Callable[[], World], report: Report) -> None:
        # Waiting in vain means that the main thread waits for the dead: its task, and this rank with it, is lost.
        alone = self._creating.acquire(timeout=_CREATE_SECONDS)
        try:
            world = make()
        except (mpi.MPIError, KeyError) as error:
            with self._changed:
                self._failed.add(epoch)
                self._changed.notify_all()
            report(f"{type(error).__name__}: {error}")
            return
        finally:
            if alone:
                self._creating.release()
        with self._changed:
            self._held.clear()
        self.add(world)
        report("")

    def _later(self, job: Callable[[], None]) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="argosy-worlds", daemon=True)
            self._thread.start()
        self._jobs.put(job)

    def _work(self) -> None:
        while True:
            self._jobs.get()()
