"""What a task did to its process is not there for the next one."""

from __future__ import annotations

import asyncio
import contextlib
import decimal
import logging
import os
import random
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import argosy
from argosy.pilot.folder import rank_log


@pytest.fixture(scope="module")
def alone() -> Iterator[argosy.Pilot]:
    """One rank, so that a task comes after the other in one process."""
    with argosy.Pilot(ranks=1) as pilot:
        yield pilot


def leave_folder() -> None:
    os.chdir("/")


def remove_folder() -> None:
    folder = Path("gone-with-the-task").absolute()
    folder.mkdir()
    os.chdir(folder)
    folder.rmdir()


def set_variables() -> None:
    os.environ["ARGOSY_LEFT"] = "1"
    os.environ["PATH"] = "/nowhere"
    del os.environ["HOME"]


def replace_variables() -> None:
    os.environ = {"PATH": "/nowhere"}  # type: ignore[assignment]  # noqa: B003


def set_zone() -> None:
    os.environ["TZ"] = "XYZ-5"
    time.tzset()


def set_handlers() -> None:
    for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGTERM})


def ring_later() -> None:
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 30)


def swap_streams() -> None:
    sys.stdout = sys.stderr = sys.stdin = Path(os.devnull).open("r+")  # noqa: SIM115


def close_streams() -> None:
    sys.stdout.close()
    sys.stderr.close()


def set_interpreter() -> None:
    sys.path.insert(0, "/nowhere")
    sys.argv.append("--left")
    sys.setrecursionlimit(123)
    sys.settrace(lambda *_: None)
    sys.excepthook = print
    os.umask(0)
    import gc

    gc.disable()


def set_libraries() -> None:
    warnings.simplefilter("error")
    decimal.getcontext().prec = 3
    np.seterr(all="raise")
    np.set_printoptions(precision=2)
    logging.basicConfig(level=logging.DEBUG)
    logging.disable(logging.CRITICAL)
    import locale

    locale.setlocale(locale.LC_ALL, "C")


def run_a_loop() -> None:
    asyncio.run(asyncio.sleep(0))


CULPRITS = [
    leave_folder, remove_folder, set_variables, replace_variables, set_zone, set_handlers, ring_later, swap_streams,
    close_streams, set_interpreter, set_libraries, run_a_loop,
]  # fmt: skip


def everything() -> dict[str, Any]:
    """What a task finds."""
    import gc
    import locale

    umask = os.umask(0o77)
    os.umask(umask)
    with contextlib.closing(asyncio.get_event_loop()) as loop:
        assert not loop.is_closed()
    with contextlib.suppress(ZeroDivisionError), warnings.catch_warnings(record=True):
        warnings.warn("a warning that is an error for some", stacklevel=1)
    print("a line", flush=True)
    os.write(2, b"another\n")
    return {
        "folder": str(Path.cwd()),
        "environment": dict(os.environ),
        "type of environment": type(os.environ).__name__,
        "zone": time.tzname,
        "handlers": [str(signal.getsignal(number))[:30] for number in range(1, 32)],
        "blocked": signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        "alarm": signal.getitimer(signal.ITIMER_REAL),
        "streams": [(stream.closed, stream.fileno()) for stream in (sys.stdin, sys.stdout, sys.stderr)],
        "outputs": [str(Path(f"/proc/self/fd/{number}").readlink()) for number in (1, 2)],
        "python": (sys.path, sys.argv, sys.getrecursionlimit(), sys.gettrace(), gc.isenabled(), umask),
        "hook": sys.excepthook.__name__,
        "warnings": warnings.filters,
        "digits": decimal.getcontext().prec,
        "numpy": (np.geterr(), np.get_printoptions()["precision"]),
        "logging": (logging.root.level, len(logging.root.handlers), logging.root.isEnabledFor(logging.ERROR)),
        "locale": locale.setlocale(locale.LC_ALL),
    }


def test_the_next_task_finds_its_process_as_the_first_one_did(alone: argosy.Pilot) -> None:
    process = alone.submit(os.getpid).result()
    alone.submit(everything).result()  # loads what it looks at
    before = alone.submit(everything).result()
    assert any("numpy" in str(entry) for entry in before["warnings"])  # NumPy hides some of its own, for good
    for culprit in CULPRITS:
        alone.submit(culprit).result()
        after = alone.submit(everything).result()
        assert {name: value for name, value in after.items() if value != before[name]} == {}, culprit.__name__
    assert alone.submit(os.getpid).result() == process
    said = rank_log(alone.folder, 0).read_text()
    assert (said.count("a line"), said.count("another")) == (len(CULPRITS) + 2,) * 2


def test_it_is_put_back_after_a_failure_and_after_a_stop_too(alone: argosy.Pilot) -> None:
    def fails() -> None:
        leave_folder()
        raise ValueError("on purpose")

    def hangs() -> None:
        leave_folder()
        time.sleep(60)

    home = alone.submit(os.getcwd).result()
    with pytest.raises(ValueError, match="on purpose"):
        alone.submit(fails).result()
    assert alone.submit(os.getcwd).result() == home
    with pytest.raises(TimeoutError):
        alone.submit(hangs, timeout=0.3).result()
    assert alone.submit(os.getcwd).result() == home


def seed_python() -> None:
    random.seed(1)


def seed_numpy() -> None:
    np.random.seed(1)


def draw() -> tuple[float, float]:
    return random.random(), np.random.random()


def other_generator() -> None:
    np.random.set_bit_generator(np.random.MT19937(1))


@pytest.mark.parametrize("seed", [seed_python, seed_numpy, other_generator])
def test_tasks_after_one_that_seeded_draw_what_nobody_can_foresee(
    alone: argosy.Pilot, seed: Callable[[], None]
) -> None:
    drawn = []
    for _ in range(3):
        alone.submit(seed).result()
        drawn.append(alone.submit(draw).result())
    for numbers in zip(*drawn, strict=True):
        assert len(set(numbers)) == 3


def test_a_task_that_seeds_has_its_numbers(alone: argosy.Pilot) -> None:
    def seeded() -> tuple[float, float]:
        random.seed(7)
        np.random.seed(7)
        return random.random(), np.random.random()

    assert alone.submit(seeded).result() == alone.submit(seeded).result() == seeded()
