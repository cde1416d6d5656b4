"""The parent of a rank: it sees how the rank ends, and lets nothing survive it.

The launcher's daemon does not take a process that leaves by `os._exit` for dead, and does not tell which signal ended
one. The keeper does both: it writes `argosy-exit LAUNCH HOST PID STATUS` where the launcher carries it to the
controller, kills what the rank has left running, and then dies by a signal, which every launcher understands.
"""

from __future__ import annotations

import os
import signal
import socket

from argosy.pilot.processes import adopt_orphans, die_with_parent, kill_descendants

BEGIN_NOTE = "argosy-begin"
EXIT_NOTE = "argosy-exit"


def keep(launch: str) -> None:
    """Fork. Returns in the child, which is to become the rank; the parent stays as its keeper and never returns."""
    adopt_orphans()
    os.write(1, f"{BEGIN_NOTE} {launch}\n".encode())  # a sign of life for whoever waits for the world
    rank = os.fork()
    if rank == 0:
        die_with_parent()
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    status = _wait_for(rank)
    if status == 0:
        kill_descendants()
        os._exit(0)
    os.write(1, f"{EXIT_NOTE} {launch} {socket.gethostname()} {rank} {status}\n".encode())
    kill_descendants()
    os.kill(os.getpid(), signal.SIGKILL)


def parse_exit_note(line: str) -> tuple[int, str, int, int | None, int | None] | None:
    """Launch, host, process id, signal, exit code; None for any other line."""
    match line.split():
        case [word, launch, host, pid, status] if word == EXIT_NOTE and all(map(str.isdecimal, (launch, pid, status))):
            how = int(status)
        case _:
            return None
    if os.WIFSIGNALED(how):
        return int(launch), host, int(pid), os.WTERMSIG(how), None
    return int(launch), host, int(pid), None, os.WEXITSTATUS(how)


def _wait_for(rank: int) -> int:
    while True:
        pid, status = os.waitpid(-1, 0)  # orphans of the rank's own children come here too
        if pid == rank:
            return status
