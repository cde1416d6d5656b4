"""Threads that run what is ready, and sleep when nothing is."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from argosy.tree.pool import Pool, num_cores, pool_of

PATIENCE_SECONDS = 30


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(1e-3)


def meet(pool: Pool, num_threads: int) -> set[int]:
    """The threads that come together when each of so many jobs waits for all others."""
    barrier = threading.Barrier(num_threads + 1)
    seen: set[int] = set()

    def job() -> None:
        seen.add(threading.get_ident())
        barrier.wait(PATIENCE_SECONDS)

    for _ in range(num_threads):
        pool.push(job)
    barrier.wait(PATIENCE_SECONDS)
    return seen


def test_every_job_runs_once() -> None:
    pool = Pool(3)
    done: list[int] = []
    for number in range(2000):
        pool.push(lambda number=number: done.append(number))  # type: ignore[misc]
    until(lambda: len(done) >= 2000 and not pool.ready)
    assert sorted(done) == list(range(2000))


def test_no_thread_and_no_ring_is_lost_however_often_they_fall_asleep() -> None:
    pool = Pool(3)
    first = meet(pool, 3)
    assert len(first) == 3
    for _ in range(200):
        assert meet(pool, 3) == first


def test_jobs_that_come_while_threads_lie_down_are_done() -> None:
    """One at a time, each when the one before has ended: the queue is empty and the threads about to sleep."""
    pool = Pool(2)
    ran = threading.Semaphore(0)
    for _ in range(2000):
        pool.push(lambda: ran.release())
        assert ran.acquire(timeout=PATIENCE_SECONDS)


def test_threads_that_have_nothing_to_do_are_asleep() -> None:
    pool = Pool(3)
    meet(pool, 3)
    until(lambda: len(pool._asleep) == 3)
    pool.push(lambda: None)
    until(lambda: not pool.ready and len(pool._asleep) == 3)


def test_no_thread_is_started_before_it_is_needed_nor_more_than_there_may_be() -> None:
    before = threading.active_count()
    pool = Pool(2)
    assert threading.active_count() == before
    ran: list[int] = []
    for _ in range(100):
        pool.push(lambda: ran.append(1))
    until(lambda: len(ran) == 100)
    assert before < threading.active_count() <= before + 2


def test_a_job_that_nobody_was_woken_for_is_there_for_who_helps() -> None:
    pool = Pool(1)
    meet(pool, 1)
    until(lambda: len(pool._asleep) == 1)
    ran: list[int] = []
    pool.push(lambda: ran.append(threading.get_ident()), wake=False)
    assert pool.help()
    assert ran == [threading.get_ident()]
    assert not pool.help()


def test_a_pool_without_threads_leaves_all_to_the_caller() -> None:
    pool = Pool(0)
    ran: list[int] = []
    pool.push(lambda: ran.append(1))
    assert ran == []
    assert pool.help()
    assert ran == [1]


def test_a_job_that_waits_does_not_take_a_thread_of_the_pool() -> None:
    pool = Pool(1)
    go = threading.Event()
    arrived = threading.Barrier(5)

    def wait() -> None:
        arrived.wait(PATIENCE_SECONDS)
        go.wait(PATIENCE_SECONDS)

    for _ in range(4):
        pool.beside(wait)
    arrived.wait(PATIENCE_SECONDS)
    assert len(meet(pool, 1)) == 1
    go.set()


def test_functions_that_want_as_many_threads_share_them() -> None:
    assert pool_of(3) is pool_of(3)
    assert pool_of(3).num_threads == 2
    assert pool_of(1).num_threads == 0
    assert pool_of(None) is pool_of(num_cores())


@pytest.mark.parametrize("generations", [1, 2])
def test_a_forked_child_has_threads_of_its_own(generations: int) -> None:
    parents = pool_of(3)
    here = meet(parents, 2)
    assert _forked(generations) == (2, False)
    assert meet(parents, 2) == here


def _forked(generations: int) -> Any:
    """What a forked child, or its child, says of its pool: how many threads came together, and whether it is ours."""
    parents = pool_of(3)
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def child() -> None:
        pool = pool_of(3)
        told = _forked(generations - 1) if generations > 1 else (len(meet(pool, 2)), pool is parents)
        theirs.send(told)

    process = context.Process(target=child)
    process.start()
    assert ours.poll(PATIENCE_SECONDS)
    told = ours.recv()
    process.join(PATIENCE_SECONDS)
    assert process.exitcode == 0
    return told
