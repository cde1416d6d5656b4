"""The decorator: what it takes, what it refuses, and that what it gives is the function in all ways."""

from __future__ import annotations

import inspect
import math
import pickle
import subprocess
import sys
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import Any

import cloudpickle
import numpy as np
import pytest

import argosy
from argosy.errors import CannotFuturize
from argosy.tree.futurize import Futurized


def scaled(a: Any, k: float = 2.0, *, shift: float = 0.0) -> Any:
    """Scale and shift."""
    b = a * k
    return b + shift


def mismatched(a: Any, b: Any) -> Any:
    c = a * 2.0
    return c + b


MISMATCHED_LINE = mismatched.__code__.co_firstlineno + 2
everything = argosy.futurize(grain=0, threads=3)


def of_exec() -> Any:
    namespace: dict[str, Any] = {}
    exec("def made(x):\n    return x + 1\n", namespace)
    return namespace["made"]


def generator(n: int) -> Any:
    yield n


async def coroutine(n: int) -> int:
    return n


def reads_its_frame(x: int) -> Any:
    y = x
    return sorted(locals()), y


class Private:
    def method(self) -> int:
        __own = 1
        return self.__hidden + __own

    __hidden = 2


REFUSED = [
    (max, "max cannot be futurized: .* has no Python source", None),
    (math.sqrt, "sqrt cannot be futurized: .* has no Python source", None),
    (np.add, "add cannot be futurized: .* has no Python source", None),
    (partial(scaled, k=3), "has no Python source", None),
    (of_exec(), "the source of made is not to be had", None),
    (lambda x: x + 1, "a lambda is one expression", 0),
    (generator, "runs step by step", 0),
    (coroutine, "runs step by step", 0),
    (reads_its_frame, "locals looks at the running function itself", 2),
    (Private.method, "__own is a private name of a class", 1),
]


@pytest.mark.parametrize(("function", "reason", "line"), REFUSED)
def test_what_cannot_be_futurized_is_refused_with_the_reason_and_the_line_if_asked(
    function: Any, reason: str, line: int | None
) -> None:
    with pytest.raises(CannotFuturize, match=reason) as refused:
        argosy.futurize(strict=True)(function)
    assert str(refused.value).endswith("without strict=True it runs as plain Python")
    if line is not None:
        assert f"(line {function.__code__.co_firstlineno + line})" in str(refused.value)
    assert isinstance(refused.value, TypeError)


def test_what_cannot_be_futurized_runs_plainly() -> None:
    assert argosy.futurize(max)(3, 4) == 4
    assert argosy.futurize(of_exec())(3) == 4
    assert argosy.futurize(lambda x: x + 1)(3) == 4
    assert list(argosy.futurize(generator)(3)) == [3]
    assert argosy.futurize(reads_its_frame)(3) == (["x", "y"], 3)
    assert argosy.futurize(partial(scaled, k=3))(3) == 9.0
    assert argosy.futurize(max).submit(3, 4).result(30) == 4
    assert argosy.futurize(partial(scaled, k=3)).submit(3).result(30) == 9.0


def test_what_can_be_futurized_is_not_refused() -> None:
    assert argosy.futurize(scaled, strict=True)(2.0) == 4.0


@pytest.mark.parametrize(
    ("grain", "kind", "said"),
    [
        (-1, ValueError, r"-1\.0"),
        (-1e-9, ValueError, "-1e-09"),
        (float("nan"), ValueError, "nan"),
        ("1 ms", TypeError, "'1 ms'"),
        (True, TypeError, "True"),
    ],
)
def test_a_grain_that_makes_no_sense_is_refused(grain: Any, kind: type[Exception], said: str) -> None:
    words = f"^grain must be a number of seconds, 0 or more, or None for as measured, not {said}$"
    with pytest.raises(kind, match=words):
        argosy.futurize(grain=grain)(scaled)


@pytest.mark.parametrize(
    ("threads", "kind"), [(0, ValueError), (-2, ValueError), (1.5, TypeError), ("2", TypeError), (True, TypeError)]
)
def test_a_number_of_threads_that_makes_no_sense_is_refused(threads: Any, kind: type[Exception]) -> None:
    words = f"^threads must be a whole number from 1 on, the calling one included, or None, not {threads!r}$"
    with pytest.raises(kind, match=words):
        argosy.futurize(threads=threads)(scaled)


@pytest.mark.parametrize("function", [3, "scaled", None, np.ones(2)])
def test_only_a_function_can_be_futurized(function: Any) -> None:
    with pytest.raises(TypeError, match="futurize takes a function, not "):
        argosy.futurize()(function)


def test_a_futurized_function_looks_like_the_function() -> None:
    f = argosy.futurize(scaled)
    assert (f.__name__, f.__qualname__, f.__module__, f.__doc__) == (
        "scaled",
        "scaled",
        scaled.__module__,
        "Scale and shift.",
    )
    assert inspect.signature(f) == inspect.signature(scaled)
    assert inspect.unwrap(f) is scaled
    assert f.plain is scaled
    assert repr(f) == "<futurized scaled>"


def test_decorated_twice_is_decorated_once_with_the_last_options() -> None:
    f = argosy.futurize(argosy.futurize(scaled, threads=2), grain=0, threads=3)
    assert f.plain is scaled
    assert f(np.ones(2)).tolist() == [2, 2]


def test_arguments_that_do_not_fit_are_refused_in_pythons_words() -> None:
    f = everything(scaled)
    for args, kwargs in [((), {}), ((1, 2, 3), {}), ((1,), {"a": 2}), ((1,), {"shif": 2})]:
        with pytest.raises(TypeError) as plain:
            scaled(*args, **kwargs)
        with pytest.raises(TypeError) as ours:
            f(*args, **kwargs)
        assert str(ours.value) == str(plain.value)


class Model:
    def __init__(self, k: float) -> None:
        self.k = k

    @everything
    def times(self, x: Any) -> Any:
        """Times k."""
        y = x * self.k
        return y + 0.0

    @classmethod
    @everything
    def made(cls, k: float) -> Any:
        return cls(k + 1).k

    @staticmethod
    @everything
    def twice(x: Any) -> Any:
        return x * 2


def test_a_method_is_bound_to_its_object(capsys: pytest.CaptureFixture[str]) -> None:
    model = Model(3.0)
    assert model.times(2.0) == 6.0
    assert Model.times(model, 2.0) == 6.0
    assert model.times.plain(2.0) == 6.0
    assert model.times.submit(2.0).result(30) == 6.0
    assert "y = x * self.k" in model.times.explain(2.0)
    assert "y = x * self.k" in capsys.readouterr().out
    assert "y = x * self.k" in str(model.times.profile)
    assert model.times.__self__ is model
    assert isinstance(Model.times, Futurized)
    assert repr(model.times).startswith("<bound <futurized Model.times> of <")
    assert Model.made(2) == 3
    assert Model.twice(4) == model.twice(4) == 8


def test_submit_gives_a_future_with_the_result_or_the_exception() -> None:
    f = everything(mismatched)
    future = f.submit(np.ones(3), np.ones(3))
    assert isinstance(future, Future)
    assert future.result(30).tolist() == [3, 3, 3]
    failed = f.submit(np.ones(3), np.ones(4))
    assert isinstance(failed.exception(30), ValueError)
    with pytest.raises(ValueError, match="could not be broadcast"):
        failed.result(30)


def test_shapes_that_do_not_broadcast_are_told_in_numpys_words_at_the_users_line() -> None:
    with pytest.raises(ValueError) as ours:  # noqa: PT011
        everything(mismatched)(np.ones(3), np.ones(4))
    with pytest.raises(ValueError) as plain:  # noqa: PT011
        mismatched(np.ones(3), np.ones(4))
    assert str(ours.value) == str(plain.value)
    assert ours.traceback[-1].lineno + 1 == MISMATCHED_LINE
    assert ours.traceback[-1].name == "mismatched"
    assert str(ours.traceback[-1].path) == __file__


def test_arrays_of_objects_have_their_objects_meaning() -> None:
    class Counted:
        def __init__(self, log: list[int], number: int) -> None:
            self.log, self.number = log, number

        def __mul__(self, other: Any) -> Any:
            self.log.append(self.number)
            return self.number * other

    log: list[int] = []
    objects = np.array([Counted(log, number) for number in range(5)])
    assert everything(mismatched)(objects, np.ones(5)).tolist() == [1.0, 3.0, 5.0, 7.0, 9.0]
    assert log == [0, 1, 2, 3, 4]


TOTAL = 0


def raises_total(n: int) -> int:
    global TOTAL
    TOTAL += n
    return TOTAL


def from_two_places(a: Any, n: int) -> Any:
    global TOTAL
    b = a + n
    TOTAL = TOTAL * 2
    first = raises_total(n)
    c = b * TOTAL
    for i in range(3):
        TOTAL += i
        c = c + raises_total(i)
    return first, c, TOTAL


def test_globals_that_change_from_two_places_are_read_when_plain_python_reads_them() -> None:
    def run(function: Any) -> Any:
        global TOTAL
        TOTAL = 5
        first, c, total = function(np.arange(3.0), 4)
        return first, c.tolist(), total, TOTAL

    f = everything(from_two_places)
    for _ in range(3):
        assert run(f) == run(from_two_places)


def depth(n: int, deepest: list[int]) -> int:
    deepest[0] = n
    return depth(n + 1, deepest) + 1


@pytest.mark.parametrize("options", [{}, {"grain": 0}])
def test_a_recursion_is_as_deep_as_in_plain_python(options: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, ours = [0], [0]
    with pytest.raises(RecursionError) as expected:
        depth(0, plain)
    monkeypatch.setitem(globals(), "depth", argosy.futurize(**options)(depth))
    for _ in range(2):
        with pytest.raises(RecursionError) as raised:
            depth(0, ours)
        assert str(raised.value) == str(expected.value)
        assert abs(ours[0] - plain[0]) < 60


def test_a_function_of_a_module_is_pickled_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And one that is not, by value; both are called in another process."""
    (tmp_path / "pickled_by_a_test.py").write_text(
        dedent("""
            import argosy

            @argosy.futurize(grain=0)
            def total(a):
                b = a * 2.0
                return float(b.sum())
        """)
    )
    monkeypatch.syspath_prepend(tmp_path)
    import pickled_by_a_test  # type: ignore[import-not-found]

    weight = np.arange(3.0)

    @argosy.futurize(grain=0, threads=2)
    def local(a: Any) -> Any:
        b = a * weight
        return float(b.sum())

    named = pickle.dumps(pickled_by_a_test.total)
    assert pickle.loads(named) is pickled_by_a_test.total
    assert len(named) < 100
    (tmp_path / "named").write_bytes(named)
    (tmp_path / "local").write_bytes(cloudpickle.dumps(local))
    script = dedent("""
        import pickle, pathlib, numpy as np
        for name in ("named", "local"):
            f = pickle.loads(pathlib.Path(name).read_bytes())
            print(f, f(np.ones(3)), f(np.ones(3)), f.submit(np.ones(3)).result(30))
    """)
    ran = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "<futurized total> 6.0 6.0 6.0",
        f"<futurized {local.__qualname__}> 3.0 3.0 3.0",
    ]


def test_an_unpickled_function_keeps_how_it_was_decorated() -> None:
    def local(x: int) -> int:
        return x + 1

    f = cloudpickle.loads(cloudpickle.dumps(argosy.futurize(local, grain=0, threads=2, strict=True)))
    assert (f._grain, f._threads, f._strict) == (0, 2, True)
    assert f(3) == 4


def test_a_bound_method_is_pickled_as_in_plain_python() -> None:
    assert pickle.loads(pickle.dumps(Model(3.0).times))(2.0) == 6.0


def test_bound_methods_of_one_object_are_equal() -> None:
    model = Model(3.0)
    assert model.times == model.times
    assert len({model.times, model.times}) == 1
    assert model.times != Model(3.0).times


def test_a_bound_method_looks_like_the_function() -> None:
    method = Model(3.0).times
    assert (method.__name__, method.__doc__) == ("times", "Times k.")


def test_a_bound_method_has_the_signature_without_its_object() -> None:
    assert list(inspect.signature(Model(3.0).times).parameters) == ["x"]
