"""Arguments of a pilot are judged at the call: nothing wrong reaches its controller."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import argosy
from argosy.errors import ArgosyError, NeedNotMet

OPTIONS = ("ranks", "gpus", "cores", "memory", "timeout", "retries", "priority", "name", "keep")


class Mute:
    def __repr__(self) -> str:
        raise ZeroDivisionError

    __index__ = __float__ = __hash__ = __eq__ = __repr__  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("wrong", "kind", "words"),
    [
        ({"ranks": 4 / 2}, TypeError, r"ranks must be a whole number of at least 1, not 2\.0"),
        ({"ranks": 1.5}, TypeError, r"ranks must be .* not 1\.5"),
        ({"ranks": "2"}, TypeError, "ranks must be .* not '2'"),
        ({"ranks": True}, TypeError, "ranks must be .* not True"),
        ({"ranks": [2]}, TypeError, r"ranks must be .* not \[2\]"),
        ({"ranks": 0}, ValueError, "ranks must be .* not 0"),
        ({"cores": 1.5}, TypeError, r"cores must be .* not 1\.5"),
        ({"gpus": math.nan}, ValueError, "gpus must be a fraction of one GPU .* not nan"),
        ({"gpus": 1.5}, ValueError, r"gpus must be .* a whole number of them \(2\), not 1\.5"),
        ({"gpus": "1"}, TypeError, "gpus must be .* not '1'"),
        ({"priority": "high"}, TypeError, "priority must be a whole number, not 'high'"),
        ({"name": Path("x")}, TypeError, r"name must be a string, not PosixPath\('x'\)"),
        ({"timeout": "5"}, TypeError, "timeout must be a number of seconds above 0, not '5'"),
        ({"timeout": math.nan}, ValueError, "timeout must be .* not nan"),
        ({"timeout": 10**400}, ValueError, "timeout must be .* not a number of 1329 bits"),
        ({"memory": -1}, ValueError, "memory must be .* not -1"),
        (
            {"memory": 1e9},
            TypeError,
            r"memory must be a text like '2GiB' or a whole number of bytes, not 1000000000\.0",
        ),
        ({"memory": "much"}, ValueError, "memory is not an amount of memory: 'much'"),
        ({"retries": None}, TypeError, "retries must be a whole number of at least 0, not None"),
        ({"retries": -1}, ValueError, "retries must be .* not -1"),
        ({"keep": 1}, TypeError, "keep must be True or False, not 1"),
    ],
)
def test_what_makes_no_sense_is_refused_in_the_callers_line(
    pilot: argosy.Pilot, wrong: dict[str, Any], kind: type[Exception], words: str
) -> None:
    for call in (
        lambda: pilot.submit(abs, 1, **wrong),
        lambda: pilot.map(abs, [1], **wrong),
        lambda: argosy.task(**wrong),
    ):
        with pytest.raises(kind, match=words):
            call()
    assert pilot.submit(abs, -1).result() == 1


@pytest.mark.parametrize(
    "need", [{"ranks": 10**30}, {"ranks": 10**400}, {"cores": 10**400}, {"gpus": 10**400}, {"memory": 10**400}]
)
def test_what_can_never_be_met_is_also_a_value_error(pilot: argosy.Pilot, need: dict[str, Any]) -> None:
    with pytest.raises(NeedNotMet, match="but this pilot has") as caught:
        pilot.submit(abs, 1, **need)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, ArgosyError)


@pytest.mark.parametrize("seconds", [1e300, math.inf, 10**300, np.float32(100)])
def test_a_timeout_may_be_longer_than_anybody_waits(pilot: argosy.Pilot, seconds: Any) -> None:
    assert pilot.submit(abs, -1, timeout=seconds).result() == 1


def test_numbers_of_numpy_are_numbers(pilot: argosy.Pilot) -> None:
    future = pilot.submit(
        lambda comm: comm.size, ranks=np.int64(2), cores=np.int8(1), priority=np.int16(3), retries=np.uint8(1)
    )
    assert future.result() == 2


@pytest.mark.parametrize(
    ("wrong", "kind", "words"),
    [
        ({"ranks": 2.0}, TypeError, r"ranks must be a whole number of at least 1, not 2\.0"),
        ({"ranks": 0}, ValueError, "ranks must be .* not 0"),
        ({"ranks": 10**30}, ValueError, "ranks=.* is more than this machine can start"),
        ({"launcher": 3}, TypeError, "launcher must be 'auto' or 'mpiexec', not 3"),
        ({"launcher": "ssh"}, ValueError, "launcher must be 'auto' or 'mpiexec', not 'ssh'"),
        ({"memory": 0}, ValueError, "memory must be .* at least 1, not 0"),
        ({"memory": 1.5}, TypeError, r"memory must be .* not 1\.5"),
        ({"gpus": -1}, ValueError, "gpus must be .* not -1"),
        ({"gpus": 10**9}, ValueError, "gpus must be .* not 1000000000"),
        ({"folder": 3}, TypeError, "folder must be a path, not 3"),
        ({"folder": "a\0b"}, ValueError, "folder must be a path"),
        ({"name": 3}, TypeError, "name must be a string, not 3"),
    ],
)
def test_a_pilot_is_not_started_with_what_makes_no_sense(
    wrong: dict[str, Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        argosy.Pilot(**wrong)


@pytest.mark.parametrize(
    ("wrong", "kind", "words"),
    [
        (
            {"command": "ls -l"},
            ValueError,
            r"command must be a list of words, like \['./solver', 'in.dat'\], not 'ls -l'",
        ),
        ({"command": []}, ValueError, "command must be a list of words"),
        ({"command": 3}, TypeError, "command must be a list of words"),
        ({"command": ["ls", 3]}, TypeError, r"command\[1\] must be a path or a word, not 3"),
        ({"command": ["ls", b"x"]}, TypeError, r"command\[1\] must be a path or a word"),
        ({"command": ["ls", "a\0b"]}, ValueError, r"command\[1\] must be .* without a null character"),
        ({"command": [""]}, ValueError, r"command\[0\] must be the name of a program"),
        ({"command": ["ls"], "mpi": 1}, TypeError, "mpi must be True or False"),
        ({"command": ["ls"], "check": None}, TypeError, "check must be True or False"),
        ({"command": ["ls"], "folder": 3}, TypeError, "folder must be a path"),
        ({"command": ["ls"], "environment": [1]}, TypeError, "environment must be a dictionary of strings"),
        ({"command": ["ls"], "environment": {"a": 1}}, TypeError, r"environment\['a'\] must be a string, not 1"),
        ({"command": ["ls"], "environment": {"a=b": "1"}}, ValueError, "environment: 'a=b' is no name"),
        ({"command": ["ls"], "environment": {"a": "b\0"}}, ValueError, r"environment\['a'\] must be .* null"),
    ],
)
def test_an_executable_is_judged_when_it_is_made(wrong: dict[str, Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        argosy.Executable(**wrong)


def test_what_is_no_function_is_named(pilot: argosy.Pilot) -> None:
    for wrong in (3, None, "abs", Mute()):
        with pytest.raises(TypeError, match=r"takes a function or an argosy\.Executable, not"):
            pilot.submit(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"takes a function or an argosy\.Executable, not"):
            pilot.map(wrong, [1])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="takes no arguments; put them among its words"):
        pilot.submit(argosy.Executable(["true"]), "-v")
    with pytest.raises(TypeError, match="items must be something to go through, like a list: 3"):
        pilot.map(abs, 3)  # type: ignore[arg-type]


def test_items_that_fail_halfway_take_along_what_was_submitted(pilot: argosy.Pilot, tmp_path: Path) -> None:
    def items() -> Any:
        yield tmp_path / "a"
        raise KeyError("no more items")

    blocker = pilot.submit(lambda comm: comm.barrier(), ranks=4)
    with pytest.raises(KeyError, match="no more items"):
        pilot.map(Path.touch, items(), cores=4)
    blocker.result()


@pytest.mark.parametrize("timeout", ["5", math.nan, [1], True])
def test_how_long_to_wait_is_judged_too(pilot: argosy.Pilot, timeout: Any) -> None:
    future = pilot.submit(abs, -1)
    for wait in (future.result, future.results, future.exception):
        with pytest.raises((TypeError, ValueError), match="timeout must be a number of seconds, not"):
            wait(timeout)
    assert future.result(math.inf) == 1
    assert future.exception(1e300) is None


ANYTHING = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=3)
    | st.lists(st.integers(), max_size=2) | st.dictionaries(st.text(max_size=2), st.none(), max_size=1)
    | st.sampled_from([10**400, -(10**400), 1e308, "2GiB", "9" * 500 + "TiB", np.zeros(2), np.int64(2), 1j, int])
    | st.sampled_from([np.float32("nan"), np.bool_(True), Path("x"), Ellipsis, object(), "a\nb", "\ud800", "[red]"])
)  # fmt: skip


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(OPTIONS), ANYTHING, min_size=1, max_size=3))
def test_whatever_is_asked_is_a_task_or_an_error_that_names_it(pilot: argosy.Pilot, asked: dict[str, Any]) -> None:
    said = ""
    try:
        future = pilot.submit(abs, -1, **asked)
    except (TypeError, ValueError) as error:
        said = str(error)
    if said:
        assert any(said.startswith(name) for name in asked) or said.startswith("a task needs ")
    else:
        assert future.result(30) == 1
    assert pilot.is_open


def test_the_pilot_lives_after_all_this(pilot: argosy.Pilot) -> None:
    assert pilot.submit(lambda comm: comm.allreduce(1), ranks=4).result() == 4
