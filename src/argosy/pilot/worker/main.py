"""A rank from its start to its end: the main thread waits for tasks, a side thread for orders."""

from __future__ import annotations

import io
import os
import socket
import sys
import time
import traceback
from pathlib import Path
from typing import Any, TextIO, cast

import zmq

from argosy.comm import mpi
from argosy.comm.world import first_world, join, meet
from argosy.errors import disk_is_full
from argosy.pilot import folder as run_folder
from argosy.pilot import private, wire
from argosy.pilot.processes import born
from argosy.pilot.settings import Settings
from argosy.pilot.shelf import Shelf
from argosy.pilot.start import StartMessage
from argosy.pilot.wire import Kind
from argosy.pilot.worker.allowance import Allowance
from argosy.pilot.worker.attempt import CurrentAttempt
from argosy.pilot.worker.orders import Orders
from argosy.pilot.worker.run import Runner, Unfit
from argosy.pilot.worker.teams import Teams
from argosy.pilot.worker.worlds import Worlds

_LOOK_OUT_SECONDS = 0.0006


def main(arguments: list[str], allowance: Allowance | None) -> None:
    folder, launch = Path(arguments[0]), int(arguments[1])
    settings = Settings.load(folder)
    keys = wire.Keys.load(run_folder.key_file(folder))
    sys.path[:] = list(dict.fromkeys(settings.python_path + sys.path))
    newcomer = len(arguments) > 2
    rank = int(arguments[2].split(",")[mpi.world_rank()]) if newcomer else mpi.world_rank()
    spawning = int(arguments[3]) if newcomer else 0
    _redirect(run_folder.rank_log(folder, rank))

    context = zmq.Context()
    node = mpi.node_name()
    me = os.getpid()
    hello = (launch, spawning, rank, me, born(me), socket.gethostname(), node, mpi.library())
    order_lane = wire.connect(context, keys, f"{launch}.{rank}.{me}.orders".encode())
    task_lane = wire.connect(context, keys, f"{launch}.{rank}.{me}.tasks".encode())
    attempt = CurrentAttempt(settings.ulfm, allowance)
    worlds = Worlds()
    orders = Orders(order_lane, attempt, worlds, rank, folder, launch, newcomer)
    bridge = meet() if newcomer else None
    orders.start(hello, task_lane)
    worlds.add(join(orders.invitations.get(), bridge, rank, worlds.hold) if bridge is not None else first_world())

    memory = None if settings.memory_per_rank is None else settings.memory_per_rank[rank]
    teams = Teams(worlds, settings.ulfm)
    runner = Runner(rank, node, folder, memory, Shelf(settings.shelf), attempt, teams, allowance)
    task_lane.send(wire.encode(Kind.HELLO, "tasks", *hello))
    _serve(task_lane, runner)
    mpi.leave(clean=worlds.newest == 0)
    task_lane.close()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _serve(lane: zmq.Socket[Any], runner: Runner) -> None:
    last_gap = 1.0
    while True:
        since = time.perf_counter()
        if last_gap < _LOOK_OUT_SECONDS:  # tasks come one after another
            _look_out(lane, since)
        head, *cargo = lane.recv_multipart()
        last_gap = time.perf_counter() - since
        kind, fields = wire.decode(head)
        if kind is Kind.START:
            answer = _run_or_end(runner, StartMessage(*fields), cargo)
            if len(answer) == 1:
                lane.send(answer[0])
            else:
                lane.send_multipart(answer, copy=False)
            _restore_or_end(runner)
        elif kind is Kind.DROP:
            runner.residents.drop(fields[0])
        elif kind is Kind.CLOSE:
            return


def _look_out(lane: zmq.Socket[Any], since: float) -> None:
    """Wait for a message awake for a moment, giving way to others: to wake a sleeper takes 50 µs or more."""
    while not lane.poll(0) and time.perf_counter() - since < _LOOK_OUT_SECONDS:
        os.sched_yield()


def _run_or_end(runner: Runner, start: StartMessage, cargo: list[bytes]) -> list[bytes]:
    """Whatever comes out of the runner makes this process unfit for another task: it ends at once, and is replaced."""
    try:
        return runner.run(start, cargo)
    except BaseException as error:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(error.exit_code if isinstance(error, Unfit) else 1)


def _restore_or_end(runner: Runner) -> None:
    """For the next task. The controller has the answer on its way, and hears of the end after it."""
    try:
        runner.restore()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


class _Log(io.FileIO):
    """A full disk costs what is printed, never the task that prints it."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if not disk_is_full(error):
                raise
            return memoryview(data).nbytes


def _redirect(path: Path) -> None:
    """What tasks print goes to the rank's own file; the launcher's pipe is for the keeper alone.

    Who asks for input hears that there is none: the launcher keeps that of the first rank open, and it would wait.
    """
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    descriptor = private.opener(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)
    sys.stdout = _text_to(1, sys.stdout)
    sys.stderr = _text_to(2, sys.stderr)


def _text_to(descriptor: int, before: TextIO) -> TextIO:
    raw = _Log(descriptor, "w", closefd=False)
    buffer = io.BufferedWriter(cast(io.RawIOBase, raw))
    return io.TextIOWrapper(buffer, encoding=before.encoding, errors=before.errors, line_buffering=True)
