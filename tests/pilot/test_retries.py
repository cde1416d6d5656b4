"""What is run again, and how often: after any failure, or after the loss of a rank alone."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import argosy
from argosy.errors import RankLost
from argosy.pilot.protocol import (
    Cause,
    Finish,
    Instruction,
    Lost,
    Outcome,
    Raised,
    RankEnded,
    RankGone,
    RankJoined,
    Start,
    Submitted,
    Tick,
    TimedOut,
)
from argosy.pilot.schedule import Schedule
from argosy.pilot.task import State, Task
from argosy.resources import Allocation, Need, Node


class Attempts:
    """A task on both ranks of a small machine, and ways in which an attempt can end."""

    def __init__(self, retries: int, retries_on_loss: int) -> None:
        self.schedule = Schedule(Allocation(nodes=(Node(name="a", ranks=2, cores=2),)))
        self.now = 0.0
        self.schedule.handle([RankJoined(0.0, 0), RankJoined(0.0, 1)])
        task = Task(id=0, need=Need(ranks=2), timeout_seconds=1.0, retries=retries, retries_on_loss=retries_on_loss)
        self.schedule.handle([Submitted(0.0, task)])

    def end(self, how: str, attempt: int) -> tuple[list[Instruction], Cause | None]:
        """What is to be done then, and the cause to be told if that was the last attempt."""
        match how:
            case "raised":
                return self._leave(attempt, 0, Outcome.RAISED) + self._leave(attempt, 1), Raised(0, attempt)
            case "lost":
                gone = self.schedule.handle([RankGone(self.now, 1)])
                return gone + self._leave(attempt, 0) + self.schedule.handle([RankJoined(self.now, 1)]), Lost(1)
            case "raised, then lost":
                out = self._leave(attempt, 0, Outcome.RAISED) + self.schedule.handle([RankGone(self.now, 1)])
                return out + self.schedule.handle([RankJoined(self.now, 1)]), Raised(0, attempt)
            case "timed out":
                self.now += 1.0
                stop = self.schedule.handle([Tick(self.now)])
                return stop + self._leave(attempt, 0) + self._leave(attempt, 1), TimedOut(1.0)
        return self._leave(attempt, 0, Outcome.RETURNED) + self._leave(attempt, 1, Outcome.RETURNED), None

    def _leave(self, attempt: int, rank: int, outcome: Outcome = Outcome.STOPPED) -> list[Instruction]:
        return self.schedule.handle([RankEnded(self.now, 0, attempt, rank, outcome)])


@given(
    retries=st.integers(0, 2),
    retries_on_loss=st.integers(0, 3),
    hows=st.lists(st.sampled_from(["lost", "lost", "raised", "raised, then lost", "timed out"]), max_size=8),
)
@settings(max_examples=100, deadline=None)
def test_a_loss_uses_a_retry_on_loss_first_and_nothing_else_does(
    retries: int, retries_on_loss: int, hows: list[str]
) -> None:
    attempts = Attempts(retries, retries_on_loss)
    losses = failures = 0
    for attempt, how in enumerate([*hows, "returned"]):
        out, cause = attempts.end(how, attempt)
        losses += how == "lost"
        failures += how not in ("lost", "returned")
        starts = [one.attempt for one in out if isinstance(one, Start)]
        ends = [one for one in out if isinstance(one, Finish)]
        if how == "returned":
            assert (starts, ends) == ([], [Finish(0, State.DONE)])
        elif failures + max(losses - retries_on_loss, 0) <= retries:
            assert (starts, ends) == ([attempt + 1], [])
        else:
            assert (starts, ends) == ([], [Finish(0, State.FAILED, cause)])
            return


def collective(folder: Path, piece: int, ending: str, comm: Any) -> int:
    """Rank 1 comes to a bad end inside a collective of the others; every start of it leaves a mark."""
    if comm.rank == 1:
        num_before = len(list(folder.iterdir()))
        (folder / str(num_before)).touch()
        if ending == "raised":
            raise ValueError("the data is bad")
        if ending == "always killed" or num_before == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    return int(comm.allreduce(piece))


def submit_collective(pilot: argosy.Pilot, folder: Path, ending: str) -> argosy.Future:
    kept = pilot.submit(lambda comm: 5 + comm.rank, ranks=2, keep=True)
    return pilot._submit(collective, (folder, kept, ending), {}, Need(), inherit_ranks=True, retries_on_loss=2)


@pytest.mark.usefixtures("needs_ulfm")
def test_a_killed_rank_has_the_task_run_again_on_values_that_are_made_again(
    pilot: argosy.Pilot, tmp_path: Path
) -> None:
    assert submit_collective(pilot, tmp_path, "killed once").results(timeout=40) == [11, 11]
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.usefixtures("needs_ulfm")
def test_a_task_that_loses_a_rank_every_time_gives_up(pilot: argosy.Pilot, tmp_path: Path) -> None:
    with pytest.raises(RankLost):
        submit_collective(pilot, tmp_path, "always killed").result(timeout=40)
    assert len(list(tmp_path.iterdir())) == 3


def test_what_the_function_raises_is_not_tried_again(pilot: argosy.Pilot, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the data is bad"):
        submit_collective(pilot, tmp_path, "raised").result(timeout=40)
    assert len(list(tmp_path.iterdir())) == 1
