"""The process between a pilot and its launcher: when the pilot is gone, so is everything it has started.

    python -m argosy.pilot.launch.guard PATH... -- COMMAND...

It starts COMMAND in a session of its own, so that Ctrl-C at the terminal does not reach the ranks, and waits until
either the command ends or its own standard input is closed, which the kernel does even when the pilot is killed with
SIGKILL. Then it ends all descendants, also those that moved to other sessions. Unless the pilot said that it goes on
(`GOES_ON`), the PATHs (keys, sockets) are removed. It says so as well when it ends (`ENDS`): a fork of its process may
keep the input open.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time

from argosy.pilot.processes import adopt_orphans, kill_descendants

GOES_ON = b"goes on"
ENDS = b"ends"
_LOOK_FOR_PARENT_SECONDS = 1.0
"""A fork of the pilot's process can hold our standard input open after the pilot is gone."""
_PATIENCE_SECONDS = 2.0
"""How long the command may take for each step of its end."""


def main(arguments: list[str]) -> int:
    split = arguments.index("--")
    paths, command = arguments[:split], arguments[split + 1 :]
    adopt_orphans()
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    alarm, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    parent = os.getppid()
    said = None
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, restore_signals=True)
    try:
        while child.poll() is None:
            readable, _, _ = select.select([0, alarm], [], [], _LOOK_FOR_PARENT_SECONDS)
            if alarm in readable:
                os.read(alarm, 4096)
            if 0 in readable or os.getppid() != parent:
                said = os.read(0, 4096) if 0 in readable else b""
                _end(child)
    finally:
        kill_descendants()
        for path in paths if said in (b"", ENDS) or os.getppid() != parent else ():
            shutil.rmtree(path, ignore_errors=True)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _end(child: subprocess.Popen[bytes]) -> None:
    """Let it end by itself, then ask it, then force it."""
    for step in (None, signal.SIGTERM, signal.SIGKILL):
        if step is not None:
            child.send_signal(step)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if child.poll() is not None:
                return
            time.sleep(0.01)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
