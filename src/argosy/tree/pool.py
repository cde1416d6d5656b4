"""The threads that run expressions: a queue of what is ready, and threads that sleep when it is empty.

One pool serves all futurized functions of a process. It is made at the first need and made anew after a fork. The
thread that calls a futurized function works too while it waits, so the pool has one thread less than there are cores.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

Job = Callable[[], None]

_SLICE_SECONDS = 0.2


class Bell:
    """Wakes one sleeping thread. Rung before it sleeps, or twice, it wakes it once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def ring(self) -> None:
        with suppress(RuntimeError):  # it was rung already
            self._lock.release()

    def wait(self) -> None:
        if threading.current_thread() is threading.main_thread():
            while not self._lock.acquire(timeout=_SLICE_SECONDS):
                pass  # Ctrl-C that came just before it slept is heard now
        else:
            self._lock.acquire()


class Pool:
    """A job is called once, by some thread; it must not raise."""

    def __init__(self, num_threads: int) -> None:
        self.num_threads = num_threads
        self.ready: deque[Job] = deque()
        self.short: deque[Job] = deque()
        """Jobs that are over before a thread could be woken for them."""
        self._asleep: deque[Bell] = deque()
        self._helpers: deque[Bell] = deque()
        """Of threads that wait for something of their own, and may help meanwhile."""
        self._lock = threading.Lock()
        self._started = 0
        self._busy = 0

    def push(self, job: Job, wake: bool = True) -> None:
        if wake:
            self.ready.append(job)
            self.wake()
        else:
            self.short.append(job)

    def wake(self) -> None:
        """Let one sleeping thread look at the queue."""
        try:
            self._asleep.popleft().ring()
        except IndexError:
            if self._started < self.num_threads:
                self._start_one()
            else:
                for bell in list(self._helpers):
                    bell.ring()

    def help(self) -> bool:
        """Do one job in this thread; False when there was none."""
        job = self._taken()
        if job is None:
            return False
        job()
        return True

    @property
    def needs_help(self) -> bool:
        """There is more to do than the threads of the pool will take at once, or something short."""
        return bool(self.short) or len(self.ready) > self.num_threads - self._busy

    def sleep(self, bell: Bell, unless: Callable[[], bool]) -> None:
        """Until the bell rings: for jobs that no thread of the pool has time for, or by whoever knows it."""
        self._helpers.append(bell)
        try:
            if not unless():
                bell.wait()
        finally:
            self._helpers.remove(bell)

    def beside(self, job: Job) -> None:
        """Do a job that will mostly wait, in a thread of its own."""
        threading.Thread(target=job, name="argosy-waits", daemon=True).start()

    def _taken(self) -> Job | None:
        for queue in (self.short, self.ready):
            try:
                return queue.popleft()
            except IndexError:
                continue
        return None

    def _start_one(self) -> None:
        with self._lock:
            if self._started >= self.num_threads:
                return
            self._started += 1
        threading.Thread(target=self._work, name=f"argosy-tree-{self._started}", daemon=True).start()

    def _work(self) -> None:
        bell = Bell()
        while True:
            job = self._taken()
            if job is None:
                self._asleep.append(bell)
                if not self.ready:
                    bell.wait()
                with suppress(ValueError):  # it was taken out to be rung
                    self._asleep.remove(bell)
                continue
            with self._lock:
                self._busy += 1
            job()
            del job  # or what it holds would live until the next one
            with self._lock:
                self._busy -= 1


_POOLS: dict[int, Pool] = {}
_POOLS_LOCK = threading.Lock()


def num_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def pool_of(num_threads: int | None) -> Pool:
    """The pool for so many threads in all, the caller's included."""
    wanted = max(0, (num_threads or num_cores()) - 1)
    pool = _POOLS.get(wanted)
    if pool is None:
        with _POOLS_LOCK:
            pool = _POOLS.setdefault(wanted, Pool(wanted))
    return pool


def _after_fork() -> None:
    global _POOLS_LOCK
    _POOLS_LOCK = threading.Lock()
    _POOLS.clear()


os.register_at_fork(after_in_child=_after_fork)
