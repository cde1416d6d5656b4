"""A watcher that keeps what it is told, without the values."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from argosy.tree.explaining.history import History
from argosy.tree.explaining.lanes import lanes_of_runs
from argosy.tree.explaining.overlap import overlapped
from argosy.tree.explaining.record import (
    CONTROL,
    ENDED,
    FAILED,
    IN_PLACE,
    IN_TURN,
    INPUT,
    PILOT,
    TAKEN_BACK,
    Cause,
    Part,
    Ran,
    Recording,
)
from argosy.tree.explaining.running import Running
from argosy.tree.explaining.statements import Function, Statements, decides, function_of
from argosy.tree.explaining.turns import why_in_turn
from argosy.tree.expression import Expression
from argosy.tree.inside import here
from argosy.tree.piece import Piece
from argosy.tree.source import Source
from argosy.tree.states import FAILED as STATE_FAILED
from argosy.tree.watch import Touch


class Recorder:
    """Watches one call of one function, made by the thread that makes the call just before it."""

    def __init__(self, source: Source, num_threads: int, in_place: Callable[[float | None], bool]) -> None:
        self._source = source
        self._statements = Statements()
        self._num_threads = num_threads
        self._in_place = in_place
        self._caller = threading.get_ident()
        is_main = threading.current_thread() is threading.main_thread()
        self._names = {0: "main thread" if is_main else "calling thread"}
        self._handled = sys.exc_info()[1]
        self._runs: list[Running] = []
        self._numbers: dict[int, int] = {}
        self._lines: set[tuple[Function, int]] = set()
        self._history = History()
        self._decided: Cause | None = None
        self._alone = -1
        """What ran alone last: everything before it has ended, and is no cause any more."""
        self._began = perf_counter()

    # what it is told

    def issued(
        self,
        expression: Expression,
        inputs: Sequence[tuple[Expression, str]],
        touches: Sequence[Touch],
        function: str,  # noqa: ARG002
    ) -> None:
        number = len(self._runs)
        piece = expression.plan.piece
        statement = self._statements.of(piece)
        causes: dict[int, Cause] = {}
        for maker, name in inputs:
            other = self._numbers[maker.seq]
            causes.setdefault(other, Cause(number=other, how=INPUT, name=name, theirs=name))
        for cause in self._history.add(number, touches):
            causes.setdefault(cause.number, cause)
        if self._decided is not None:
            causes.setdefault(self._decided.number, self._decided)
        self._numbers[expression.seq] = number
        ordered = tuple(causes[other] for other in sorted(causes, reverse=True) if other > self._alone)
        run = Running(statement, ordered, expression=expression)
        self._runs.append(run)
        expression.function = _telling_parts(expression.function, run.parts)
        self._lines.add((statement.function, statement.line))
        if decides(piece, statement):
            self._decided = Cause(number=number, how=CONTROL, name=piece.text, theirs=piece.text)

    def ended(self, expression: Expression) -> None:
        run = self._runs[self._numbers[expression.seq]]
        run.started, run.ended, run.thread = expression.started, expression.ended, expression.thread
        run.nbytes = sum(version.value.nbytes for version in expression.outs if type(version.value) is np.ndarray)
        run.state = ENDED
        if expression.again:
            run.where, run.reason = IN_TURN, "it met a floating-point error and ran again"
        elif expression.waits:
            run.where = PILOT
        elif expression.thread == self._caller and self._in_place(expression.estimate):
            run.where = IN_PLACE
        run.expression = None

    def in_turn(self, piece: Piece, reason: str, started: float, ended: float, function: str) -> None:  # noqa: ARG002
        statement = self._statements.of(piece)
        error = sys.exc_info()[1]
        inside = range(statement.line + 1, statement.last_line + 1)
        entered = not self._lines.isdisjoint([(statement.function, line) for line in inside])
        self._history.clear()
        self._decided = None
        self._alone = len(self._runs)
        self._runs.append(
            Running(
                statement,
                started=started,
                ended=ended,
                thread=self._caller,
                where=IN_TURN,
                state=ENDED if error is None or error is self._handled else FAILED,
                reason=why_in_turn(piece, reason, entered),
                alone=True,
            )
        )

    # what became of it

    def finish(self) -> Recording:
        """The call is over; nothing of it runs any more."""
        seconds = perf_counter() - self._began
        self._history.clear()
        failed = False
        for run in self._runs:
            expression = run.expression
            if failed and run.state == ENDED:
                run.state = TAKEN_BACK
            elif expression is not None and expression.state == STATE_FAILED and not failed:
                run.started, run.thread, run.state = expression.started, expression.thread, FAILED
                run.ended = max(expression.started, expression.ended)
            elif expression is not None:
                run.started = run.ended = self._began
            run.expression = None
            failed = failed or run.state == FAILED
        lanes, threads = lanes_of_runs(self._runs, self._caller)
        parts = [[part for part in run.parts if part[0] != run.thread] for run in self._runs]
        spans = [(run.started, run.ended) for run in self._runs]
        at_once = overlapped([*spans, *[(part[1], part[2]) for told in parts for part in told]])
        return Recording(
            function=function_of(self._source),
            seconds=seconds,
            num_threads=self._num_threads,
            runs=tuple(
                Ran(
                    number=number,
                    statement=run.statement,
                    where=run.where or self._where(lanes[number], len({part[0] for part in parts[number]})),
                    lane=lanes[number],
                    started=run.started - self._began,
                    ended=run.ended - self._began,
                    overlapped=at_once[number],
                    nbytes=run.nbytes,
                    state=run.state,
                    alone=run.alone,
                    reason=run.reason,
                    causes=run.causes,
                    parts=tuple(
                        Part(threads[thread], started - self._began, ended - self._began)
                        for thread, started, ended in parts[number]
                    ),
                )
                for number, run in enumerate(self._runs)
            ),
        )

    def _where(self, lane: int, num_helpers: int) -> str:
        if num_helpers:
            return f"{num_helpers + 1} threads"
        return self._names.get(lane, f"thread {lane}")


def _telling_parts(function: Callable[..., Any], parts: list[tuple[int, float, float]]) -> Callable[..., Any]:
    """The same function, which tells in which parts it was done."""

    def run(*values: Any) -> Any:
        parts.clear()
        here.parts = parts
        try:
            return function(*values)
        finally:
            here.parts = None

    return run
