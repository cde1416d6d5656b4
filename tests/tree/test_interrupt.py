"""Ctrl-C in the middle of a call: it ends soon, what is stored is what plain Python had stored by some point in time,
nothing runs on, and the next call works."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from tree.test_pool import until

import argosy
from argosy.tree import running
from argosy.tree.flow import Flow
from argosy.tree.inside import here
from argosy.tree.saved import save
from argosy.tree.stops import Stopped, Stops

PRELUDE = """
    import threading, time
    import numpy as np
    import argosy

    def rows_of(a):
        whole = [bool((row == number + 1).all()) for number, row in enumerate(a)]
        empty = [bool((row == 0).all()) for row in a]
        stored = whole.index(False) if False in whole else len(a)
        return stored, all(empty[stored:])

    def slowly(i):
        x = np.ones((60, 60)) * 0.5
        for _ in range(40):
            x = x @ x * 0.01
        return i + 1.0 + 0.0 * float(x[0, 0])
"""

CHECKS = """
    def say_when_it_runs(a):
        while not a[1].any():
            time.sleep(0.001)
        print("runs", flush=True)

    a = np.zeros(({num_rows}, 500))
    threading.Thread(target=say_when_it_runs, args=(a,), daemon=True).start()
    try:
        fill(a, len(a))
        print("it ended by itself")
    except KeyboardInterrupt:
        now = a.copy()
        stored, rest_is_empty = rows_of(a)
        print("rest is empty" if rest_is_empty else "half-written")
        print("some" if 0 <= stored < len(a) else "all")
        time.sleep(0.3)
        print("quiet" if np.array_equal(a, now) else "still running")
        b = np.zeros((5, 500))
        fill(b, 5)
        print(rows_of(b))
        raise
"""

DEPENDENT = """
    @argosy.futurize(grain=0, threads=3)
    def fill(a, n):
        for i in range(n):
            a[i] = slowly(i)
            if a[i, 0] < 0:
                break
"""

FORKED = """
    @argosy.futurize(grain=0, threads=3)
    def fill(a, n):
        for i in range(n):
            a[i] = slowly(i)
"""

OPAQUE = """
    @argosy.futurize(grain=0, threads=3)
    def fill(a, n):
        for i in range(n):
            x = slowly(i)
            a[i] = x
            time.sleep(0.0001)
"""


@pytest.mark.parametrize("function", [DEPENDENT, FORKED, OPAQUE], ids=["row after row", "in parts", "opaque"])
def test_ctrl_c_leaves_whole_rows_in_order_and_nothing_runs_on(function: str) -> None:
    script = "".join(map(dedent, (PRELUDE, function, CHECKS))).replace("{num_rows}", "30000")
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "runs\n"
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=30)
    finally:
        process.kill()
    assert out.splitlines() == ["rest is empty", "some", "quiet", "(5, True)"]
    assert error.rstrip().endswith("KeyboardInterrupt")
    assert process.returncode == -signal.SIGINT


def store_both(a: Any, b: Any) -> Any:
    a[:] = 1.0
    b[:] = 2.0
    return a + b


def ended(call: Callable[[], Any]) -> Any:
    """What it raises, in a thread that may hang, and whether that thread believes to be in an expression afterwards."""
    told: list[Any] = []

    def run() -> None:
        try:
            call()
        except BaseException as error:
            told.append((type(error), here.expression))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(2)
    assert not thread.is_alive(), "it hangs"
    return told[0]


def test_ctrl_c_while_something_is_kept_that_will_be_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays are copied then, which takes as long as the rest."""
    a, b = np.zeros(3), np.zeros(3)

    def interrupted(value: Any, *rest: Any) -> Any:
        if value is b:
            raise KeyboardInterrupt
        return save(value, *rest)

    monkeypatch.setattr(running, "save", interrupted)

    def call() -> None:
        with np.errstate(divide="print"):  # so that nothing is known to be in its turn, and all is kept
            argosy.futurize(grain=0, threads=1)(store_both)(a, b)

    assert ended(call) == (KeyboardInterrupt, False)
    assert (a.tolist(), b.tolist()) == ([1.0] * 3, [0.0] * 3)


def sorted_beside_a_store(a: Any, b: Any) -> Any:
    x = np.sort(a)
    b[:] = 2.0
    y = x * 2.0
    if y[0] > 5.0:
        return b
    return y


def test_ctrl_c_while_the_caller_sleeps_takes_back_what_ran_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sort is held back until the call is being ended; the store after it has been done by then."""
    a, b = np.random.default_rng(0).random(100_000), np.zeros(3)
    f = argosy.futurize(grain=0, threads=3)(sorted_beside_a_store)
    expected = (np.sort(a) * 2.0).tolist()
    assert f(a, b.copy()).tolist() == expected  # from now on it is known that it stores
    ending = threading.Event()
    run, cancel = Flow._run, Flow.cancel

    def held_back(flow: Flow, expression: Any) -> int:
        if expression.plan.piece.text == "x = np.sort(a)":
            until(lambda: bool(b[0]) and flow._asleep)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            ending.wait(5)
        return run(flow, expression)

    def ends(flow: Flow) -> None:
        ending.set()
        cancel(flow)

    with monkeypatch.context() as patched:
        patched.setattr(Flow, "_run", held_back)
        patched.setattr(Flow, "cancel", ends)
        with pytest.raises(KeyboardInterrupt):
            f(a, b)
    assert b.tolist() == [0.0] * 3
    assert f(a, b).tolist() == expected
    assert b.tolist() == [2.0] * 3


def stopped(a: Any, stop: Any) -> Any:
    b = a + 1.0
    c = b * 2.0
    stop(c)
    return c


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_no_exception_goes_up_and_leaves_the_thread_as_it_was(error: type[BaseException]) -> None:
    def stop(_value: Any) -> None:
        raise error

    f = argosy.futurize(grain=0, threads=3)(stopped)
    assert ended(lambda: f(np.ones(3), stop)) == (error, False)
    assert f(np.ones(3), len).tolist() == [4.0, 4.0, 4.0]


ENDLESS = {
    "a loop that another waits for": """
        @argosy.futurize(**options)
        def fill(a, n):
            i = j = 0
            while i < n:
                i += 1
                a[1] = 1
            while j < n:
                j += 1
            return i + j
    """,
    "calls": """
        def count(n, a):
            i = 0
            while i < n:
                i += 1
                a[1] = 1
            return i

        @argosy.futurize(**options)
        def fill(a, n):
            b = count(n, a)
            return b + count(n, a)
    """,
    "parts": """
        def count(n):
            i = 0
            while i < n:
                i += 1
            return i

        @argosy.futurize(**options)
        def fill(a, n):
            a[1] = 1
            return [count(n) for _ in range(8)]
    """,
}
INTERRUPTED = """
    import threading
    a = np.zeros(3)

    def say_when_it_runs():
        while not a[1]:
            time.sleep(0.001)
        time.sleep(0.2)
        print("runs", flush=True)

    threading.Thread(target=say_when_it_runs, daemon=True).start()
    try:
        fill(a, 10**12)
    except KeyboardInterrupt:
        print(fill(a, 3), flush=True)
"""


@pytest.mark.parametrize("function", list(ENDLESS.values()), ids=list(ENDLESS))
@pytest.mark.parametrize("options", ["dict(grain=0, threads=3)", "dict()"])
def test_ctrl_c_ends_what_would_not_end_by_itself(function: str, options: str) -> None:
    script = "".join(map(dedent, (PRELUDE, f"options = {options}\n", function, INTERRUPTED)))
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "runs\n"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    assert out in ("6\n", "[3, 3, 3, 3, 3, 3, 3, 3]\n")


def fails_before_what_never_ends(a: Any, n: int) -> Any:
    b = a[:2] @ np.ones((3, 3))
    i = 0
    while i < n:
        i += 1
    return b, i


def test_an_error_does_not_wait_for_what_runs_after_it_and_never_ends() -> None:
    for function in (fails_before_what_never_ends, argosy.futurize(fails_before_what_never_ends, grain=0, threads=3)):
        with pytest.raises(ValueError, match="matmul"):
            function(np.ones(3), 10**12)


def test_a_thread_is_told_to_leave_off_only_while_it_is_in_code_of_the_users() -> None:
    def spins() -> None:
        while True:
            inside[:] = [True]  # no lock, in which it could be told

    inside, stops, told = list[bool](), Stops(), list[str]()
    parts = Stops(stops)

    def work(run: Any) -> None:
        try:
            run(spins)
        except Stopped:
            told.append("left off")
        for _ in range(1000):
            pass
        told.append("went on")

    for run in (stops.run, parts.run):
        threading.Thread(target=work, args=(run,)).start()
    until(lambda: bool(inside))
    stops.stop()
    until(lambda: sorted(told) == ["left off", "left off", "went on", "went on"])
    with pytest.raises(Stopped):
        stops.run(spins)
    with pytest.raises(Stopped):
        Stops(stops).run(spins)
