"""Tasks that are cancelled as one."""

from __future__ import annotations

import threading
import time
from concurrent.futures import CancelledError
from contextvars import copy_context

import pytest

import argosy
from argosy.pilot.together import Together


def test_what_is_submitted_inside_is_cancelled_and_what_is_submitted_outside_is_not(pilot: argosy.Pilot) -> None:
    together = Together()
    before = pilot.submit(abs, -1)
    inside = together.within(pilot.submit)(time.sleep, 1000)
    after = pilot.submit(abs, -2)
    together.cancel()
    with pytest.raises(CancelledError):
        inside.result()
    assert (before.result(), after.result()) == (1, 2)


def test_after_the_cancel_nothing_more_can_be_submitted_inside(pilot: argosy.Pilot) -> None:
    together = Together()
    together.cancel()
    with pytest.raises(CancelledError, match="abs was submitted by work that has been cancelled"):
        together.within(pilot.submit)(abs, -1)
    assert pilot.submit(abs, -1).result() == 1


def test_a_thread_in_a_copy_of_the_context_submits_to_the_same(pilot: argosy.Pilot) -> None:
    together = Together()
    futures: list[argosy.Future] = []
    context = together.within(copy_context)()
    thread = threading.Thread(target=context.run, args=(lambda: futures.append(pilot.submit(time.sleep, 1000)),))
    thread.start()
    thread.join()
    together.cancel()
    assert futures[0].cancelled()


def test_a_frame_that_is_persisted_inside_is_cancelled_with_the_rest(pilot: argosy.Pilot) -> None:
    together = Together()
    together.cancel()
    frame = argosy.from_pydict({"a": [1, 2, 3]})
    with pytest.raises(CancelledError):
        together.within(frame.persist)()
    assert len(frame.persist()) == 3


def test_several_threads_may_cancel_one_task(pilot: argosy.Pilot) -> None:
    future = pilot.submit(time.sleep, 1000)
    answers: list[bool] = []
    threads = [threading.Thread(target=lambda: answers.append(future.cancel())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 8
    assert future.cancel()


def test_a_frame_that_several_threads_persist_is_run_once(pilot: argosy.Pilot) -> None:
    frame = argosy.from_pydict({"a": list(range(1000))}).filter(argosy.col("a") > 10)
    kept: list[argosy.DataFrame] = []
    threads = [threading.Thread(target=lambda: kept.append(frame.persist())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(one.plan) for one in kept}) == 1
    assert len(kept[0]) == 989
