"""What walking a loop has cost so far over what it gained, and whether that goes on.

The seconds of the expressions that ran are taken for those of plain Python. While they overlap, a loop takes less than
their sum; where it takes more, walking loses, and when that comes to a few milliseconds the rest of the loop is left to
plain Python. Expressions that hold one another up take longer than they would alone, which this does not see: so some
rounds are also run plainly now and then, and the times compared. A loop that was given up is walked again later, each
time after longer, so that the trials stay a small share of all.
"""

from __future__ import annotations

from time import perf_counter, process_time

from argosy.tree.flow import Flow
from argosy.tree.grain import (
    FIRST_TRIAL_SECONDS,
    LONG_ITERATION_SECONDS,
    LOST_SECONDS,
    LOST_SHARE,
    TRIAL_SHARE,
    WORTH_WALKING,
)
from argosy.tree.learning import learnt

_LOOK_SECONDS = 1e-3
_PERIOD_SECONDS = 0.1
"""What was gained longer ago than this does not make up for what is lost now."""
_FEW = 3
_SAMPLE_SECONDS = 4e-3
_SHORT_SECONDS = 1e-3
"""Rounds that take less are given up without a trial."""
_LOST_TRIALS = 2
"""One could be an accident, unless the account says the same."""
_LATER = 4.0


class Loop:
    """What was learnt of one loop, in all calls."""

    def __init__(self) -> None:
        self.seconds = float("inf")
        """Of an iteration; infinite until it was measured."""
        self.lost = 0.0
        """By walking it, as far as it was not made up for."""
        self.is_plain = False
        """It was given up: until it has run plainly for long enough, it goes so from its first round on."""
        self.walked, self.trial_after = 0.0, FIRST_TRIAL_SECONDS
        """Seconds since some rounds were tried plainly, and after how many they are next."""
        self._plain = self._again_after = 0.0
        self._times = self._lost_trials = 0

    def give_up(self) -> None:
        self.is_plain = True
        self._plain, self._again_after = 0.0, max(self.lost, LOST_SECONDS) * 2**self._times / TRIAL_SHARE
        self._times += 1
        self.lost = self.walked = 0.0
        self._lost_trials = 0
        self.trial_after = FIRST_TRIAL_SECONDS

    def ran_plainly(self, seconds: float) -> None:
        self._plain += seconds
        if self._plain > self._again_after:
            self.is_plain = False

    def tried(self, gains: bool, suspects: bool = False) -> bool:
        """As many rounds both ways. Whether it is better given up."""
        self.walked = 0.0
        if gains:
            self._lost_trials = 0
            self.trial_after = max(1.0, _LATER * self.trial_after)
            return False
        self._lost_trials += 1
        return self._lost_trials >= _LOST_TRIALS or suspects


GOES_ON, GIVE_UP, TRY = range(3)
Spent = tuple[float, float]
"""Seconds by the clock, and of processor."""


class Loss:
    """Of a loop under way, from when this is made."""

    def __init__(self, loop: Loop, flow: Flow) -> None:
        self._loop = loop
        self._flow = flow
        self._rounds = 0
        self._waiting = flow.num_waiting
        self._sample: tuple[int, float, float] | None = None
        """After which round the walked side of a trial began, when, and at which processor time."""
        self._suspects = False
        """The account says that it loses."""
        self._made = self._clock()
        self._begin(perf_counter())
        self._period = self._started + _PERIOD_SECONDS

    def _begin(self, now: float) -> None:
        self._started = now
        self._next = now + _LOOK_SECONDS
        self._worked = self._flow.worked
        self._before = learnt() + self._flow.given_up

    def look(self) -> int:
        """After each round: whether to go on, to give the loop up, or to try some rounds plainly."""
        self._rounds += 1
        now = perf_counter()
        if now < self._next:
            return GOES_ON
        self._next = now + _LOOK_SECONDS
        if self._flow.num_waiting != self._waiting or self._flow.awaits_others:
            return GOES_ON  # what takes long here is not the walk
        if self._sample is not None:
            return self._trial()
        since, most = self._since(now), LOST_SECONDS / (1 + self._flow.times_given_up)
        lost = self._loop.lost + since
        if lost > most and lost - (1 + LOST_SHARE) * self._flow.under_way(now) > most:
            is_short = self.spent() < _SHORT_SECONDS * self._rounds
            if is_short or since > self._flow.worked - self._worked:
                self.give_up(lost)
                self._flow.given_up += lost
                return GIVE_UP
            self._suspects = True
            return self._trial()  # it may as well have waited for a processor
        if now > self._period:
            self._keep(now)
            self._begin(now)
            self._period = now + _PERIOD_SECONDS
        return self._trial() if self._wants_trial(now) else GOES_ON

    def give_up(self, lost: float) -> None:
        self._loop.lost = lost
        self._loop.give_up()
        self._flow.times_given_up += 1

    def _wants_trial(self, now: float) -> bool:
        walked = self._loop.walked + now - self._started
        if walked < self._loop.trial_after or self._rounds < _FEW:
            return False
        return self.spent() < LONG_ITERATION_SECONDS * self._rounds

    def _trial(self) -> int:
        """First some rounds are walked by themselves; when they have taken long enough, as many are to run plainly."""
        if self._sample is None:
            self._flow.drain()
            self._sample = self._rounds, self._clock(), process_time()
            return GOES_ON
        return TRY if self._clock() - self._sample[1] > _SAMPLE_SECONDS else GOES_ON

    def walked(self) -> tuple[int, Spent]:
        """Rounds that were walked for a trial, from nothing under way to nothing under way, and what they took."""
        assert self._sample is not None
        self._flow.drain()
        rounds, began, processor = self._sample
        self._sample = None
        return self._rounds - rounds, (self._clock() - began, process_time() - processor)

    def tried(self, rounds: int, walked: Spent, plain: Spent) -> bool:
        """What as many rounds took both ways. Whether to give the loop up."""
        # On a busy machine the clock says little: what saves work is worth it too.
        gains = any(one < WORTH_WALKING * other for one, other in zip(walked, plain, strict=True))
        gives_up = self._loop.tried(gains, self._suspects)
        self._suspects = False
        if gives_up:
            self.give_up((walked[0] - plain[0]) * self._rounds / rounds)
        elif gains:
            self._loop.lost = 0.0
        self._begin(perf_counter())
        return gives_up

    def spent(self) -> float:
        """Seconds since it began, without those in which something was found out."""
        return self._clock() - self._made

    def _clock(self) -> float:
        return perf_counter() - learnt() - self._flow.given_up

    def end(self) -> None:
        """The loop is over, or left."""
        self._keep(perf_counter())

    def _keep(self, now: float) -> None:
        self._loop.walked += now - self._started
        self._loop.lost = max(0.0, self._loop.lost + self._since(now))

    def _since(self, now: float) -> float:
        spent = now - self._started - (learnt() + self._flow.given_up - self._before)
        return spent - (1 + LOST_SHARE) * (self._flow.worked - self._worked)
