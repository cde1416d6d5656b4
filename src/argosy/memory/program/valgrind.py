"""Runs a program under `valgrind --tool=lackey --trace-mem=yes` and counts its accesses while they stream out.

Valgrind writes each access with a system call of its own, about a million lines a second; the parser takes tens of
millions, so valgrind sets the pace. Its lines come through a FIFO; the program keeps its own input, output and status.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from argosy.errors import BadTrace
from argosy.memory.program.counting import PAGE_NBYTES, Counter
from argosy.memory.program.events import Event, Objects
from argosy.memory.program.interposer import CannotCompile, compile_into, environment, read_events
from argosy.memory.program.lackey import parse
from argosy.memory.program.naming import find_statics
from argosy.memory.program.programs import kill

_PIPE_NBYTES = 1 << 20
_NAP_SECONDS = 0.01
"""The pipe holds some 40 ms of trace; who reads it line by line only slows valgrind down."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far a traced run has come."""

    seconds: float
    lines: int
    accesses: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Traced:
    """What came of one run under valgrind."""

    counter: Counter
    status: int
    lines: int
    seconds: float
    """Of the run under valgrind, many times those of the program alone."""
    stopped: bool
    """By its timeout."""
    without_names: str | None
    """Why allocations are not known, if they are not."""


def installed() -> bool:
    return shutil.which("valgrind") is not None


def run(
    command: Sequence[str],
    program: str,
    *,
    windows: int,
    cwd: str | Path | None = None,
    timeout_seconds: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Traced:
    """Run it to its end or its timeout. Whatever happens, its processes and temporary files are gone afterwards."""
    if not installed():
        raise BadTrace("valgrind is not installed; get it with your system's packages (apt install valgrind)")
    with tempfile.TemporaryDirectory(prefix="argosy-trace-") as temporary:
        folder = Path(temporary)
        fifo, events = folder / "trace", folder / "events"
        os.mkfifo(fifo)
        events.touch()
        without_names, env = None, dict(os.environ)
        try:
            env = environment(compile_into(folder), events, program)
        except CannotCompile as error:
            without_names = str(error)
        pipe = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        try:
            with suppress(OSError):  # where pipes must be smaller, it is only slower
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_NBYTES)
            options = ["-q", "--tool=lackey", "--trace-mem=yes", "--child-silent-after-fork=yes", f"--log-file={fifo}"]
            child = subprocess.Popen(["valgrind", *options, "--", *command], cwd=cwd, env=env)
            try:
                reader = _Reader(program, events, windows)
                stopped = reader.read_all(pipe, child, timeout_seconds, on_progress)
            finally:
                kill(child)
        finally:
            os.close(pipe)
    if without_names is None and not reader.greeted:
        without_names = "the program could not be told to report them (it may be linked statically)"
    if not reader.counter.num_windows:
        said = "; valgrind said: " + " ".join(reader.said) if reader.said else ""
        raise BadTrace(f"{command[0]} made no access to memory that valgrind could see{said}")
    return Traced(
        counter=reader.counter,
        status=child.returncode,
        lines=reader.lines,
        seconds=time.perf_counter() - reader.began,
        stopped=stopped,
        without_names=without_names,
    )


class _Reader:
    """Turns the stream of one run into counts."""

    def __init__(self, program: str, events: Path, windows: int) -> None:
        self.program = program
        self.counter = Counter(Objects(), windows=windows)
        self.greeted = False
        self.lines = self.accesses = 0
        self.said: list[str] = []
        self.began = time.perf_counter()
        self._events: Iterator[Event | None] = read_events(events)
        self._rest = b""

    def read_all(
        self,
        pipe: int,
        child: subprocess.Popen[bytes],
        timeout_seconds: float | None,
        on_progress: Callable[[Progress], None] | None,
    ) -> bool:
        """Until the process has ended and the pipe is empty. Whether the timeout ended it."""
        told = 0.0
        while True:
            ended = child.poll() is not None
            nbytes = self._read_some(pipe)
            seconds = time.perf_counter() - self.began
            if on_progress is not None and seconds - told > 0.2:
                told = seconds
                on_progress(Progress(seconds=seconds, lines=self.lines, accesses=self.accesses))
            if ended and not nbytes:
                return False
            if timeout_seconds is not None and seconds > timeout_seconds:
                return True
            if nbytes < _PIPE_NBYTES // 4 and not ended:
                time.sleep(_NAP_SECONDS)

    def _read_some(self, pipe: int) -> int:
        """What is in the pipe now; how many bytes that was."""
        try:
            block = os.read(pipe, _PIPE_NBYTES)
        except BlockingIOError:
            return 0
        if block:
            self._take(self._rest + block)
        return len(block)

    def _take(self, block: bytes) -> None:
        if not self.greeted:
            self._greet()
        accesses = parse(block)
        self._rest = block[accesses.consumed :]
        self.lines += accesses.lines
        self.accesses += len(accesses.addresses)
        if b"==" in block and len(self.said) < 8:
            text = block[: accesses.consumed].decode(errors="replace")
            self.said += [line.split("== ", 1)[-1] for line in text.splitlines() if line.startswith("==")]
        at, told = self.counter.count(accesses)
        while told:
            event = next(self._events)
            if event is not None:
                self.counter.objects.apply(event)
                self.counter.refresh()
            at, told = self.counter.count(accesses, at)

    def _greet(self) -> None:
        """The interposer's first line is written before any store to its mailbox can be in the stream."""
        hello = next(self._events)
        if hello is not None:
            self.greeted = True
            self.counter.mailbox = hello.old
            for static in find_statics(self.program, PAGE_NBYTES):
                self.counter.objects.add_named(static.name, static.address + hello.address, static.nbytes)
            self.counter.refresh()
