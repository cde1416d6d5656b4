"""From the cause that the schedule gives to the exception that the user sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from argosy.errors import (
    ArgosyError,
    CudaTied,
    InputFailed,
    MemoryExceeded,
    NeedNotMet,
    RankLost,
    TaskTimeout,
    ValueLost,
)
from argosy.pilot import folder as run_folder
from argosy.pilot import protocol
from argosy.pilot.cargo import put_cause
from argosy.pilot.crew import Member
from argosy.pilot.worker.keeper import TIED


class Trouble(Protocol):
    """Why a task did not end well."""

    said: str
    """In a line, for the log."""

    def open(self) -> BaseException:
        """The exception, for whoever asks for the result. Code of the user's may run."""
        ...


class Known:
    """An error of our own, and the trouble it comes from."""

    def __init__(self, error: ArgosyError, cause: Trouble | None = None) -> None:
        self.said = f"{type(error).__name__}: {error}"
        self._error = error
        self._cause = cause

    def open(self) -> BaseException:
        if self._cause is not None:
            put_cause(self._error, self._cause.open())
        return self._error


def trouble_of(
    cause: protocol.Cause | None,
    task: str,
    failures: Mapping[tuple[int, int], Trouble],
    member: Callable[[int], Member | None],
    trouble_of_input: Callable[[int], Trouble | None],
    folder: Path,
) -> Trouble:
    match cause:
        case protocol.Raised(rank, attempt):
            return failures[rank, attempt]
        case protocol.Lost(rank):
            return Known(_lost(task, rank, member(rank), str(run_folder.rank_log(folder, rank))))
        case protocol.TimedOut(seconds):
            return Known(TaskTimeout(task, seconds))
        case protocol.NeverFits(asked, there):
            return Known(NeedNotMet(asked, there))
        case protocol.InputFailed(number):
            words = f"{task} was not started: task {number}, whose result it takes, did not end well"
            return Known(InputFailed(words), trouble_of_input(number))
        case protocol.ValueGone(number, why):
            return Known(ValueLost(f"{task} needs the kept value of task {number}: {why}"))
        case None:
            raise AssertionError("a failed task has a cause")


def _lost(task: str, rank: int, dead: Member | None, log: str) -> RankLost | MemoryExceeded | CudaTied:
    if dead is None:
        return RankLost(task, rank, "unknown", log=log)
    if dead.overdrawn is not None:
        return MemoryExceeded(task, rank, dead.node, *dead.overdrawn[2:])
    if dead.exit_code == TIED:
        return CudaTied(task, rank, dead.node)
    return RankLost(task, rank, dead.node, dead.signal, dead.exit_code, log, dead.silent, dead.broken)
