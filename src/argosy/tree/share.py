"""Parts of one expression, worked on by all threads that have time; the thread that asks works too."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from time import perf_counter, thread_time
from typing import Any

from argosy.tree.inside import here
from argosy.tree.pool import Pool
from argosy.tree.stops import Stops
from argosy.tree.warned import forget, hear, show

_MOST_BESIDE = 256
"""Parts that wait at the same time."""


class Shared:
    """`work(part)` for every part, each once; `messages` are the warnings, by part."""

    def __init__(self, num_parts: int, work: Callable[[int], None]) -> None:
        self._work = work
        self._told = here.parts
        self._stops = Stops(here.stops)
        self._num_parts = num_parts
        self._next = 0
        self._busy = 0
        self._helped = 0.0
        """Processor time of the other threads: they may have waited for the interpreter, which nobody gains by."""
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._messages: dict[int, list[Any]] = {}
        self.error: BaseException | None = None

    def run(self, pool: Pool, beside: bool = False) -> None:
        """Returns when nobody works on a part any more. Warnings are shown in the order of the parts, or
        forgotten if one of them failed. `beside`: parts mostly wait, so each has a thread of its own."""
        most, start = (_MOST_BESIDE, pool.beside) if beside else (pool.num_threads, pool.push)
        for _ in range(min(most, self._num_parts - 1)):
            context = contextvars.copy_context()
            start(lambda context=context: context.run(self._help))  # type: ignore[misc]
        self._take_parts(helps=False)
        ended = perf_counter()
        with self._lock:
            alone = self._busy == 0
        while not alone:
            try:
                alone = self._over.wait()
            except BaseException as error:  # Ctrl-C: others still work on what would be put back
                self._failed(error)
        here.helped += self._helped - (perf_counter() - ended)
        if self.error is not None and not isinstance(self.error, Exception):
            raise self.error
        for part in sorted(self._messages):
            if self.error is not None:
                forget(self._messages[part])
                continue
            for message in self._messages[part]:
                show(message)

    def _failed(self, error: BaseException) -> None:
        """The first one counts, but for one that ends everything; then nobody works on."""
        if self.error is None or isinstance(self.error, Exception):
            self.error = error
        if not isinstance(error, Exception):
            self._stops.stop()

    def _help(self) -> None:
        inside, here.expression = here.expression, True
        try:
            self._take_parts(helps=True)
        finally:
            here.expression = inside

    def _take_parts(self, helps: bool) -> None:
        while True:
            with self._lock:
                part = self._next
                if part >= self._num_parts or self.error is not None:
                    return
                self._next += 1
                self._busy += 1
            started, processor = perf_counter(), thread_time() if helps else 0.0
            messages: list[Any] = []
            before = hear(messages)
            try:
                self._stops.run(self._work, part)
            except BaseException as error:
                self._failed(error)
            hear(before)
            if messages:
                self._messages[part] = messages
            ended = perf_counter()
            if self._told is not None:
                self._told.append((threading.get_ident(), started, ended))
            spent = thread_time() - processor if helps else 0.0
            with self._lock:
                self._helped += spent
                self._busy -= 1
                last = self._busy == 0 and (self._next >= self._num_parts or self.error is not None)
            if last:
                self._over.set()
