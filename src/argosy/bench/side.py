"""The process of one engine, as the one that compares sees it."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from argosy.bench.cases import Case
from argosy.bench.engines import Kind
from argosy.errors import ArgosyError

_ANSWER_SECONDS = 600.0
"""For one round, or for the start with the first."""
_END_SECONDS = 30.0


class SideFailed(ArgosyError):
    """An engine ended, or gave no answer in time; the message holds the end of what it wrote."""


class Side:
    """One engine with the tables of one case, in a process of its own. Made by `open_side`."""

    def __init__(self, kind: Kind, process: subprocess.Popen[str], errors: IO[str]) -> None:
        self.kind = kind
        self._process = process
        self._errors = errors

    def check(self) -> tuple[int, int]:
        """Rows and digest of its result."""
        num_rows, number = self._ask("check")
        return num_rows, number

    def round(self) -> float:
        """Seconds of one answer."""
        return float(self._ask("round"))

    def _ask(self, question: str) -> Any:
        """There is one line for each question, so nothing is left in a buffer that `select` cannot see."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):  # it has ended, which the next lines tell
            print(question, file=self._process.stdin, flush=True)
        if not select.select([self._process.stdout], [], [], _ANSWER_SECONDS)[0]:
            raise SideFailed(f"{self.kind.title} gave no answer for {_ANSWER_SECONDS:.0f} s{self._last_words()}")
        line = self._process.stdout.readline()
        if not line:
            with suppress(subprocess.TimeoutExpired):  # it may still be writing why
                self._process.wait(_END_SECONDS)
            raise SideFailed(f"{self.kind.title} ended{self._last_words()}")
        return json.loads(line)

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        return ": " + "\n".join(lines[-12:]) if lines else ""


@contextmanager
def open_side(kind: Kind, case: Case, num_rows: int, num_threads: int) -> Iterator[Side]:
    """A started engine. On leaving it ends, or is ended when it does not."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "argosy.bench", kind.name, case.name, str(num_rows), str(num_threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "POLARS_MAX_THREADS": str(num_threads)},
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Side(kind, process, errors)
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            process.stdout.close()
