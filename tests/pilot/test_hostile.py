"""What comes from a task, a socket or a callback ends its own Future at most, never the pilot."""

from __future__ import annotations

import concurrent.futures
import gc
import os
import pickle
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import zmq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import argosy
from argosy.errors import CannotPickle, PilotClosed, RankLost, TaskExited, TaskFailed
from argosy.pilot import folder as run_folder
from argosy.pilot import wire
from argosy.pilot.cargo import Failure, pack_failure
from argosy.pilot.controller import Controller
from argosy.pilot.crew import Crew


def only_here(raising: type[BaseException]) -> None:
    """Raises in the process of the tests, not in that of a task."""
    if os.environ.get("PYTEST_CURRENT_TEST"):
        raise raising("not here")


METHODS = ["__str__", "__repr__", "__reduce__", "__reduce_ex__", "__setattr__", "__class__"]


class Mute(Exception):
    def __str__(self) -> str:
        raise OSError("no words")

    __repr__ = __str__


class Leaves(Exception):
    def __str__(self) -> str:
        raise SystemExit("the words leave")


class Rigid(Exception):
    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} cannot be set")


class NotPacked(Exception):
    def __reduce__(self) -> Any:
        raise SystemExit("packing leaves")


class NotUnpacked(Exception):
    def __reduce__(self) -> Any:
        return only_here, (SystemExit,)


class Impostor(Exception):
    """Unpickled it is no exception at all."""

    def __reduce__(self) -> Any:
        return str, ("I am a text",)


class Impostor2(Exception):
    def with_traceback(self, _: object) -> Any:
        return "I am a text"


class Slow(Exception):
    def __reduce__(self) -> Any:
        return slowly, ()


def slowly() -> Exception:
    if os.environ.get("PYTEST_CURRENT_TEST"):
        time.sleep(0.4)
    return Slow("here at last")


def throw(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize(
    ("kind", "arrives_as"),
    [
        (Mute, Mute),
        (Leaves, Leaves),
        (Rigid, Rigid),
        (NotPacked, TaskFailed),
        (NotUnpacked, TaskFailed),
        (Impostor, TaskFailed),
        (Impostor2, Impostor2),
        (SystemExit, TaskExited),
        (KeyboardInterrupt, KeyboardInterrupt),
        (GeneratorExit, GeneratorExit),
    ],
)
def test_any_exception_of_a_task_ends_its_future_alone(
    pilot: argosy.Pilot, kind: type[BaseException], arrives_as: type[BaseException]
) -> None:
    before = pilot.submit(os.getpid).result(timeout=20)
    name = kind.__name__
    future = pilot.submit(lambda: throw(getattr(sys.modules["builtins"], name, None) or kind("x")))
    error = future.exception(timeout=20)
    assert type(error) is arrives_as
    assert type(error.__cause__) is argosy.errors.RemoteTraceback
    assert "throw" in str(error.__cause__)
    with pytest.raises(arrives_as):
        future.result()
    follower = pilot.submit(str, future).exception(timeout=20)
    assert isinstance(follower, argosy.errors.InputFailed)
    assert follower.__cause__ is error
    assert pilot.submit(os.getpid).result(timeout=20) == before


def fail_in_a_circle() -> None:
    error = ValueError("its own cause")
    error.__cause__ = error
    raise error


def test_an_exception_that_is_its_own_cause_arrives(pilot: argosy.Pilot) -> None:
    assert str(pilot.submit(fail_in_a_circle).exception(timeout=20)) == "its own cause"


def test_a_task_that_asks_for_input_hears_that_there_is_none(pilot: argosy.Pilot) -> None:
    futures = [pilot.submit(input) for _ in range(4)]
    assert [type(future.exception(timeout=20)) for future in futures] == [EOFError] * 4


def test_an_exception_that_takes_long_to_unpickle_keeps_only_those_waiting_who_ask(pilot: argosy.Pilot) -> None:
    slow = pilot.submit(lambda: throw(Slow()))
    concurrent.futures.wait([slow], timeout=20)
    asked = threading.Thread(target=slow.exception)
    asked.start()
    assert [pilot.submit(abs, -n).result(timeout=20) for n in range(5)] == list(range(5))
    assert asked.is_alive()
    asked.join()


@given(st.lists(st.sampled_from(METHODS)), st.data())
@settings(max_examples=60)
def test_a_failure_can_be_packed_and_opened_whatever_its_methods_do(names: list[str], data: st.DataObject) -> None:
    outcomes = st.sampled_from([SystemExit, ValueError, KeyboardInterrupt, RecursionError, None, 5])

    def does(outcome: Any) -> Any:
        def method(*_: object) -> Any:
            if isinstance(outcome, type):
                raise outcome
            return outcome

        return property(method)

    methods: dict[str, Any] = {}
    for name in names:
        outcome = data.draw(outcomes)
        methods[name] = does(outcome) if name == "__class__" else does(outcome).fget
    failure = Failure(pack_failure(type("Odd", (Exception,), methods)("x"), 3, "node"))
    assert isinstance(failure.said, str)
    error = failure.open()
    assert BaseException in type(error).__mro__
    assert failure.open() is error


class NotOpened:
    """A result that can be pickled, but not unpickled in the process of the tests."""

    def __init__(self, raising: type[BaseException]) -> None:
        self.raising = raising

    def __reduce__(self) -> Any:
        return only_here, (self.raising,)


@pytest.mark.parametrize("raising", [ValueError, SystemExit, Mute])
def test_a_result_that_cannot_be_unpickled_says_so_wherever_it_is_asked_for(
    pilot: argosy.Pilot, raising: type[BaseException]
) -> None:
    future = pilot.submit(NotOpened, raising)
    for _ in range(2):
        with pytest.raises(CannotPickle, match="result cannot be unpickled here"):
            future.result(timeout=20)
    assert pilot.submit(lambda: "still here").result(timeout=20) == "still here"


@pytest.mark.parametrize("raising", [ValueError, SystemExit, KeyboardInterrupt])
def test_a_callback_that_raises_costs_nobody_anything(
    pilot: argosy.Pilot, raising: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    called = threading.Semaphore(0)

    def callback(_: Any) -> None:
        called.release()
        raise raising("in a callback")

    futures = [pilot.submit(time.sleep, 0.05) for _ in range(8)]
    for future in futures:
        future.add_done_callback(callback)
        future.add_done_callback(lambda _: called.release())
    for _ in range(16):
        assert called.acquire(timeout=20)
    assert [future.result() for future in futures] == [None] * 8
    assert pilot.submit(lambda: "still here").result(timeout=20) == "still here"
    assert "in a callback" in caplog.text


def test_a_callback_may_wait_submit_and_close_and_all_have_run_then(tmp_path: Path) -> None:
    seen: list[object] = []
    pilot = argosy.Pilot(ranks=2, folder=tmp_path)
    stuck = threading.Event()

    def callback(_: Any) -> None:
        seen.append(pilot.submit(abs, -3).result())
        stuck.wait(20)
        pilot.close()
        seen.append("closed")

    pilot.submit(time.sleep, 0.1).add_done_callback(callback)
    while not seen:
        time.sleep(0.01)
    assert pilot.submit(abs, -4).result(timeout=20) == 4, "a callback that waits keeps the pilot waiting"
    for number in range(3):
        pilot.submit(time.sleep, 0.2).add_done_callback(lambda _, n=number: seen.append(n))
    stuck.set()
    pilot.close()
    while len(seen) < 5:  # it was the callback that closed it
        time.sleep(0.01)
    assert seen[:2] == [3, "closed"]
    assert set(seen[2:]) == {0, 1, 2}


def test_all_callbacks_have_run_when_the_block_is_left(tmp_path: Path) -> None:
    seen: list[int] = []
    with argosy.Pilot(ranks=2, folder=tmp_path) as pilot:
        for number in range(5):
            pilot.submit(time.sleep, 0.05).add_done_callback(lambda _, n=number: time.sleep(0.05) or seen.append(n))
    assert sorted(seen) == list(range(5))


# On the wire ---------------------------------------------------------------------------------------------------------


def frames() -> st.SearchStrategy[list[bytes]]:
    """Messages, from noise to such as are nearly right."""
    numbers = st.integers(-2, 5) | st.sampled_from([2**31, -(2**70), True])
    odd = numbers | st.text(max_size=3) | st.none() | st.lists(st.none(), max_size=2) | st.binary(max_size=3)
    fields = st.lists(odd, max_size=10).map(tuple) | odd
    kinds = st.sampled_from([*wire.Kind, 0, 99])
    whole = st.builds(lambda kind, values: bytes((kind,)) + pickle.dumps(values), kinds, fields)
    cut = st.builds(lambda frame, at: frame[: at % (len(frame) + 1)], whole, st.integers(0, 1000))
    ended = st.builds(lambda *values: wire.encode(wire.Kind.ENDED, *values), numbers, numbers, numbers, odd, odd)
    lanes = st.sampled_from(["orders", "tasks"])
    greeting = st.tuples(lanes, numbers, numbers, numbers, numbers, numbers, st.text(), st.text(), st.text())
    hello = greeting.map(lambda values: wire.encode(wire.Kind.HELLO, *values))
    return st.lists(st.binary(max_size=20) | whole | cut | ended | hello, max_size=3)


@pytest.fixture(scope="module")
def friend(pilot: argosy.Pilot) -> Iterator[zmq.Socket[bytes]]:
    """A peer that has the keys and is no rank."""
    context = zmq.Context()
    yield wire.connect(context, wire.Keys.load(run_folder.key_file(pilot.folder)), b"friend")
    context.destroy(linger=0)


@given(messages=st.lists(frames(), max_size=5))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_peer_that_talks_nonsense_is_not_heard(
    pilot: argosy.Pilot, friend: zmq.Socket[bytes], messages: list[list[bytes]]
) -> None:
    for message in messages:
        if message:
            friend.send_multipart(message)
    assert pilot.submit(abs, -1).result(timeout=20) == 1


def test_noise_on_the_socket_itself_is_not_heard(pilot: argosy.Pilot) -> None:
    path = wire.Keys.load(run_folder.key_file(pilot.folder)).endpoint.removeprefix("ipc://")
    greeting = struct.pack("<B8sBB", 255, bytes(8), 127, 3)
    for noise in (b"", b"\xff" * 100, b"GET / HTTP/1.1\r\n\r\n", greeting + bytes(60)):
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(path)
            stranger.sendall(noise)
    assert pilot.submit(abs, -1).result(timeout=20) == 1


def talk_nonsense() -> None:
    """What a rank with a broken heart would send: for this the task borrows its rank's own socket."""
    lanes = [one for one in gc.get_objects() if isinstance(one, zmq.Socket) and one.type == zmq.DEALER]
    for lane in lanes:
        lane.send(bytes((wire.Kind.ENDED,)) + b"nonsense")
    time.sleep(600)


def test_a_rank_that_talks_nonsense_is_ended_and_its_task_says_why(pilot: argosy.Pilot) -> None:
    with pytest.raises(RankLost, match="could not be understood"):
        pilot.submit(talk_nonsense).result(timeout=40)
    assert pilot.submit(lambda comm: comm.allreduce(1), ranks=4, retries=1).result(timeout=40) == 4


# The controller itself -----------------------------------------------------------------------------------------------


def wait_for(marker: Path) -> None:
    while not marker.exists():
        time.sleep(0.01)


@pytest.mark.parametrize("where", ["_start_attempt", "_tell", "_close"])
def test_a_mistake_in_the_controller_fails_every_future_with_its_cause(
    where: str, tmp_path: Path, marker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = psutil.Process().children(recursive=True)
    pilot = argosy.Pilot(ranks=2, folder=tmp_path)
    family = [one for one in psutil.Process().children(recursive=True) if one not in others]
    futures = [pilot.submit(wait_for, marker), *(pilot.submit(time.sleep, 600) for _ in range(3))]
    while not futures[1].running():
        time.sleep(0.01)

    def mistake(*_: object) -> None:
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr(Controller, where, mistake)
    if where == "_close":
        monkeypatch.setattr(Crew, "kill", mistake)
        pilot.close(cancel=True)
    marker.touch()
    if where == "_start_attempt":
        assert futures.pop(0).result(timeout=20) is None  # of this it was known how it had ended
    for future in futures:
        with pytest.raises(PilotClosed, match="a mistake of ours") as caught:
            future.result(timeout=20)
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(PilotClosed, match="a mistake of ours"):
        pilot.submit(abs, -1)
    pilot.close()
    _, alive = psutil.wait_procs(family, timeout=10)
    assert alive == []
    assert "a mistake of ours" in run_folder.launcher_log(pilot.folder).read_text()
