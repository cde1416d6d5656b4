"""The expressions of one call that are under way, and their end in program order.

Like the reorder buffer of a processor: expressions are issued in program order, run in any order that their inputs and
the memory they touch allow, and retire in program order. What fails surfaces when everything before it has ended well;
what ran after it is taken back. Only the thread that called the function issues and retires.
"""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from argosy.tree.executor import Scope, new_scope
from argosy.tree.expression import Expression, Version
from argosy.tree.inside import here
from argosy.tree.memory import Memory
from argosy.tree.pool import Pool
from argosy.tree.saved import save, save_global_generator
from argosy.tree.sites import with_site
from argosy.tree.states import DONE, FAILED, READY, RUNNING, SQUASHED, TRAPPED, WAITING
from argosy.tree.warned import forget, hear, show

_NEVER = 1 << 62
_MOST_UNDER_WAY = 512
_MOST_SECONDS = 0.25
"""How much estimated work lies ahead of the first unfinished expression, at most: it bounds what is kept in memory."""
_WORTH_WAKING = 15e-6
_TRAPPED_CLASSES = ("divide", "over", "under", "invalid")


class Failed(BaseException):
    """Carries the first exception in program order out of the walk."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        super().__init__(error)


class Flow:
    def __init__(
        self, pool: Pool, observe: Callable[[Expression], None] | None = None, *, remembers: bool = False
    ) -> None:
        self.pool = pool
        self.memory = Memory()
        self.age = 0
        self.observe = observe
        self.remembers = remembers
        """Versions still know who made them when that has ended."""
        self._lock = threading.Lock()
        self._order: deque[Expression] = deque()
        self._seq = 0
        self._failed_at = _NEVER
        self.failing = False
        """Something raised; whether that counts is known when all before it have ended."""
        self._job = self.execute
        self._asleep = False
        self._bell = threading.Lock()
        self._bell.acquire()
        self._seconds_ahead = 0.0
        self._contexts: dict[tuple[int, bool], contextvars.Context] = {}
        self._user_context = contextvars.copy_context()
        self._traps: dict[str, Any] = {}
        self._scope: Scope | None = None
        """The tasks that its expressions have submitted."""
        self._user_hears_errors = False
        self.look_at_errors()

    # issuing

    def new(self, plan: Any, function: Callable[..., Any], inputs: list[Version]) -> Expression:
        self._seq += 1
        return Expression(self._seq, plan, function, inputs)

    def issue(self, expression: Expression, before: Iterable[Expression], in_place: bool) -> None:
        """Run it when all of `before` have ended: now and here if it may, else by whoever has time."""
        self._order.append(expression)
        if expression.waits and self._scope is None:
            self._scope = new_scope()
        if self._scope is not None and expression.waits:
            expression.function = self._scope.within(expression.function)
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
                self._sleep_until(lambda: self._front_needs_me() or bool(self.pool.ready))

    def _hand_out(self, expression: Expression) -> None:
        if expression.waits:
            self.pool.beside(partial(self.execute, expression))
        else:
            worth = expression.estimate is None or expression.estimate >= _WORTH_WAKING
            self.pool.push(partial(self._job, expression), worth)

    # running, in any thread

    def execute(self, expression: Expression) -> None:
        """Run it, and what becomes ready by it one after another."""
        self._context(False).run(self._execute, expression)

    def _execute(self, expression: Expression | None) -> None:
        messages: list[Any] = []
        before, inside = hear(messages), here.expression
        here.expression = True
        thread = threading.get_ident()
        while expression is not None:
            if expression.seq > self._failed_at or expression.state != READY:
                self._end(expression, SQUASHED)
                break
            expression.state = RUNNING
            expression.thread = thread
            expression.started = perf_counter()
            state = self._run(expression)
            expression.ended = perf_counter()
            if messages:
                expression.warnings = messages.copy()
                messages.clear()
            expression = self._end(expression, state)
            if expression is None:
                expression = self._another_short_one()
        here.expression = inside
        hear(before)

    def _another_short_one(self) -> Expression | None:
        """The next in the queue if it is one of ours that is over at once: it saves the way in and out."""
        ready = self.pool.ready
        try:
            job: Any = ready.popleft()
        except IndexError:
            return None
        if type(job) is partial and job.func is self._job:
            expression: Expression = job.args[0]
            if expression.estimate is not None and expression.estimate < _WORTH_WAKING:
                return expression
        ready.appendleft(job)
        return None

    def _run(self, expression: Expression) -> int:
        values = [version.value for version in expression.inputs]
        in_turn = False
        try:
            if expression.saves or expression.plan.effects.states:
                in_turn = self._is_in_turn(expression)
                if not in_turn:
                    self._keep(expression)
            function = expression.function
            result = self._context(True).run(function, *values) if in_turn else function(*values)
        except FloatingPointError as error:
            if not in_turn:
                return TRAPPED
            expression.error = error
            return FAILED
        except BaseException as error:
            expression.error = error
            return FAILED
        self._deliver(expression, result)
        return DONE

    def _is_in_turn(self, expression: Expression) -> bool:
        """All before it have ended well: nothing can come that would have to take it back."""
        if self._user_hears_errors:
            return False
        try:
            for other in self._order:
                if other is expression:
                    return True
                if other.state != DONE:
                    return False
        except RuntimeError:  # the caller's thread has issued or retired something meanwhile
            return False
        return False

    def _keep(self, expression: Expression) -> None:
        """What it will overwrite."""
        for version, index, boxes_only in expression.saves:
            expression.saved = [*expression.saved, *save(version.value, index, boxes_only)]
        if expression.plan.effects.states:
            expression.saved = [*expression.saved, save_global_generator()]

    def _deliver(self, expression: Expression, result: Any) -> None:
        outs = expression.outs
        if len(outs) == 1:
            outs[0].value = result
        else:
            for version, value in zip(outs, result or (), strict=True):
                version.value = value

    def _context(self, in_turn: bool) -> contextvars.Context:
        """A copy of the caller's context for this thread; out of turn, floating-point errors raise in it."""
        key = (threading.get_ident(), in_turn)
        context = self._contexts.get(key)
        if context is None:
            context = self._user_context.copy()
            if not in_turn:
                context.run(np.seterr, **self._traps)
            self._contexts[key] = context
        return context

    def _end(self, expression: Expression, state: int) -> Expression | None:
        """Tell who waits for it. Gives one expression that became ready, for this thread to go on with."""
        following: list[Expression] = []
        with self._lock:
            expression.state = state
            if state == DONE:
                expression.inputs = ()
                for other in expression.successors:
                    other.waiting -= 1
                    if other.waiting == 0 and other.state == WAITING:
                        other.state = READY
                        following.append(other)
                expression.successors = ()
            elif state == FAILED:
                self._failed_at = min(self._failed_at, expression.seq)
                self.failing = True
        if state == DONE:
            expression.plan.took(expression.ended - expression.started)
            if self.observe is not None:
                self.observe(expression)
            if not self.remembers:
                for version in expression.outs:  # or the values would live until the garbage is collected
                    version.maker = None
                expression.outs = ()
        first = None
        for other in following:
            if first is None and not other.waits:
                first = other
            else:
                self._hand_out(other)
        if self._asleep:
            self._ring()
        return first

    def _ring(self) -> None:
        with self._lock:
            ring, self._asleep = self._asleep, False
        if ring:
            self._bell.release()

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
        self._deliver(expression, result)
        following = self._end(expression, DONE)
        if following is not None:
            self._hand_out(following)

    def _fail(self, expression: Expression) -> None:
        error = expression.error
        assert error is not None
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
        for other in others:
            self._sleep_until(lambda other=other: other.state != RUNNING)  # type: ignore[misc]
        self._put_back(reversed(others))
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
        with self._lock:
            self._asleep = False
            self._bell = threading.Lock()
            self._bell.acquire()
        while self._order and self._order[0].state == DONE:
            self._order.popleft()
        front = self._order[0] if self._order and self._order[0].state in (FAILED, RUNNING) else None
        if front is not None:
            self._failed_at = front.seq
            self._end_tasks()
            self._sleep_until(lambda: front.state != RUNNING)
        self._take_back_after(front)

    # waiting, in the caller's thread only

    def wait_for(self, expression: Expression) -> None:
        """Work on what is ready until it has ended; raises Failed when something before it did."""
        while expression.state != DONE:
            self.retire()
            if expression.state == DONE:
                return
            if not self.pool.help():
                self._sleep_until(lambda: expression.state == DONE or self._front_needs_me() or bool(self.pool.ready))
        if self.failing:
            self.drain()

    def _front_needs_me(self) -> bool:
        front = self._order[0] if self._order else None
        return front is not None and front.state in (FAILED, TRAPPED, DONE)

    def drain(self) -> None:
        """Until all that was issued has ended and retired."""
        while self._order:
            self.retire()
            if not self._order:
                return
            if not self.pool.help():
                self._sleep_until(lambda: self._front_needs_me() or bool(self.pool.ready))

    def _sleep_until(self, condition: Callable[[], bool]) -> None:
        while True:
            with self._lock:
                if condition():
                    return
                self._asleep = True
            self._bell.acquire()

    @property
    def idle(self) -> bool:
        return not self._order

    # something opaque ran

    def renew(self) -> None:
        """Memory is looked at anew, and so is what the user wants of floating-point errors."""
        self.age += 1
        self.memory = Memory()
        self.look_at_errors()

    def look_at_errors(self) -> None:
        wanted: dict[str, str] = dict(np.geterr())  # type: ignore[arg-type]
        traps = {name: "ignore" if wanted[name] == "ignore" else "raise" for name in _TRAPPED_CLASSES}
        self._user_hears_errors = any(wanted[name] in ("call", "print", "log") for name in _TRAPPED_CLASSES)
        self._user_context = contextvars.copy_context()
        self._traps = traps
        self._contexts = {}
