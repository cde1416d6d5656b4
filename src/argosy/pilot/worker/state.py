"""What a task may have changed in its process, put back before the next one.

After each task everything is compared with what was there when the rank was ready: some ten microseconds, while the
result is on its way already. What cannot be told or put back at that price stays: modules, threads, open files.
"""

from __future__ import annotations

import _locale
import _signal  # type: ignore[import-not-found]
import ctypes
import gc
import locale
import logging
import os
import random
import signal
import sys
import threading
import time
import warnings
from _random import Random as _Generator
from typing import Any

from argosy.pilot.worker.libraries import restore_torch

_SIGNALS = [int(number) for number in sorted(signal.valid_signals()) if number < signal.SIGRTMIN]
_STREAMS = ("stdin", "stdout", "stderr")
_MERSENNE_NBYTES = 4 * 625
"""The state of the generators of Python and NumPy: 624 words, and where in them it is."""


class ProcessState:
    """Owned by the main thread. Made once, when the rank is ready for its first task."""

    def __init__(self) -> None:
        self._folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
        self._folder_name = _here()
        self._environ = os.environ
        self._variables = dict(_bytes(os.environ))
        self._umask = os.umask(0o077)
        os.umask(self._umask)
        self._handlers = _handlers()
        self._blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        self._descriptors = [os.dup(number) for number in range(len(_STREAMS))]
        self._argv, self._path = list(sys.argv), list(sys.path)
        self._filters, self._root_handlers = list(warnings.filters), list(logging.root.handlers)
        self._num_modules = len(sys.modules)
        self._interpreter = _interpreter()
        self._locale = _locale.setlocale(locale.LC_ALL, None)
        self._numbers = _locale.setlocale(locale.LC_NUMERIC, None)
        self._random = _view_of_random()
        self._random_was = self._random.raw
        self._numpy: tuple[Any, Any, bytes] | None = None
        """The generator behind `numpy.random`, where its state lies, and what was there."""

    def restore(self) -> None:
        """After each task. Raises when something cannot be put back: then this process is no good for another."""
        if _here() != self._folder_name:
            os.fchdir(self._folder)
        if os.environ is not self._environ or _bytes(os.environ) != self._variables:
            self._restore_variables()
        os.umask(self._umask)
        if _handlers() != self._handlers:
            self._restore_signals()
        if (
            _interpreter() != self._interpreter
            or sys.path != self._path
            or sys.argv != self._argv
            or warnings.filters != self._filters
            or logging.root.handlers != self._root_handlers
            or sys.stdout.closed
            or sys.stderr.closed
            or _locale.setlocale(locale.LC_NUMERIC, None) != self._numbers
        ):
            self._restore_interpreter()
        if self._random.raw != self._random_was:
            random.seed()  # see `_restore_numpy`
            self._random_was = self._random.raw
        modules = sys.modules
        if "numpy.random" in modules:
            self._restore_numpy(modules["numpy"])
        if "torch" in modules:
            restore_torch(modules["torch"])
        if "asyncio" in modules:
            _forget_loop(modules["asyncio"])

    def _restore_variables(self) -> None:
        os.environ = self._environ  # noqa: B003 - it is the object that was there, which writes to the C library
        now = dict(_bytes(os.environ))
        for name in now.keys() - self._variables.keys():
            del os.environb[name]
        for name, value in self._variables.items():
            if now.get(name) != value:
                os.environb[name] = value
        if now.get(b"TZ") != self._variables.get(b"TZ"):
            time.tzset()

    def _restore_signals(self) -> None:
        """Whoever sets an alarm, or blocks signals, has a handler for them."""
        for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
            signal.setitimer(timer, 0)
        for number, handler, before in zip(_SIGNALS, _handlers(), self._handlers, strict=True):
            if handler != before and before is not None:  # None: a handler that is not of Python
                signal.signal(number, before)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._blocked)
        signal.set_wakeup_fd(-1)

    def _restore_interpreter(self) -> None:
        streams, hooks, limits, (root_level, disabled) = self._interpreter
        for number, stream in enumerate(streams):
            if stream is not None and stream.closed:
                stream = self._open_again(number, stream)
            setattr(sys, _STREAMS[number], stream)
        sys.displayhook, sys.excepthook, sys.unraisablehook, threading.excepthook, warnings.showwarning = hooks
        recursion, switch, collects, threshold, trace, profile = limits
        sys.setrecursionlimit(recursion)
        sys.setswitchinterval(switch)
        (gc.enable if collects else gc.disable)()
        gc.set_threshold(*threshold)
        sys.settrace(trace)
        sys.setprofile(profile)
        sys.argv[:], sys.path[:] = self._argv, self._path
        if len(sys.modules) > self._num_modules:
            self._filters = [*filter(self._comes_with_a_module, warnings.filters), *self._filters]
            self._num_modules = len(sys.modules)
        warnings.resetwarnings()  # so that what was decided by the filters is forgotten
        warnings.filters[:] = self._filters  # type: ignore[index]
        logging.root.handlers[:] = self._root_handlers
        logging.root.setLevel(root_level)
        logging.disable(disabled)
        locale.setlocale(locale.LC_ALL, self._locale)
        self._interpreter = _interpreter()

    def _comes_with_a_module(self, entry: Any) -> bool:
        """Libraries hide warnings of their own while they are loaded: by message or module, never all of a kind."""
        action, message, _, module, _ = entry
        return action == "ignore" and (message or module) is not None and entry not in self._filters

    def _open_again(self, number: int, closed: Any) -> Any:
        os.dup2(self._descriptors[number], number)
        mode = "r" if number == 0 else "w"
        stream = open(number, mode, buffering=1, encoding=closed.encoding, errors=closed.errors)  # noqa: SIM115
        setattr(sys, f"__{_STREAMS[number]}__", stream)
        return stream

    def _restore_numpy(self, numpy: Any) -> None:
        """A generator that was used, or seeded, goes on from what nobody can foresee.

        It is not set back: then every task would draw the same numbers.
        """
        if self._numpy is None:  # it was loaded by this task, which may have seeded it
            generator = numpy.random.get_bit_generator()
            self._numpy = generator, _view(generator.ctypes.state_address), b""
        generator, view, before = self._numpy
        if numpy.random.get_bit_generator() is not generator:
            numpy.random.set_bit_generator(generator)
            before = b""
        if view.raw != before:
            key = numpy.frombuffer(os.urandom(_MERSENNE_NBYTES - 4), numpy.uint32)
            numpy.random.set_state(("MT19937", key, 624, 0, 0.0))
            self._numpy = generator, view, view.raw


def _handlers() -> list[Any]:
    return list(map(_signal.getsignal, _SIGNALS))


def _interpreter() -> tuple[Any, ...]:
    """Streams, hooks, limits, and the state of logging."""
    return (
        (sys.stdin, sys.stdout, sys.stderr),
        (sys.displayhook, sys.excepthook, sys.unraisablehook, threading.excepthook, warnings.showwarning),
        (
            sys.getrecursionlimit(),
            sys.getswitchinterval(),
            gc.isenabled(),
            gc.get_threshold(),
            sys.gettrace(),
            sys.getprofile(),
        ),
        (logging.root.level, logging.root.manager.disable),
    )


def _bytes(environ: Any) -> dict[bytes, bytes]:
    """What `os.environ` keeps, as it keeps it: to decode some fifty variables takes longer than all else here."""
    return environ._data if isinstance(getattr(environ, "_data", None), dict) else dict(os.environb)


def _here() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - half the time of Path.cwd()
    except OSError:
        return None  # somebody has removed it


def _view(address: int) -> Any:
    return (ctypes.c_char * _MERSENNE_NBYTES).from_address(address)


def _view_of_random() -> Any:
    """Python's own generator as it lies in memory, behind the head of its object: to ask for it takes 20 µs."""
    head = object.__basicsize__
    size = min(_Generator.__basicsize__ - head, _MERSENNE_NBYTES)
    generator: Any = random.random.__self__  # type: ignore[attr-defined]
    return (ctypes.c_char * size).from_address(id(generator) + head)


def _forget_loop(asyncio: Any) -> None:
    """As in a new process. `asyncio.run` leaves a thread that says that it has no loop; from 3.14 on that is usual."""
    if sys.version_info < (3, 14):
        asyncio.set_event_loop_policy(None)
    else:
        asyncio.set_event_loop(None)
