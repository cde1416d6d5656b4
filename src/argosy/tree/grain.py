"""What is worth a thread: decided from measured times."""

from __future__ import annotations

import math
from dataclasses import dataclass

IN_PLACE_SECONDS = 40e-6
"""Handing an expression to another thread and taking its result costs some 5 to 20 microseconds."""
SMALL_ITERATION_SECONDS = 100e-6
"""Iterations that take less run as plain Python: walking a statement costs a few microseconds."""
SHORT_CALL_SECONDS = 5e-3
"""Calls that take less are tried both ways, walked and plain, and go the faster one."""
LONG_CALL_SECONDS = 0.1
"""Up to here they are too, but not by the first call, in which most is learnt."""
CALLS_BETWEEN_TRIALS = 200
TINY_CALL_SECONDS = 20e-6
UNMEASURED = 31
TRIAL_SHARE = 0.03
"""Of the time that goes plainly, at most so much is lost by trying whether walking is better by now."""
LOST_SECONDS = 10e-3
"""A loop that has lost so much by being walked is given up; the second one of a call after half of it, and so on."""
LOST_SHARE = 0.05
"""What a loop may lose without being given up, as a share of its work."""
PROBED_ITERATIONS = 3
GIVEN_UP = "walking it costs more than it gains"
TRIED = "some rounds were tried as plain Python"
FIRST_TRIAL_SECONDS = 20e-3
"""A loop that has been walked for so long is tried plainly for a few rounds, and again after longer and longer."""
LONG_ITERATION_SECONDS = 50e-3
"""Iterations that take more are not tried: so long expressions do not hold one another up for nothing."""
WORTH_WALKING = 0.97
"""What walked rounds may take, of the time of plain ones."""
TRIALS = 2
RUNS_BETWEEN_TRIALS = 100
TOO_SHORT_TO_CUT = 150e-6
"""Cutting a piece into parts costs some 50 microseconds."""


@dataclass(frozen=True, slots=True)
class Grain:
    """Expressions expected to take less than `seconds` run in place; 0: none does, and loops are always walked."""

    seconds: float | None = None

    @property
    def always(self) -> bool:
        return self.seconds == 0

    def in_place(self, estimate: float | None) -> bool:
        """Not before it was measured: the first time it may be anything."""
        return estimate is not None and estimate < self.limit

    @property
    def limit(self) -> float:
        return IN_PLACE_SECONDS if self.seconds is None else self.seconds

    def small_iteration(self, seconds: float) -> bool:
        return not self.always and seconds < max(SMALL_ITERATION_SECONDS, self.seconds or 0)


class Ways:
    """Which way the calls of one function go: walked, or as plain Python."""

    def __init__(self) -> None:
        self.walked = self.plain = math.inf
        """Seconds of the last call that went this way."""
        self._calls = self._walks = 0
        self._took = self._since = 0.0
        """Seconds of the last walk, and of the plain calls since then."""

    def is_plain(self) -> bool:
        """Whether the next call is a plain one. The first is walked: it may be the only one, and long."""
        if self.walked >= (SHORT_CALL_SECONDS if self._walks < 2 else LONG_CALL_SECONDS):
            return False
        if self.plain == math.inf:
            return True
        return self.plain < self.walked

    def calls_unmeasured(self) -> int:
        """How many of the next calls go plainly without a look at the clock, which takes as long as a tiny call."""
        return UNMEASURED if self.plain < TINY_CALL_SECONDS and self.is_plain() else 0

    def took(self, plainly: bool, seconds: float) -> None:
        self._calls += 1
        if not plainly:
            self._walks += 1
            self.walked = self._took = seconds
            self._since = 0.0
            return
        self._since += seconds
        affordable = seconds > SHORT_CALL_SECONDS / 10 and self._since * TRIAL_SHARE > self._took - seconds
        if seconds > 4 * self.plain and affordable:
            self.walked = self.plain = math.inf  # other arguments: look again
            return
        self.plain = seconds
        if self._calls % CALLS_BETWEEN_TRIALS == 0 and affordable:
            self.walked = math.inf


class Choice:
    """In parts or whole: both are tried in turns a few times, then the faster one is taken; some time later, again.

    The first run in parts does not count: threads, caches and memory are new to it.
    """

    def __init__(self) -> None:
        self._runs = 0
        self._best = {True: math.inf, False: math.inf}
        self._tried = {True: -1, False: 0}

    def in_parts(self) -> bool:
        """Which way the next run goes."""
        self._runs += 1
        if self._runs % RUNS_BETWEEN_TRIALS == 0:
            self._tried = {True: 0, False: 0}
            self._best = {True: math.inf, False: math.inf}
        for way in (True, False):
            if self._tried[way] < TRIALS and self._tried[way] <= self._tried[not way]:
                return way
        return self._best[True] <= self._best[False]

    def seconds_in_parts(self) -> float:
        """The best that was seen, by item or byte; 0 when it was not tried yet."""
        return self._best[True] if self._tried[True] > 0 else 0.0

    def saved(self, items: int, seconds: float) -> float | None:
        """By a run in parts that took so long, over the whole; None when that was not tried yet."""
        return self._best[False] * items - seconds if self._tried[False] > 0 else None

    def took(self, in_parts: bool, seconds: float) -> None:
        """Seconds of a run, by item or byte, so that runs of different length can be compared."""
        self._tried[in_parts] += 1
        if self._tried[in_parts] > 0:
            self._best[in_parts] = min(seconds, self._best[in_parts])
