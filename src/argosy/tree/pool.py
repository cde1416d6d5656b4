"""The threads that run expressions: a queue of what is ready, and threads that sleep when it is empty.

One pool serves all futurized functions of a process. It is made at the first need and made anew after a fork. The
thread that calls a futurized function works too while it waits, so the pool has one thread less than there are cores.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

Job = Callable[[], None]


class Pool:
    """A job is called once, by some thread; it must not raise."""

    def __init__(self, num_threads: int) -> None:
        self.num_threads = num_threads
        self.ready: deque[Job] = deque()
        self._asleep: deque[Any] = deque()
        self._lock = threading.Lock()
        self._started = 0

    def push(self, job: Job, wake: bool = True) -> None:
        self.ready.append(job)
        if wake:
            self.wake()

    def wake(self) -> None:
        """Let one sleeping thread look at the queue."""
        try:
            self._asleep.popleft().release()
        except IndexError:
            if self._started < self.num_threads:
                self._start_one()

    def help(self) -> bool:
        """Do one job of the queue in this thread; False when there was none."""
        try:
            job = self.ready.popleft()
        except IndexError:
            return False
        job()
        return True

    def beside(self, job: Job) -> None:
        """Do a job that will mostly wait, in a thread of its own."""
        threading.Thread(target=job, name="argosy-waits", daemon=True).start()

    def _start_one(self) -> None:
        with self._lock:
            if self._started >= self.num_threads:
                return
            self._started += 1
        threading.Thread(target=self._work, name=f"argosy-tree-{self._started}", daemon=True).start()

    def _work(self) -> None:
        bell = threading.Lock()
        bell.acquire()
        while True:
            while self.help():
                continue
            self._asleep.append(bell)
            if self.ready:  # something came while this thread lay down: take the bell back, unless it rang
                try:
                    self._asleep.remove(bell)
                except ValueError:
                    bell.acquire()
                continue
            bell.acquire()


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
