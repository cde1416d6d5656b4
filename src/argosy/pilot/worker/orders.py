"""The side thread of a rank: it hears orders while the main thread is busy, and notices when the controller is gone."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zmq

from argosy.comm.world import spawn
from argosy.pilot import wire
from argosy.pilot.processes import end_process
from argosy.pilot.wire import Kind
from argosy.pilot.worker.attempt import CurrentAttempt
from argosy.pilot.worker.worlds import Worlds

_REPORTS = "inproc://reports"


class Orders:
    def __init__(
        self,
        lane: zmq.Socket[Any],
        attempt: CurrentAttempt,
        worlds: Worlds,
        rank: int,
        folder: Path,
        launch: int,
        newcomer: bool,
    ) -> None:
        self._lane = lane
        self._attempt = attempt
        self._worlds = worlds
        self._rank = rank
        self._folder = folder
        self._launch = launch
        self._newcomer = newcomer
        self.invitations: queue.SimpleQueue[int] = queue.SimpleQueue()
        """For a newcomer: the epoch of the world it is to join."""

    def start(self, hello: tuple[Any, ...], task_lane: zmq.Socket[Any]) -> None:
        """`task_lane`: that of the main thread. It is watched too: over a new connection words would be missing."""
        self._gone = [lane.get_monitor_socket(zmq.EVENT_DISCONNECTED) for lane in (self._lane, task_lane)]
        self._done = self._lane.context.socket(zmq.PULL)
        self._done.bind(_REPORTS)
        threading.excepthook = _end_process
        threading.Thread(target=self._listen, args=(hello,), name="argosy-orders", daemon=True).start()

    def _listen(self, hello: tuple[Any, ...]) -> None:
        self._lane.send(wire.encode(Kind.HELLO, "orders", *hello))
        poller = zmq.Poller()
        for socket in (self._lane, *self._gone, self._done):
            poller.register(socket, zmq.POLLIN)
        while True:
            for socket, _ in poller.poll():
                if socket in self._gone:
                    os._exit(1)  # the controller is no more: so are we, whatever the main thread is doing
                elif socket is self._done:
                    self._lane.send(self._done.recv())
                else:
                    self._obey(*wire.decode(self._lane.recv()))

    def _obey(self, kind: Kind, fields: tuple[Any, ...]) -> None:
        match kind:
            case Kind.STOP:
                self._attempt.stop((fields[0], fields[1]))
            case Kind.SHRINK:
                epoch, base = fields
                self._worlds.shrink(epoch, base, self._reporter(epoch))
            case Kind.SPAWN:
                number, ranks, hosts = fields
                words = [str(self._folder), str(self._launch), ",".join(str(rank) for rank in ranks), str(number)]
                command = [sys.executable, "-m", "argosy.pilot.worker", *words]
                host = None if hosts is None else ",".join(hosts)
                self._worlds.spawn(number, lambda: spawn(command, len(ranks), host), self._reporter(number))
            case Kind.GROW:
                epoch, base, number, leader = fields
                if self._newcomer:
                    self._newcomer = False
                    self.invitations.put(epoch)
                else:
                    self._worlds.grow(epoch, base, number, leader, self._reporter(epoch))
            case Kind.DIE:
                end_process(*fields)

    def _reporter(self, number: int) -> Callable[[str], None]:
        """A function for another thread, which says how the making of a world went."""

        def report(problem: str) -> None:
            socket = self._lane.context.socket(zmq.PUSH)
            socket.connect(_REPORTS)
            socket.send(wire.encode(Kind.READY, self._rank, number, problem))
            socket.close()

        return report


def _end_process(failure: threading.ExceptHookArgs) -> None:
    """A rank that has lost one of its own threads is no good. The threads of tasks are none of our affair."""
    threading.__excepthook__(failure)
    if failure.thread is not None and failure.thread.name.startswith("argosy-"):
        os._exit(1)
