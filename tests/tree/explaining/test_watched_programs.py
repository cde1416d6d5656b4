"""Who is watched does the same: hand-written programs give plain Python's answer also while they are recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tree.programs.runner.compare import trouble
from tree.programs.runner.program import Program, all_programs

from argosy.tree.calling import Caller
from argosy.tree.explaining.graph import graph_of
from argosy.tree.explaining.record import ENDED, NOT_RUN, Recording
from argosy.tree.explaining.recorder import Recorder
from argosy.tree.explaining.text import text_of
from argosy.tree.explaining.trace import trace_of
from argosy.tree.futurize import Futurized

PROGRAMS = all_programs()[::3]


class Watching(Futurized):
    """Every call is watched, and what was seen is looked at in all ways."""

    def __init__(self, function: Any) -> None:
        super().__init__(function, strict=False, grain=0, threads=3)

    def _walked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._caller is None:
            self._make_caller()
        caller: Caller = self._caller
        recorder = Recorder(caller.program.source, 3, caller.grain.in_place)
        failed = True
        try:
            result = caller.walk(args, kwargs, recorder)
            failed = False
        finally:
            check(recorder.finish(), failed)
        return result


def check(recording: Recording, failed: bool) -> None:
    assert text_of(recording)
    assert graph_of(recording).endswith("}\n")
    assert json.dumps(trace_of(recording))
    for run in recording.runs:
        assert run.seconds >= 0
        assert run.overlapped <= run.seconds + 1e-6
        assert all(cause.number < run.number for cause in run.causes)
        assert failed or run.state == ENDED
        for cause in run.causes:
            other = recording.runs[cause.number]
            assert NOT_RUN in (run.state, other.state) or other.ended <= run.started + 1e-6 or failed, (run, other)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_watched_program_is_plain_python_and_nobody_began_before_whom_it_waited_for(program: Program) -> None:
    assert trouble(program, Watching) is None
