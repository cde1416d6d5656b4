"""Functions whose calls are tasks."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import argosy
from argosy import units
from argosy.calls import Call
from argosy.errors import CannotPickle, NeedNotMet, PilotError
from argosy.tree.executor import current_executor, new_scope
from argosy.tree.task import task


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[argosy.Pilot]:
    """Four ranks, shared by the tests of this module that come after those without one."""
    with argosy.Pilot(ranks=4, folder=tmp_path_factory.mktemp("runs")) as shared:
        yield shared


def where(comm: Any) -> tuple[int, int]:
    return os.getpid(), comm.size


@task
def double(x: Any) -> Any:
    return 2 * x


@task(ranks=3)
def total(x: float, comm: Any) -> float:
    return float(comm.allreduce(x))


@task(ranks=4, keep=True)
def pieces(size: int, comm: Any) -> Any:
    return np.full(size, comm.rank)


@task(ranks=4)
def sum_of(piece: Any, comm: Any) -> int:
    return int(comm.allreduce(int(piece.sum())))


@task
def fails(_x: int) -> None:
    raise ZeroDivisionError("as it was told to")


@task
def sleeps(marker: Path) -> None:
    marker.touch()
    time.sleep(1000)


class Scale:
    def __init__(self, factor: int) -> None:
        self.factor = factor

    @task
    def of(self, x: int) -> int:
        return self.factor * x


# Without a pilot, which the first test that asks for one opens -------------------------------------------------------


def test_without_a_pilot_a_task_of_one_rank_runs_here() -> None:
    assert current_executor() is None
    assert double(4) == 8
    assert task(where)() == (os.getpid(), 1)


def test_without_a_pilot_a_task_says_what_it_needs_one_for() -> None:
    with pytest.raises(PilotError, match=r"total runs on 3 ranks, but no pilot is open; .* argosy.Pilot\(ranks=3\)"):
        total(1.0)
    with pytest.raises(PilotError, match="is submitted to a pilot, but no pilot is open"):
        double.submit(1)
    with pytest.raises(PilotError, match="leaves its value on the ranks of a pilot, but no"):
        task(keep=True)(where)()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ranks": 0}, "ranks must be a whole number of at least 1, not 0"),
        ({"gpus": 1.5}, "a whole number of them"),
        ({"cores": 0}, "cores must be a whole number of at least 1, not 0"),
        ({"timeout": 0}, "timeout must be a number of seconds above 0, not 0"),
        ({"retries": -1}, "retries must be a whole number of at least 0, not -1"),
        ({"memory": "a lot"}, "a lot"),
    ],
)
def test_options_that_make_no_sense_are_refused_where_the_function_is_written(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        task(**options)


def test_only_a_function_can_be_a_task() -> None:
    with pytest.raises(TypeError, match="above a function, not above 3"):
        task(3)  # type: ignore[call-overload]


def test_a_task_looks_like_its_function() -> None:
    assert double.__name__ == "double"
    assert double.__wrapped__(2) == 4  # type: ignore[attr-defined]
    assert repr(double) == "<argosy.task double>"


def test_a_task_of_a_module_travels_by_name_and_another_one_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    named = task(units.parse_nbytes)
    assert isinstance(named.__reduce__(), tuple)  # the name leads to the function
    monkeypatch.setattr(units, "parse_nbytes", named)
    assert pickle.loads(pickle.dumps(named)) is named


# With one ------------------------------------------------------------------------------------------------------------


def test_a_call_waits_for_the_value_of_rank_0(pilot: argosy.Pilot) -> None:
    assert double(np.arange(3)).tolist() == [0, 2, 4]
    assert total(2.0) == 6.0
    pid, size = task(where)()
    assert pid != os.getpid()
    assert size == 1


def test_submit_gives_the_future_and_takes_futures(pilot: argosy.Pilot) -> None:
    first = double.submit(3)
    assert isinstance(first, argosy.Future)
    assert double.submit([first])
    assert double(first) == 12


def test_what_is_kept_stays_on_its_ranks_and_other_tasks_take_it(pilot: argosy.Pilot) -> None:
    kept = pieces(5)
    assert isinstance(kept, argosy.Future)
    assert kept.kept
    assert kept.done()
    assert sum_of(kept) == 5 * (0 + 1 + 2 + 3)
    inherits = task(lambda piece, comm: comm.allgather(len(piece)))
    assert inherits(kept) == [5, 5, 5, 5]


def test_a_task_that_takes_a_frame_gets_each_ranks_own_rows(pilot: argosy.Pilot) -> None:
    frame = argosy.from_pydict({"a": list(range(10))}).filter(argosy.col("a") > 1)
    rows = task(ranks=4)(lambda table, comm: comm.allreduce(table.num_rows))
    assert rows(frame) == 8


def test_an_argument_may_have_the_name_of_an_option(pilot: argosy.Pilot) -> None:
    @task(ranks=2, name="greeting")
    def greet(name: str, ranks: int, *, timeout: float, comm: Any) -> tuple[str, int, float, int]:
        return name, ranks, timeout, comm.size

    assert greet("a", ranks=7, timeout=0.5) == ("a", 7, 0.5, 2)
    assert greet.submit("a", ranks=7, timeout=0.5).name == "greeting"  # type: ignore[attr-defined]


def test_a_method_may_be_a_task(pilot: argosy.Pilot) -> None:
    assert Scale(3).of(5) == 15
    assert Scale(3).of.__argosy_call__ == Call(waits=True, shows_with=frozenset({"comm"}))


def test_a_task_may_call_itself(pilot: argosy.Pilot) -> None:
    """On its rank there is no pilot, so the inner calls stay there."""

    @task
    def factorial(n: int) -> int:
        return 1 if n < 2 else n * factorial(n - 1)

    assert factorial(5) == 120


def test_an_exception_comes_back_as_itself(pilot: argosy.Pilot) -> None:
    with pytest.raises(ZeroDivisionError, match="as it was told to"):
        fails(1)
    with pytest.raises(ZeroDivisionError, match="as it was told to"):
        task(keep=True)(fails.fn)(1)


def test_what_cannot_travel_is_named_as_the_user_knows_it(pilot: argosy.Pilot) -> None:
    with pytest.raises(CannotPickle, match=r"argument 0 \(lock\) of double cannot be pickled"):
        double(threading.Lock())


def test_more_ranks_than_there_are_is_an_error(pilot: argosy.Pilot) -> None:
    with pytest.raises(NeedNotMet, match="a task needs 5 ranks"):
        task(ranks=5)(where)()


def test_a_task_that_is_given_a_communicator_runs_here(pilot: argosy.Pilot) -> None:
    class Solo:
        size = 1

    assert task(where)(comm=Solo()) == (os.getpid(), 1)


def test_a_task_says_what_its_calls_do() -> None:
    assert double.__argosy_call__ == Call(waits=True, pure=True, shows_with=frozenset({"comm"}))
    assert not task(pure=False)(where).__argosy_call__.pure


def test_ctrl_c_ends_the_task_that_is_waited_for(pilot: argosy.Pilot, tmp_path: Path) -> None:
    marker = tmp_path / "runs"
    threading.Thread(target=interrupt_once_there_is, args=(marker,)).start()
    with pytest.raises(KeyboardInterrupt):
        sleeps(marker)
    assert task(ranks=4)(where)()[1] == 4  # all ranks are free again


def interrupt_once_there_is(marker: Path) -> None:
    while not marker.exists():
        time.sleep(0.01)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def test_tasks_of_a_scope_end_together_and_free_their_ranks(pilot: argosy.Pilot, tmp_path: Path) -> None:
    """Whoever waits may be in any thread: the main thread's Ctrl-C does not reach it there."""
    scope = new_scope()
    ended: list[int] = []

    def work() -> None:
        for _ in range(2):  # also what it submits afterwards is cancelled
            try:
                sleeps(tmp_path / "runs")
            except CancelledError:
                ended.append(1)

    threads = [threading.Thread(target=scope.within(work)) for _ in range(3)]
    for thread in threads:
        thread.start()
    while not (tmp_path / "runs").exists():
        time.sleep(0.01)
    scope.cancel()
    for thread in threads:
        thread.join()
    assert len(ended) == 6
    assert total(1.0) == 3.0  # nobody else is cancelled, and the ranks are free
