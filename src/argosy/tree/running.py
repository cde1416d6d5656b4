"""How expressions of one call run, in whichever thread has time: in which context, and who goes on after them."""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from argosy.tree.contention import WORTH_SECONDS, Look
from argosy.tree.expression import Expression
from argosy.tree.inside import here
from argosy.tree.plan import Plan
from argosy.tree.pool import Bell, Pool
from argosy.tree.saved import save, save_global_generator
from argosy.tree.states import DONE, FAILED, READY, RUNNING, SQUASHED, TRAPPED, WAITING
from argosy.tree.stops import Stops
from argosy.tree.warned import hear

NEVER = 1 << 62
_WORTH_WAKING = 15e-6
_WORTH_STOPPING = 0.01
"""What is expected to take less ends by itself."""
_ERRORS = ("divide", "over", "under", "invalid")


class Running:
    def __init__(self, pool: Pool, observe: Callable[[Expression], None] | None, remembers: bool) -> None:
        self.pool = pool
        self.observe = observe
        self.remembers = remembers
        """Versions still know who made them when that has ended."""
        self.failing = False
        """Something raised; whether that counts is known when all before it have ended."""
        self._order: deque[Expression] = deque()
        """What was issued and has not retired, in program order."""
        self._failed_at = NEVER
        self.worked = 0.0
        """Seconds of all that has run well: about what plain Python would have taken for it."""
        self.given_up = 0.0
        """Seconds that were lost in loops that were then given up: it is over, so those around them go on."""
        self.times_given_up = 0
        self._asleep = False
        """The caller's thread sleeps, or is about to."""
        self._lock = threading.Lock()
        self._bell = Bell()
        self._job = self.execute
        self.stops = Stops()
        self.look_at_errors()

    def look_at_errors(self) -> None:
        """What the user wants of floating-point errors now."""
        wanted: dict[str, str] = dict(np.geterr())  # type: ignore[arg-type]
        self._traps: Any = {name: "ignore" if wanted[name] == "ignore" else "raise" for name in _ERRORS}
        self._user_hears_errors = any(wanted[name] in ("call", "print", "log") for name in _ERRORS)
        self._user_context = contextvars.copy_context()
        self._contexts: dict[tuple[int, bool], contextvars.Context] = {}

    def _hand_out(self, expression: Expression) -> None:
        if expression.waits:
            self.pool.beside(partial(self.execute, expression))
        else:
            estimate = expression.estimate
            self.pool.push(partial(self._job, expression), estimate is None or estimate >= _WORTH_WAKING)

    def execute(self, expression: Expression) -> None:
        """Run it, and what becomes ready by it one after another."""
        self._context(False).run(self._execute, expression)

    def _execute(self, expression: Expression | None) -> None:
        messages: list[Any] = []
        before, inside, stops = hear(messages), here.expression, here.stops
        here.expression, here.stops = True, self.stops
        try:
            while expression is not None:
                if expression.seq > self._failed_at or expression.state != READY:
                    self._end(expression, SQUASHED)
                    break
                state = self._run(expression)
                if messages:
                    expression.warnings = messages.copy()
                    messages.clear()
                expression = self._end(expression, state) or self._another_short_one()
        finally:
            here.expression, here.stops = inside, stops
            hear(before)

    def _run(self, expression: Expression) -> int:
        """How it ended. Never raises: Ctrl-C between two steps of ours is an error of the expression."""
        in_turn = False
        try:
            expression.state = RUNNING
            expression.thread = threading.get_ident()
            estimate = expression.estimate
            look = Look() if estimate is None or estimate > WORTH_SECONDS else None
            expression.started = perf_counter()
            if expression.writes:
                in_turn = self._is_in_turn(expression) or self._keep(expression)
                expression.started = perf_counter()  # plain Python keeps nothing
            function, values = expression.function, [version.value for version in expression.inputs]
            helped = here.helped
            run = self.stops.run if estimate is None or estimate > _WORTH_STOPPING else _at_once
            result = self._context(True).run(run, function, *values) if in_turn else run(function, *values)
            deliver(expression, result)
            state = DONE
            expression.helped = here.helped - helped
            if look is not None and look.held_up():
                expression.plan.was_held_up()
        except BaseException as error:
            state = TRAPPED if isinstance(error, FloatingPointError) and not in_turn else FAILED
            expression.error = error if state == FAILED else None
        expression.ended = perf_counter()
        return state

    def _keep(self, expression: Expression) -> bool:
        """What it will overwrite. Gives False: it is not its turn."""
        for version, index, boxes_only in expression.saves:
            expression.saved = [*expression.saved, *save(version.value, index, boxes_only)]
        if expression.plan.effects.states:
            expression.saved = [*expression.saved, save_global_generator()]
        return False

    def _another_short_one(self) -> Expression | None:
        """The next that is over at once, if it is one of ours: it saves the way in and out."""
        try:
            job: Any = self.pool.short.popleft()
        except IndexError:
            return None
        if type(job) is partial and job.func is self._job:
            expression: Expression = job.args[0]
            return expression
        self.pool.short.appendleft(job)
        return None

    def _is_in_turn(self, expression: Expression) -> bool:
        """All before it have ended well: nothing can come that would take back what it writes."""
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
        following: Any = ()
        with self._lock:
            expression.state = state
            if state == DONE:
                self.worked += expression.ended - expression.started + expression.helped
            if state == DONE and expression.successors:
                following = []
                for other in expression.successors:
                    other.waiting -= 1
                    if other.waiting == 0 and other.state == WAITING:
                        other.state = READY
                        following.append(other)
            elif state == FAILED:
                self._failed_at = min(self._failed_at, expression.seq)
                self.failing = True
        if state == DONE:
            expression.inputs = expression.successors = ()
            plan: Plan = expression.plan
            plan.took(expression.ended - expression.started)
            if self.observe is not None:
                self.observe(expression)
            if not self.remembers:
                for version in expression.outs:  # or the values would live until the garbage is collected
                    version.maker = None
                expression.outs = ()
        first: Expression | None = None
        for other in following:
            if first is None and not other.waits:
                first = other
            else:
                self._hand_out(other)
        if self._asleep:
            self._bell.ring()
        return first


def _at_once(function: Callable[..., Any], *values: Any) -> Any:
    return function(*values)


def deliver(expression: Expression, result: Any) -> None:
    outs = expression.outs
    if len(outs) == 1:
        outs[0].value = result
    else:
        for version, value in zip(outs, result or (), strict=True):
            version.value = value
