"""The attempt a rank is busy with, and how to make the rank leave it from another thread."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import traceback
from types import FrameType
from typing import NoReturn

from argosy.comm import mpi
from argosy.pilot.worker.allowance import Allowance, Overdrawn
from argosy.pilot.worker.keeper import INTERRUPT

_MOST_STOPS = 1024
_LOOK_AGAIN_SECONDS = 0.02


class Interrupted(BaseException):
    """Raised in the main thread, inside the user's function, when its task is to stop."""


class CurrentAttempt:
    """Shared by the main thread, which works, and the order thread, which may stop it."""

    def __init__(self, ulfm: bool, allowance: Allowance | None = None) -> None:
        self._ulfm = ulfm
        self._allowance = allowance
        self._lock = threading.Lock()
        self._key: tuple[int, int] | None = None
        self._comm: mpi.Communicator | None = None
        self._stopped: dict[tuple[int, int], None] = {}
        """Stops whose attempt has not ended here, or came too late; the newest of them."""
        self._interruptible = False
        self._process = os.getpid()
        signal.signal(INTERRUPT, self._on_interrupt)

    def begin(self, key: tuple[int, int]) -> None:
        with self._lock:
            self._key = key

    def hold(self, comm: mpi.Communicator | None) -> None:
        """From now on `stop` may revoke this communicator and interrupt the main thread. Raises when it is too late."""
        with self._lock:
            self._comm = comm
            if self._key in self._stopped:
                if comm is not None:
                    self._revoke(comm)
                raise Interrupted
            self._interruptible = True

    def shield(self) -> None:
        """The user's function has ended: nothing is interrupted any more. Call it where `Interrupted` is caught.

        Where the function has forked, its end is also that of the child: the rank, its sockets and its MPI are not its.
        """
        self._interruptible = False
        if os.getpid() != self._process:
            _leave(sys.exc_info()[1])

    def let_go(self) -> None:
        """The communicator is about to be freed: it must not be revoked any more."""
        with self._lock:
            self._comm = None

    def end(self) -> None:
        with self._lock:
            if self._key is not None:
                self._stopped.pop(self._key, None)
            self._key = self._comm = None

    def was_stopped(self) -> bool:
        with self._lock:
            return self._key in self._stopped

    def overdrawn(self) -> Overdrawn | None:
        """What memory it took, if that is more than its task asked for."""
        return None if self._allowance is None or self._key is None else self._allowance.overdrawn(self._key)

    def stop(self, key: tuple[int, int]) -> None:
        """From the order thread. A stop may come before its start: it is remembered."""
        with self._lock:
            self._stopped[key] = None
            if len(self._stopped) > _MOST_STOPS:
                del self._stopped[next(iter(self._stopped))]
            if key != self._key:
                return
            if self._comm is not None:
                self._revoke(self._comm)
        _interrupt_main()

    def abandon(self) -> None:
        """From the main thread: this rank has failed; free its peers from whatever collective they wait in."""
        with self._lock:
            if self._comm is not None:
                self._revoke(self._comm)

    def _revoke(self, comm: mpi.Communicator) -> None:
        if self._ulfm:
            mpi.revoke(comm)

    def _on_interrupt(self, _number: int, frame: FrameType | None) -> None:
        # The signal may come after its attempt has ended: what it was sent for is what counts.
        if not self._interruptible or not (self._key in self._stopped or self.overdrawn()):
            return
        if _imports(frame):
            # A module that is left half made stays so: the import of torch, once broken off, never works again here.
            threading.Timer(_LOOK_AGAIN_SECONDS, _interrupt_main).start()
        else:
            self._interruptible = False
            raise Interrupted


def _interrupt_main() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, INTERRUPT)


def _leave(error: BaseException | None) -> NoReturn:
    """End this process as Python does, but for what is done at its end on behalf of the rank it is a fork of."""
    status = 0
    if isinstance(error, SystemExit) and (error.code is None or isinstance(error.code, int)):
        status = error.code or 0
    elif error is not None:
        status = 1
        traceback.print_exception(error)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status & 0xFF)


def _imports(frame: FrameType | None) -> bool:
    """Whether this code runs because a module is being imported."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False
