"""The program to trace: where it is, whether it can be traced, how long it takes alone, and how it ends."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import psutil

from argosy.errors import BadTrace, signal_name


def find_program(command: Sequence[str], cwd: str | Path | None = None) -> str:
    """The real path of what a command runs. Raises `BadTrace` for what is not there or cannot be traced."""
    if not command:
        raise BadTrace("no program was named; write it like: argosy memory trace -- ./program arguments")
    name = command[0]
    if "/" in name:
        path = Path(cwd or ".", name)
        if not path.is_file() or not os.access(path, os.X_OK):
            why = "is not a program (not executable)" if path.exists() else "does not exist"
            raise BadTrace(f"{name} {why}; build it, or name another program")
    elif (on_path := shutil.which(name)) is not None:
        path = Path(on_path)
    else:
        raise BadTrace(f"there is no program {name!r} on the PATH; a program in this folder is ./{name}")
    with path.open("rb") as file:
        head = file.read(256)
    if head[:4] != b"\x7fELF":
        first = head[2:].split(b"\n")[0].decode(errors="replace").strip() if head[:2] == b"#!" else "/bin/sh"
        raise BadTrace(
            f"{name} is a script, not a program of machine code; name the program that does the work, or trace the "
            f"script's interpreter (not the programs that it starts): {first} {' '.join(command)}"
        )
    if path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
        raise BadTrace(f"{name} runs with another user's rights (setuid), and such programs cannot be traced; copy it")
    return str(path.resolve())


def time_alone(
    command: Sequence[str], *, cwd: str | Path | None = None, timeout_seconds: float | None = None
) -> tuple[float, int] | None:
    """Seconds and status of one untraced run whose output goes nowhere; None where it ran into the timeout.

    It reads the same input if that is a file, and else an empty one.
    """
    began = time.perf_counter()
    with _input_again() as again:
        child = subprocess.Popen(
            list(command), cwd=cwd, stdin=again, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            status = child.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            kill(child)
    return time.perf_counter() - began, status


def _input_again() -> BinaryIO:
    try:
        number = sys.stdin.fileno()
        again = Path(f"/proc/self/fd/{number}") if stat.S_ISREG(os.fstat(number).st_mode) else Path(os.devnull)
    except (OSError, ValueError, AttributeError):  # closed, or replaced by something that is no file
        again = Path(os.devnull)
    return again.open("rb")


def kill(child: subprocess.Popen[bytes]) -> None:
    """It and what it started, if it is still there; waits for its end."""
    if child.poll() is None:
        try:
            family = [*psutil.Process(child.pid).children(recursive=True), psutil.Process(child.pid)]
        except psutil.NoSuchProcess:
            family = []
        for process in family:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        child.wait()


def how_it_ended(status: int) -> str:
    if status < 0:
        return f"was killed by {signal_name(-status)} (signal {-status})"
    return f"ended with status {status}"
