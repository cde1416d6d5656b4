"""The expressions of one call that are under way, and their end in program order.

Like the reorder buffer of a processor: expressions are issued in program order, run in any order that their inputs and
the memory they touch allow, and retire in program order. What fails surfaces when everything before it has ended well;
what ran after it is taken back. Only the thread that called the function issues and retires.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter

from argosy.tree.executor import Scope, new_scope
from argosy.tree.expression import Expression
from argosy.tree.memory import Memory
from argosy.tree.pool import Bell, Pool
from argosy.tree.running import Running, deliver
from argosy.tree.sites import with_site
from argosy.tree.states import DONE, FAILED, READY, RUNNING, SQUASHED, TRAPPED, WAITING
from argosy.tree.warned import forget, show

_MOST_UNDER_WAY = 128
_MOST_SECONDS = 0.25
"""How much estimated work lies ahead of the first unfinished expression, at most: it bounds what is kept in memory."""


class Failed(BaseException):
    """Carries the first exception in program order out of the walk."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        super().__init__(error)


class Flow(Running):
    def __init__(
        self,
        pool: Pool,
        observe: Callable[[Expression], None] | None = None,
        *,
        remembers: bool = False,
        tracks: bool = True,
    ) -> None:
        super().__init__(pool, observe, remembers)
        self.memory = Memory()
        self.age = 0
        self.seq = 0
        self.tracks = tracks
        """It is known who reads and writes which memory: not needed until something is written in place."""
        self._seconds_ahead = 0.0
        self.num_waiting = 0
        """Expressions so far that wait for a pilot."""
        self._scope: Scope | None = None
        """The tasks that its expressions have submitted."""

    # issuing

    def issue(self, expression: Expression, before: Sequence[Expression], in_place: bool) -> None:
        """Run it when all of `before` have ended: now and here if it may, else by whoever has time."""
        self._order.append(expression)
        if expression.waits:
            self.num_waiting += 1
            self._scope = self._scope or new_scope()
            expression.function = self._scope.within(expression.function)
        if before:
            with self._lock:
                for other in before:
                    if other.state != DONE:
                        if other.successors:
                            other.successors.append(expression)
                        else:
                            other.successors = [expression]
                        expression.waiting += 1
                expression.waiting -= 1
                ready = expression.waiting == 0
                if ready:
                    expression.state = READY
        else:
            ready = True
            expression.state = READY
        if expression.estimate is not None:
            self._seconds_ahead += expression.estimate
        if ready:
            if in_place:
                self.execute(expression)
            else:
                self._hand_out(expression)
        if len(self._order) > _MOST_UNDER_WAY or self._seconds_ahead > _MOST_SECONDS:
            self._catch_up()

    def _catch_up(self) -> None:
        """Work until only half as much lies ahead."""
        few = 4 * (self.pool.num_threads + 1)
        while True:
            self.retire()
            ahead = len(self._order)
            if ahead <= few or (ahead <= _MOST_UNDER_WAY // 2 and self._seconds_ahead <= _MOST_SECONDS / 2):
                return
            if not self.pool.help():
                self._sleep_until(lambda: self._front_needs_me() or self._can_help())

    # ending in program order, in the caller's thread only

    def retire(self) -> None:
        order = self._order
        while order:
            expression = order[0]
            if expression.state == DONE:
                order.popleft()
                expression.saved = ()
                for message in expression.warnings:
                    show(message)
                if expression.estimate is not None:
                    self._seconds_ahead -= expression.estimate
            elif expression.state == TRAPPED:
                self._run_again(expression)
            elif expression.state == FAILED:
                self._fail(expression)
            else:
                return

    def _run_again(self, expression: Expression) -> None:
        """It met a floating-point error or warned: now it is its turn, so it may, as the user set it."""
        self._put_back([expression])
        forget(expression.warnings)
        expression.warnings = ()
        expression.state = RUNNING
        expression.again = True
        expression.thread = threading.get_ident()
        expression.started = perf_counter()
        try:
            result = expression.plan.piece.function()(*[version.value for version in expression.inputs])
        except BaseException as error:
            expression.error = error
            self._end(expression, FAILED)
            return
        expression.ended = perf_counter()
        deliver(expression, result)
        following = self._end(expression, DONE)
        if following is not None:
            self._hand_out(following)

    def _fail(self, expression: Expression) -> None:
        error = expression.error
        assert error is not None
        for message in expression.warnings:  # what it warned of before it raised
            show(message)
        for site in reversed(expression.sites):
            error = with_site(error, site)
        self._take_back_after(expression)
        raise Failed(error)

    def _take_back_after(self, first: Expression | None) -> None:
        """Undo everything but `first`; nothing of it runs when this returns."""
        self._failed_at = min(self._failed_at, first.seq if first is not None else -1)
        others = [other for other in self._order if other is not first]
        with self._lock:
            for other in others:
                if other.state in (WAITING, READY):
                    other.state = SQUASHED
        self._end_tasks()
        if any(other.state == RUNNING for other in others):
            with self.stops.soon():
                for other in others:
                    self._sleep_until(lambda other=other: other.state != RUNNING)  # type: ignore[misc]
        self._put_back(reversed(others))
        for other in others:
            if other.warnings:
                forget(other.warnings)
        self._order.clear()

    def _end_tasks(self) -> None:
        """Nobody wants the rest any more: ranks are free again, and threads that wait for them go on."""
        if self._scope is not None:
            self._scope.cancel()

    def _put_back(self, expressions: Iterable[Expression]) -> None:
        for expression in expressions:
            for put_back in reversed(expression.saved):
                put_back()
            expression.saved = ()

    def cancel(self) -> None:
        """Something stopped the walk itself, such as Ctrl-C: keep what ended in order, take back the rest."""
        self._asleep = False
        self._bell = Bell()
        while self._order and self._order[0].state == DONE:
            self._order.popleft()
        front = self._order[0] if self._order and self._order[0].state in (FAILED, RUNNING) else None
        if front is not None:
            self._failed_at = front.seq
            self._end_tasks()
            with self.stops.soon():
                self._sleep_until(lambda: front.state != RUNNING)
        self._take_back_after(front)

    # waiting, in the caller's thread only

    def wait_for(self, expression: Expression) -> None:
        """Until it has ended; raises Failed when something before it did.

        Works on what is ready meanwhile, unless threads of the pool have time for it: the walk goes on after this.
        """
        while expression.state != DONE:
            self.retire()
            if expression.state == DONE:
                return
            if not (self.pool.needs_help and self.pool.help()):
                self._sleep_until(lambda: expression.state == DONE or self._front_needs_me() or self.pool.needs_help)
        if self.failing:
            self.drain()

    def _front_needs_me(self) -> bool:
        front = self._order[0] if self._order else None
        return front is not None and front.state in (FAILED, TRAPPED, DONE)

    def _can_help(self) -> bool:
        return bool(self.pool.ready or self.pool.short)

    def drain(self) -> None:
        """Until all that was issued has ended and retired."""
        while self._order:
            self.retire()
            if not self._order:
                return
            if not self.pool.help():
                self._sleep_until(lambda: self._front_needs_me() or self._can_help())

    def _sleep_until(self, condition: Callable[[], bool]) -> None:
        """Woken by an expression that ends, and by new jobs of the pool."""
        while not condition():
            self._asleep = True
            self.pool.sleep(self._bell, condition)
            self._asleep = False

    def under_way(self, now: float) -> float:
        """Seconds that the expressions which run just now have run so far."""
        return sum(now - one.started for one in self._order if one.state == RUNNING and one.started)

    @property
    def awaits_others(self) -> bool:
        """Something waits for a pilot, and this process has time meanwhile."""
        return self.num_waiting > 0 and any(one.waits and one.state != DONE for one in self._order)

    @property
    def idle(self) -> bool:
        return not self._order

    # something opaque ran

    def track(self) -> None:
        self.tracks = True
        self.renew()

    def renew(self) -> None:
        """Memory is looked at anew, and so is what the user wants of floating-point errors."""
        self.age += 1
        self.memory = Memory()
        self.look_at_errors()
