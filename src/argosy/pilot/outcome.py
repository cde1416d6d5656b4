"""From the cause that the schedule gives to the exception that the user sees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from argosy.errors import InputFailed, NeedNotMet, RankLost, TaskTimeout, ValueLost
from argosy.pilot import folder as run_folder
from argosy.pilot import protocol
from argosy.pilot.cargo import unpack_failure
from argosy.pilot.crew import Member


def error_of(
    cause: protocol.Cause | None,
    task: str,
    failures: dict[tuple[int, int], bytes],
    member: Callable[[int], Member | None],
    error_of_input: Callable[[int], BaseException | None],
    folder: Path,
) -> BaseException:
    match cause:
        case protocol.Raised(rank, attempt):
            return unpack_failure(failures[rank, attempt])
        case protocol.Lost(rank):
            dead = member(rank)
            log = str(run_folder.rank_log(folder, rank))
            if dead is None:
                return RankLost(task, rank, "unknown", log=log)
            return RankLost(task, rank, dead.node, dead.signal, dead.exit_code, log, dead.silent)
        case protocol.TimedOut(seconds):
            return TaskTimeout(task, seconds)
        case protocol.NeverFits(asked, there):
            return NeedNotMet(asked, there)
        case protocol.InputFailed(number):
            error = InputFailed(f"{task} was not started: task {number}, whose result it takes, did not end well")
            error.__cause__ = error_of_input(number)
            return error
        case protocol.ValueGone(number, why):
            return ValueLost(f"{task} needs the kept value of task {number}: {why}")
        case None:
            raise AssertionError("a failed task has a cause")
