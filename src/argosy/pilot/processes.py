"""Nothing survives its parent: the few calls of the operating system that make it so."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_MOST_PID = 2**31 - 1
_MOST_SECONDS_TO_DIE = 10.0
"""A process that waits for a device may take that long, or for ever."""


def adopt_orphans() -> None:
    """From now on a descendant whose parent ends becomes a child of this process."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """The kernel kills this process when the thread that started it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def kill_descendants() -> None:
    """End every descendant of this process, also in other groups and sessions. Call `adopt_orphans` before."""
    while children := _children():
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        for child in children:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


def born(pid: int) -> int:
    """When a process was started, in the clock ticks of this machine: with its number it names a process for good.

    0 where the system does not tell, or there is no such process, or it has ended and waits for its parent.
    """
    try:
        state, *numbers = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0
    return 0 if state in (b"Z", b"X") else int(numbers[18])


def end_process(pid: int, started: int) -> bool:
    """SIGKILL for this very process of this machine; False when it is no more, whoever has its number by now."""
    if not 0 < pid <= _MOST_PID:  # 0 and less are groups of processes
        return False
    pin = getattr(os, "pidfd_open", None)
    try:
        held = None if pin is None else pin(pid)
    except ProcessLookupError:
        return False
    except OSError:
        held = None  # a sandbox that forbids it
    try:
        if started != born(pid):
            return False
        if held is None:
            os.kill(pid, signal.SIGKILL)
        else:
            signal.pidfd_send_signal(held, signal.SIGKILL)
    except ProcessLookupError:
        return False
    finally:
        if held is not None:
            os.close(held)
    return True


def end_family(name: bytes, value: bytes) -> None:
    """SIGKILL for every process of this user that was started with `name=value` in its environment, for all that these
    have started, and for what they start meanwhile; not for this one, nor for those with another value and theirs.
    Returns when they are no more.
    """
    deadline = time.monotonic() + _MOST_SECONDS_TO_DIE
    while (found := _family(name + b"=", name + b"=" + value)) and time.monotonic() < deadline:
        for pid, started in found.items():
            with contextlib.suppress(PermissionError):
                end_process(pid, started)
        time.sleep(0.005)


def _family(start: bytes, whole: bytes) -> dict[int, int]:
    """Their numbers, and when each was started."""
    parents: dict[int, int] = {}
    marked: set[int] = set()
    strangers = {os.getpid()}
    for entry in Path("/proc").glob("[0-9]*"):
        pid = int(entry.name)
        try:
            parents[pid] = int((entry / "stat").read_bytes().rpartition(b")")[2].split()[1])
            words = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended, or is another user's
        if whole in words:
            marked.add(pid)
        elif any(word.startswith(start) for word in words):
            strangers.add(pid)
    marked -= strangers
    while children := {pid for pid, parent in parents.items() if parent in marked} - marked - strangers:
        marked |= children
    return {pid: started for pid in marked if (started := born(pid))}


def _children() -> list[int]:
    found: list[int] = []
    for task in Path("/proc/self/task").glob("*/children"):
        found += [int(word) for word in task.read_text().split()]
    return found


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
