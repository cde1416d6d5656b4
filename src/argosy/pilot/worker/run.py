"""One attempt of one task on this rank: make its communicator, call the function, say how it ended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import Context as Variables
from pathlib import Path
from typing import Any

from argosy.comm import mpi
from argosy.errors import MemoryExceeded
from argosy.pilot import cargo, wire
from argosy.pilot.protocol import Outcome
from argosy.pilot.shelf import Box, Shelf
from argosy.pilot.start import StartMessage
from argosy.pilot.wire import Kind
from argosy.pilot.worker.allowance import Allowance
from argosy.pilot.worker.attempt import CurrentAttempt, Interrupted
from argosy.pilot.worker.bound import bound_to
from argosy.pilot.worker.context import Context, enter
from argosy.pilot.worker.keeper import TIED
from argosy.pilot.worker.libraries import cuda_works
from argosy.pilot.worker.residents import Residents
from argosy.pilot.worker.state import ProcessState
from argosy.pilot.worker.teams import Teams
from argosy.resources.discover.gpus import VARIABLE as VISIBLE_GPUS

_UNLIMITED = nullcontext()


class Unfit(Exception):
    """This process must not be given another task."""

    def __init__(self, why: str, exit_code: int = 1) -> None:
        self.exit_code = exit_code
        super().__init__(why)


class Runner:
    def __init__(
        self,
        rank: int,
        node: str,
        folder: Path,
        memory: int | None,
        shelf: Shelf,
        attempt: CurrentAttempt,
        teams: Teams,
        allowance: Allowance | None,
    ) -> None:
        """`memory`: how many bytes this rank may have. `allowance`: what a task may add, where that is watched."""
        self.residents = Residents()
        self._allowance = allowance
        self._state = ProcessState()
        self._cuda_sees: str | None = None
        """The GPUs with which CUDA has begun in this process: no other can be had here any more."""
        self._rank = rank
        self._node = node
        self._folder = folder
        self._memory = memory
        self._shelf = shelf
        self._attempt = attempt
        self._teams = teams

    def run(self, start: StartMessage, frames: list[bytes]) -> list[bytes]:
        """The message that says how it ended, with the packed value or failure in it, on the shelf, or behind it."""
        outcome, payload = self._run(start, frames)
        if isinstance(payload, Box) or len(payload) < wire.SMALL_NBYTES:
            return [wire.encode(Kind.ENDED, start.task, start.attempt, self._rank, outcome.value, payload)]
        return [wire.encode(Kind.ENDED, start.task, start.attempt, self._rank, outcome.value, None), payload]

    def restore(self) -> None:
        """After each run, once its end was told: what the task has changed in this process is put back."""
        if self._cuda_sees is None and cuda_works():
            self._cuda_sees = os.environ.get(VISIBLE_GPUS, "")
        self._state.restore()

    def _run(self, start: StartMessage, frames: list[bytes]) -> tuple[Outcome, bytes | Box]:
        attempt = self._attempt
        attempt.begin((start.task, start.attempt))
        comm = self._teams.communicator(start) if start.wants_comm else None
        if start.wants_comm and comm is None:
            attempt.end()
            return Outcome.UNSTARTED, b""
        try:
            value = self._call(start, frames, comm)
            attempt.let_go()
            if comm is not None:
                mpi.free(comm)  # only here: see below
            if start.keep:
                self.residents.keep(start.task, value)
                return Outcome.RETURNED, b""
            return Outcome.RETURNED, cargo.pack_value(value, self._shelf)
        except Interrupted:
            over = attempt.overdrawn()
            if over is None or attempt.was_stopped():
                return Outcome.STOPPED, b""
            attempt.abandon()
            label = f"task {start.task} ({start.name})"
            error = MemoryExceeded(label, self._rank, self._node, *over[2:])
            return Outcome.RAISED, cargo.pack_failure(error, self._rank, self._node)
        except Unfit:
            raise
        except BaseException as error:
            is_loss = mpi.lost_peers(error, comm)  # asked before this rank revokes the communicator itself
            attempt.abandon()
            if is_loss and mpi.left_while_making(error):
                raise Unfit("this process can make no communicator any more, and ends to be replaced") from error
            if attempt.was_stopped() or is_loss:
                return Outcome.STOPPED, b""
            return Outcome.RAISED, cargo.pack_failure(error, self._rank, self._node)
        finally:
            attempt.end()
            # A communicator that was left in the middle of something is not freed: messages may still be under way to
            # it, and would reach the next one that is given its number.

    @contextmanager
    def _limits(self, start: StartMessage) -> Iterator[None]:
        """Of what the task may use of its machine, where it said how much it wants."""
        with ExitStack() as stack:
            if start.cores:
                stack.enter_context(bound_to(start.cores[start.position]))
            if start.nbytes and self._allowance is not None:
                self._allowance.begin(start.task, start.attempt, start.nbytes)
                stack.callback(self._allowance.end)
            yield

    def _call(self, start: StartMessage, frames: list[bytes], comm: mpi.Communicator | None) -> Any:
        values = {task: self.residents.get(task) for task in start.kept_inputs}
        for task, frame in zip(start.inputs, frames, strict=True):
            values[task] = cargo.unpack_value(frame)
        for task, box in start.boxed_inputs:
            values[task] = cargo.unpack_value(box)
        enter(Context(start, self._folder, self._memory, self._allowance))
        if start.gpus:
            os.environ[VISIBLE_GPUS] = gpus = ",".join(start.gpus[start.position])
            if self._cuda_sees not in (None, gpus):
                raise Unfit(f"CUDA has begun with GPUs {self._cuda_sees!r} here, and cannot work on {gpus!r}", TIED)
        with self._limits(start) if start.cores or start.nbytes else _UNLIMITED:
            try:
                self._attempt.hold(comm)
                function = cargo.unpack(start.function, values)
                args, kwargs = cargo.unpack(start.arguments, values | {cargo.COMM_NUMBER: comm})
                # Nothing of an earlier task is in the variables: precision of decimals, NumPy's ways with errors.
                return Variables().run(function, *args, **kwargs)
            finally:
                self._attempt.shield()
                enter(None)
