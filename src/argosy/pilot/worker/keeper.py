"""The parent of a rank: it sees how the rank ends, lets nothing survive it, and watches how much memory its tasks take.

The launcher's daemon does not take a process that leaves by `os._exit` for dead, and does not tell which signal ended
one. The keeper does both: it writes `argosy-exit LAUNCH HOST PID STATUS` where the launcher carries it to the
controller, kills what the rank has left running, and then dies by a signal, which every launcher understands. If it
ended the rank itself, for the memory that a task took, `TASK ATTEMPT ASKED RANKS TOOK` stand behind that.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
import time

from argosy.pilot import footprint
from argosy.pilot.processes import adopt_orphans, die_with_parent, kill_descendants
from argosy.pilot.worker.allowance import Allowance, Grant, Overdrawn

BEGIN_NOTE = "argosy-begin"
EXIT_NOTE = "argosy-exit"
INTERRUPT = signal.SIGUSR2
"""Makes a rank look whether the task it is busy with is to stop."""
TIED = 76
"""The exit code of a rank that was to use GPUs which CUDA does not see there."""
_GRACE_SECONDS = 5.0
"""How long a task that took too much memory may go on before its rank is ended, while the machine has memory left."""
_LEFT_SHARE = 0.05
"""What the machine must have left of its memory for that."""
_GROWTH_NBYTES = 4e9
"""What a task may add in a second."""
_LOOKS_SECONDS = (0.01, 0.1)
"""From one look at a task's memory to the next: the shorter, the nearer it is to what it asked for."""


def keep(launch: str) -> Allowance | None:
    """Fork. Returns in the child, which is to become the rank; the parent stays as its keeper and never returns.

    None where the system does not say how much memory a process takes.
    """
    adopt_orphans()
    os.write(1, f"{BEGIN_NOTE} {launch}\n".encode())  # a sign of life for whoever waits for the world
    allowance = Allowance() if sys.platform == "linux" else None
    rank = os.fork()
    if rank == 0:
        die_with_parent()
        return allowance
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watch = None if allowance is None else _Watch(allowance, rank)
    status = _wait_for(rank)
    if status == 0:
        kill_descendants()
        os._exit(0)
    words = [EXIT_NOTE, launch, socket.gethostname(), rank, status]
    if watch is not None and watch.ended_for is not None:
        words += watch.ended_for
    os.write(1, f"{' '.join(map(str, words))}\n".encode())
    kill_descendants()
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nobody survives SIGKILL")


def parse_exit_note(line: str) -> tuple[int, str, int, int | None, int | None, Overdrawn | None] | None:
    """Launch, host, process id, signal, exit code, and what it was ended for; None for any other line."""
    match line.split():
        case [word, launch, host, *rest] if (
            word == EXIT_NOTE and len(rest) in (2, 7) and all(map(str.isdecimal, (launch, *rest)))
        ):
            pid, how, *facts = map(int, rest)
        case _:
            return None
    overdrawn = Overdrawn(*facts) if facts else None
    if os.WIFSIGNALED(how):
        return int(launch), host, pid, os.WTERMSIG(how), None, overdrawn
    return int(launch), host, pid, None, os.WEXITSTATUS(how), overdrawn


def _wait_for(rank: int) -> int:
    while True:
        pid, status = os.waitpid(-1, 0)  # orphans of the rank's own children come here too
        if pid == rank:
            return status


def _is_short() -> bool:
    from argosy.resources.discover.memory import available_nbytes, memory_nbytes  # only now: few keepers ever ask

    return available_nbytes() < _LEFT_SHARE * memory_nbytes()


class _Watch:
    """A thread of the keeper. It sleeps while no task has said how much memory it may add."""

    def __init__(self, allowance: Allowance, rank: int) -> None:
        self._allowance = allowance
        self._rank = rank
        self._over_since = 0.0
        self.ended_for: Overdrawn | None = None
        threading.Thread(target=self._run, name="argosy-watch", daemon=True).start()

    def _run(self) -> None:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):  # the rank has ended, and so will the keeper
            self._look()

    def _look(self) -> None:
        told: tuple[int, int] | None = None
        while True:
            grant = self._allowance.granted()
            if grant is None:
                self._allowance.wait()
                continue
            begin = time.monotonic()
            took = self._took(grant)
            looked = time.monotonic()
            key = (grant.task, grant.attempt)
            if key != told and took > grant.nbytes:
                told, self._over_since = key, looked
                self._allowance.tell(grant, took)
            if key == told:
                os.kill(self._rank, INTERRUPT)
                if looked - self._over_since > _GRACE_SECONDS or _is_short():
                    self._end_rank(grant)
            shortest, longest = _LOOKS_SECONDS
            soon = min(max((grant.nbytes - took) / _GROWTH_NBYTES, shortest), longest)
            time.sleep(max(soon, 10 * (looked - begin)))  # a look that takes long is not taken often

    def _took(self, grant: Grant) -> int:
        """What the rank has more than before the task, and what the processes have that were started since."""
        pids = [self._rank, *footprint.descendants(os.getpid(), grant.since)]
        for measure in (footprint.at_most_nbytes, footprint.fair_nbytes):
            took = sum(map(measure, pids)) - grant.base_nbytes
            if took <= grant.nbytes:
                break
        return took

    def _end_rank(self, grant: Grant) -> None:
        """Unless it has left the task: it is stopped while that is looked up, so that the next task is never hit."""
        os.kill(self._rank, signal.SIGSTOP)
        os.waitid(os.P_PID, self._rank, os.WSTOPPED | os.WNOWAIT)
        if self._allowance.granted() != grant:
            os.kill(self._rank, signal.SIGCONT)
            return
        self.ended_for = self._allowance.overdrawn((grant.task, grant.attempt))
        os.kill(self._rank, signal.SIGKILL)
