"""The side thread of a rank: it hears orders while the main thread is busy, and notices when the controller is gone."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zmq
from zmq.utils.monitor import recv_monitor_message

from argosy.comm.world import World
from argosy.pilot import wire
from argosy.pilot.wire import Kind
from argosy.pilot.worker.attempt import CurrentAttempt
from argosy.pilot.worker.worlds import Worlds


class Orders:
    def __init__(
        self, lane: zmq.Socket[Any], attempt: CurrentAttempt, worlds: Worlds, rank: int, folder: Path
    ) -> None:
        self._lane = lane
        self._attempt = attempt
        self._worlds = worlds
        self._rank = rank
        self._folder = folder

    def start(self, hello: tuple[Any, ...]) -> None:
        self._done = self._lane.context.socket(zmq.PULL)
        self._done.bind("inproc://reports")
        threading.Thread(target=self._listen, args=(hello,), name="argosy-orders", daemon=True).start()

    def _listen(self, hello: tuple[Any, ...]) -> None:
        gone = self._lane.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._lane.send(wire.encode(Kind.HELLO, "orders", *hello))
        poller = zmq.Poller()
        for socket in (self._lane, gone, self._done):
            poller.register(socket, zmq.POLLIN)
        while True:
            for socket, _ in poller.poll():
                if socket is gone:
                    recv_monitor_message(gone)
                    os._exit(1)  # the controller is no more: so are we, whatever the main thread is doing
                elif socket is self._done:
                    self._lane.send(self._done.recv())
                else:
                    self._obey(*wire.decode(self._lane.recv()))

    def _obey(self, kind: Kind, fields: tuple[Any, ...]) -> None:
        if kind is Kind.STOP:
            self._attempt.stop(fields)  # type: ignore[arg-type]
        elif kind is Kind.SHRINK:
            epoch, base = fields
            self._worlds.give_up()
            self._make(epoch, base, lambda world: world.shrink(epoch))
        elif kind is Kind.GROW:
            self._grow(*fields)
        elif kind is Kind.DIE:
            os.kill(fields[0], signal.SIGKILL)

    def _grow(self, epoch: int, base: int, lost: tuple[int, ...], hosts: tuple[str, ...] | None) -> None:
        ranks = ",".join(str(rank) for rank in lost)
        command = [sys.executable, "-m", "argosy.pilot.worker", str(self._folder), ranks, str(epoch)]
        host = None if hosts is None else ",".join(hosts)
        self._make(epoch, base, lambda world: world.grow(epoch, command, len(lost), host, self._worlds.hold))

    def _make(self, epoch: int, base: int, build: Callable[[World], World]) -> None:
        def report(problem: str) -> None:
            socket = self._lane.context.socket(zmq.PUSH)
            socket.connect("inproc://reports")
            socket.send(wire.encode(Kind.READY, self._rank, epoch, problem))
            socket.close()

        self._worlds.make(epoch, base, build, report)
