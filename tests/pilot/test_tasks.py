from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import os
import threading
import time
from typing import Any

import pytest

import argosy
from argosy.errors import CannotPickle, InputFailed, NeedNotMet, RemoteTraceback, TaskExited
from argosy.pilot.task import State


def test_result_is_what_rank_0_returned_and_results_what_every_rank_did(pilot: argosy.Pilot) -> None:
    future = pilot.submit(lambda comm: comm.rank * 10, ranks=3)
    assert future.result() == 0
    assert future.results() == [0, 10, 20]
    assert future.state is State.DONE


def test_a_task_gets_a_real_communicator_of_its_own_ranks_only(pilot: argosy.Pilot) -> None:
    def look(comm: Any) -> tuple[str, int, int]:
        return type(comm).__module__ + "." + type(comm).__name__, comm.size, comm.allreduce(comm.rank)

    assert pilot.submit(look, ranks=2).results() == [("mpi4py.MPI.Intracomm", 2, 1)] * 2
    assert pilot.submit(look, ranks=1).result() == ("mpi4py.MPI.Intracomm", 1, 0)


def test_tasks_on_different_ranks_run_at_the_same_time(pilot: argosy.Pilot, tmp_path: Any) -> None:
    def write_and_wait(mine: str, other: str) -> bool:
        (tmp_path / mine).touch()
        deadline = time.monotonic() + 20
        while not (tmp_path / other).exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        return (tmp_path / other).exists()

    first = pilot.submit(write_and_wait, "a", "b", ranks=2)
    second = pilot.submit(write_and_wait, "b", "a", ranks=2)
    assert first.results() + second.results() == [True] * 4


def test_closures_partials_bound_methods_and_builtins_work(pilot: argosy.Pilot) -> None:
    base = 5

    class Adder:
        def __init__(self, amount: int) -> None:
            self.amount = amount

        def add(self, number: int) -> int:
            return self.amount + number

    assert pilot.submit(lambda: base + 1).result() == 6
    assert pilot.submit(functools.partial(pow, 2), 5).result() == 32
    assert pilot.submit(Adder(3).add, 4).result() == 7
    assert pilot.submit(sum, [1, 2, 3]).result() == 6


def test_a_function_that_changes_between_two_submits_is_sent_as_it_is(pilot: argosy.Pilot) -> None:
    namespace: dict[str, Any] = {"factor": 2}
    exec("def scale(x):\n    return factor * x\ndef fixed(x):\n    return 10 * x", namespace)
    assert pilot.submit(namespace["scale"], 3).result() == 6
    namespace["factor"] = 7
    assert pilot.submit(namespace["scale"], 3).result() == 21
    assert [pilot.submit(namespace["fixed"], x).result() for x in (1, 2)] == [10, 20]


def test_a_future_among_the_arguments_is_replaced_by_its_result_at_any_depth(pilot: argosy.Pilot) -> None:
    one, two = pilot.submit(lambda: 1), pilot.submit(lambda: 2)

    def take(plain: int, nested: dict[str, list[int]], *, key: int) -> list[int]:
        return [plain, *nested["values"], key]

    assert pilot.submit(take, one, {"values": [two, 9]}, key=one).result() == [1, 2, 9, 1]


def test_map_yields_results_in_the_order_of_the_items(pilot: argosy.Pilot) -> None:
    assert list(pilot.map(lambda x: x * x, range(40))) == [x * x for x in range(40)]
    assert list(pilot.map(lambda x, comm: comm.allreduce(x), [1, 2], ranks=2)) == [2, 4]


def test_map_refuses_an_option_it_does_not_know(pilot: argosy.Pilot) -> None:
    with pytest.raises(TypeError, match="timeouts"):
        pilot.map(abs, [1], timeouts=3)


def test_an_exception_comes_back_as_itself_with_the_remote_traceback_as_its_cause(pilot: argosy.Pilot) -> None:
    def fail(comm: Any) -> None:
        if comm.rank == 1:
            raise KeyError("the reason")
        comm.barrier()  # its peers wait for it here

    future = pilot.submit(fail, ranks=3)
    with pytest.raises(KeyError, match="the reason") as caught:
        future.result()
    cause = caught.value.__cause__
    assert isinstance(cause, RemoteTraceback)
    assert cause.rank in range(4)
    assert "the reason" in str(cause)
    assert "in fail" in str(cause)
    assert future.state is State.FAILED


def test_an_exception_that_cannot_travel_is_told_in_words(pilot: argosy.Pilot) -> None:
    def fail() -> None:
        class Odd(Exception):
            def __init__(self, one: int, two: int) -> None:
                super().__init__("odd")

        raise Odd(1, 2)

    with pytest.raises(argosy.errors.TaskFailed, match="Odd: odd"):
        pilot.submit(fail).result()


def test_sys_exit_ends_the_task_and_not_the_rank(pilot: argosy.Pilot) -> None:
    pids = set(pilot.submit(lambda comm: os.getpid(), ranks=4).results())
    with pytest.raises(TaskExited, match=r"sys.exit\(3\)"):
        pilot.submit(lambda: exec("import sys; sys.exit(3)")).result()
    assert set(pilot.submit(lambda comm: os.getpid(), ranks=4).results()) == pids


def test_what_cannot_be_pickled_is_named(pilot: argosy.Pilot) -> None:
    lock = threading.Lock()
    with pytest.raises(CannotPickle, match="argument 1"):
        pilot.submit(print, 0, lock)
    with pytest.raises(CannotPickle, match="argument 'key'"):
        pilot.submit(dict, key=lock)
    with pytest.raises(CannotPickle, match=r"the function .*<lambda>"):
        pilot.submit(lambda: lock)
    with pytest.raises(CannotPickle, match="result, of type lock"):
        pilot.submit(lambda: threading.Lock()).result()


@pytest.mark.parametrize(
    ("need", "words"),
    [
        ({"ranks": 5}, r"needs 5 ranks, but this pilot has 4 ranks"),
        ({"gpus": 9999}, r"needs 9999 GPUs for one rank, but this pilot has (none|at most \d+)"),
        ({"memory": "100TiB"}, r"needs 100\.0 TiB of memory for one rank, but this pilot has at most [\d.]+ [GT]iB"),
        ({"cores": 1000}, r"needs 1000 cores for one rank, but this pilot has at most \d+ on a node"),
    ],
)
def test_more_than_there_is_fails_at_once_and_says_what_there_is(
    pilot: argosy.Pilot, need: dict[str, Any], words: str
) -> None:
    with pytest.raises(NeedNotMet, match=words):
        pilot.submit(print, **need)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"ranks": 0}, "ranks must be .* at least 1, not 0"),
        ({"gpus": 1.5}, "gpus must be .* not 1.5"),
        ({"cores": 0}, "cores must be .* at least 1, not 0"),
        ({"timeout": 0}, "timeout must be .* above 0, not 0"),
        ({"retries": -1}, "retries must be .* at least 0, not -1"),
        ({"memory": "much"}, "memory is not an amount of memory: 'much'"),
    ],
)
def test_a_need_that_makes_no_sense_is_refused_by_name(pilot: argosy.Pilot, wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        pilot.submit(print, **wrong)


def test_a_task_whose_input_failed_says_which_and_why(pilot: argosy.Pilot) -> None:
    bad = pilot.submit(lambda: 1 // 0, name="divide")
    with pytest.raises(InputFailed, match=f"task {bad.id}") as caught:
        pilot.submit(abs, bad).result()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_retries_run_a_failing_task_again(pilot: argosy.Pilot, marker: Any) -> None:
    def flaky() -> str:
        if not marker.exists():
            marker.touch()
            raise OSError("not yet")
        return "done"

    assert pilot.submit(flaky, retries=1).result() == "done"
    marker.unlink()
    with pytest.raises(OSError, match="not yet"):
        pilot.submit(flaky).result()


def test_higher_priority_goes_first(pilot: argosy.Pilot, tmp_path: Any) -> None:
    order = tmp_path / "order"

    def note(name: str) -> None:
        with order.open("a") as file:
            file.write(name)

    blocker = pilot.submit(lambda comm: time.sleep(0.3), ranks=4)
    futures = [pilot.submit(note, "b", ranks=1, cores=4), pilot.submit(note, "a", ranks=1, cores=4, priority=5)]
    concurrent.futures.wait([blocker, *futures], timeout=20)
    assert order.read_text() == "ab"


def test_the_standard_library_can_wait_for_our_futures(pilot: argosy.Pilot) -> None:
    futures = [pilot.submit(lambda x=x: x) for x in range(5)]
    assert {future.result() for future in concurrent.futures.as_completed(futures, timeout=20)} == set(range(5))

    async def inside() -> int:
        return int(await asyncio.wrap_future(pilot.submit(lambda: 11)))

    assert asyncio.run(inside()) == 11


def test_a_task_that_prints_much_loses_nothing(pilot: argosy.Pilot) -> None:
    def shout() -> int:
        for _ in range(2000):
            print("x" * 9999)
        return os.getpid()

    pilot.submit(shout).result()
    logs = list((pilot.folder / "ranks").glob("*.log"))
    assert sum(path.stat().st_size for path in logs) >= 2000 * 10_000


def test_a_task_may_leave_threads_and_communicators_behind(pilot: argosy.Pilot) -> None:
    def untidy(comm: Any) -> int:
        threading.Thread(target=time.sleep, args=(1,), daemon=True).start()
        return int(comm.Dup().allreduce(1))

    def frees_its_own(comm: Any) -> int:
        total = comm.allreduce(1)
        comm.Free()
        return int(total)

    assert pilot.submit(untidy, ranks=3).results() == [3, 3, 3]
    assert pilot.submit(frees_its_own, ranks=3).results() == [3, 3, 3]
    assert pilot.submit(untidy, ranks=4).results() == [4, 4, 4, 4]


def test_large_arguments_and_results_arrive_whole(pilot: argosy.Pilot) -> None:
    import numpy as np

    data = np.arange(4_000_000)
    future = pilot.submit(lambda array: array[::-1].copy(), data)
    assert (pilot.submit(lambda array: array[::-1].copy(), future).result() == data).all()


def test_two_pilots_live_side_by_side(pilot: argosy.Pilot) -> None:
    with argosy.Pilot(ranks=1) as other:
        theirs = other.submit(os.getpid)
        assert theirs.result() not in pilot.submit(lambda comm: os.getpid(), ranks=4).results()
        with pytest.raises(CannotPickle, match="another pilot"):
            pilot.submit(abs, theirs)
    with pytest.raises(argosy.errors.PilotClosed):
        other.submit(os.getpid)
