"""Child processes of the benchmarks: the same environment on all sides, an answer as one line, nothing left behind.

A child answers with a line `ANSWER <json>` on its standard output. Every child and everything it starts carries a mark
in its environment, by which its processes are found even when they have changed parents.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

import psutil

HERE = Path(__file__).resolve().parent
MARK = "ARGOSY_BENCHMARK_CHILD"
_ANSWER = "ANSWER "
_NOTHING: Mapping[str, str] = MappingProxyType({})


TUNED = {
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,sm,tcp",
    "OMPI_MCA_btl_tcp_if_include": "lo",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}
"""What the pilot tells Open MPI on one machine, where nothing else is set. It saves the search for a fast network, most
of a second at every start, so a comparison that only shows this would flatter the pilot: bare `mpiexec` is run both
ways, as it comes and with these."""


class ChildFailed(Exception):
    """A child ended badly, or did not end; the message holds the end of what it wrote."""


def mpiexec() -> str:
    """The `mpiexec` of this interpreter's environment if it has one, else the one on the path."""
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec") or "mpiexec"


def environment() -> dict[str, str]:
    """Of every child, on all sides: one BLAS thread, more ranks than cores allowed, root allowed, scripts found."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    extra = dict.fromkeys(threads, "1")
    extra["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    extra |= {"PYTHONPATH": path, "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    if os.geteuid() == 0:
        extra |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {**os.environ, **extra}


def answer(value: object) -> None:
    """Called by a child, once: what it found out."""
    print(_ANSWER + json.dumps(value), flush=True)


@dataclass(frozen=True, slots=True)
class Child:
    process: subprocess.Popen[str]
    mark: str
    """In the environment of all of its processes."""
    errors: IO[str]
    """What it wrote to standard error; a file, so that a child that writes much never waits for a reader."""

    def lines(self) -> Iterator[str]:
        """Its standard output, as it comes."""
        assert self.process.stdout is not None  # it is a pipe
        return iter(self.process.stdout)

    def processes(self) -> set[psutil.Process]:
        """All that are alive: by their mark when they have changed parents, by descent when they have hidden it."""
        return _marked(self.mark) | _descendants(self.process)

    def last_words(self) -> str:
        self.errors.seek(0)
        return self.errors.read()[-2000:]


def ask(command: Sequence[str], *, timeout_seconds: float, extra: Mapping[str, str] = _NOTHING) -> Any:
    """Run a child to its end and return its answer (None when it gave none); `extra` goes into its environment."""
    named = " ".join(command)
    with child(command, extra=extra) as running:
        try:
            out, _ = running.process.communicate(timeout=timeout_seconds)
        except subprocess.TimeoutExpired:
            raise ChildFailed(f"no end after {timeout_seconds:.0f} s: {named}\n{running.last_words()}") from None
        if running.process.returncode != 0:
            status = running.process.returncode
            raise ChildFailed(f"status {status}: {named}\n{out[-1000:]}{running.last_words()}")
    answers = [line for line in out.splitlines() if line.startswith(_ANSWER)]
    return json.loads(answers[-1].removeprefix(_ANSWER)) if answers else None


@contextmanager
def child(command: Sequence[str], *, extra: Mapping[str, str] = _NOTHING) -> Iterator[Child]:
    """A running child. On leaving, it and whatever it started and left behind is ended."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**environment(), **extra, MARK: mark},
            start_new_session=True,
        )
        running = Child(process, mark, errors)
        try:
            yield running
        finally:
            _end(running)


def _marked(mark: str) -> set[psutil.Process]:
    found = set()
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                found.add(process)
        except (psutil.Error, OSError):  # it ended meanwhile, or belongs to somebody else
            continue
    return found


def _descendants(process: subprocess.Popen[str]) -> set[psutil.Process]:
    try:
        return set(psutil.Process(process.pid).children(recursive=True))
    except psutil.Error:
        return set()


def _end(running: Child) -> None:
    """A polite signal to the child, ten seconds for it to put its own house in order, then no politeness."""
    process, known = running.process, running.processes()
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + 10
    while left := [one for one in known | running.processes() if _alive(one)]:
        if time.monotonic() > deadline:
            print(f"  (left behind and ended: {len(left)} processes of {process.args!r})", file=sys.stderr)
            for one in left:
                with suppress(psutil.Error):
                    one.kill()
            break
        time.sleep(0.05)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
