"""What a loop calls out on its way, kept raw, and added up only when somebody asks.

A call in the middle of a training step finds its caches cold, and each line of Python costs microseconds there that it
does not cost in a benchmark of itself. So a lap is two appends to a list.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter as _clock
from typing import Any

from argosy.train.ledger.phases import NO_SECONDS, unknown_phase

_START, _WAITING, _WAITED, _MOVE, _STEP = range(5)


class Laps:
    """`lap(phase)`: the time since the last lap belongs to this phase. `ended()` gives the steps that have ended since
    it was last asked, each with its seconds by phase; what the step under way has spent by now is then in `spent`."""

    def __init__(self, synchronize: Callable[[], object] | None) -> None:
        self.spent = dict(NO_SECONDS)
        self.started = False
        """Whether time counts: from the first phase, step or `start` on."""
        self.within = ["other"]
        """The phases that are being gone through, the innermost last."""
        self.waited: Callable[[], float] | None = None
        """On a device: asked at the end of the phase for how long it has only waited for communication."""
        self._raw: list[Any] = []
        """Pairs: a phase and when it ended, or what else happened and its value."""
        self._last = _clock()
        self.lap = self._lap() if synchronize is None else self._synchronized(synchronize)

    def _lap(self) -> Callable[[str], None]:
        append, names = self._raw.append, NO_SECONDS

        def lap(phase: str) -> None:
            if phase not in names:
                raise unknown_phase(phase)
            append(phase)
            append(_clock())

        return lap

    def _synchronized(self, synchronize: Callable[[], object]) -> Callable[[str], None]:
        end = self._lap()

        def lap(phase: str) -> None:
            synchronize()
            waited, self.waited = self.waited, None
            if waited is not None:
                self._raw += (_WAITED, waited())
            end(phase)

        return lap

    def start(self) -> float:
        """The time since the last lap belongs to no phase."""
        self.started = True
        now = _clock()
        self._raw += (_START, now)
        return now

    def waiting(self) -> None:
        """From now until the end of the phase there is nothing left to compute: communication is waited for."""
        self._raw += (_WAITING, _clock())

    def move(self, seconds: float, from_: str, to: str) -> None:
        """So much of what this step spends on one phase belongs to another."""
        self._raw += (_MOVE, (seconds, from_, to))

    def step(self, what: Any) -> float:
        """A step ends, and with it what has been going on since the last lap."""
        self.started = True
        now = _clock()
        self._raw += (self.within[-1], now, _STEP, what)
        return now

    def ended(self) -> list[tuple[Any, dict[str, float]]]:
        raw = self._raw.copy()
        self._raw.clear()
        steps: list[tuple[Any, dict[str, float]]] = []
        spent, last = self.spent, self._last
        exposed = 0.0
        waiting: float | None = None
        moves: list[tuple[float, str, str]] = []
        events = iter(raw)
        for kind, value in zip(events, events, strict=True):
            if type(kind) is str:
                seconds = value - last
                last = value
                if waiting is not None:
                    exposed, waiting = value - waiting, None
                if exposed:
                    exposed = min(exposed, seconds)
                    spent["comm"] += exposed
                    seconds -= exposed
                    exposed = 0.0
                spent[kind] += seconds
            elif kind == _STEP:
                for moved, from_, to in moves:
                    moved = min(moved, spent[from_])
                    spent[from_] -= moved
                    spent[to] += moved
                moves.clear()
                steps.append((value, spent))
                spent = NO_SECONDS.copy()
            elif kind == _WAITING:
                waiting = value
            elif kind == _WAITED:
                exposed = value
            elif kind == _MOVE:
                moves.append(value)
            else:
                last = value
        for moved, from_, to in moves:
            self.move(moved, from_, to)  # their step has not ended
        self.spent, self._last = spent, last
        return steps
