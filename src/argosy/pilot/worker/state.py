"""What a task may have changed in its process, put back before the next one.

Each look is a comparison with what was there when the rank was ready: some twenty microseconds in all, spent while the
task's result is on its way already. What cannot be put back at that price stays: modules, threads, open files.
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
_OF_SYS = ("argv", "displayhook", "excepthook", "unraisablehook")
_HEAD_NBYTES = object.__basicsize__


class ProcessState:
    """Owned by the main thread. Made once, when the rank is ready for its first task."""

    def __init__(self) -> None:
        self._folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
        self._folder_name = _here()
        self._environ = os.environ
        self._variables = dict(_bytes(os.environ))
        self._umask = os.umask(0o077)
        os.umask(self._umask)
        self._handlers = [_signal.getsignal(number) for number in _SIGNALS]
        self._blocked = _signal.pthread_sigmask(signal.SIG_BLOCK, ())
        self._streams = [getattr(sys, name) for name in _STREAMS]
        self._descriptors = [os.dup(number) for number in range(len(_STREAMS))]
        self._of_sys = [getattr(sys, name) for name in _OF_SYS]
        self._argv = list(sys.argv)
        self._path = list(sys.path)
        self._limits = _limits()
        self._thread_hook = threading.excepthook
        self._filters = list(warnings.filters)
        self._show_warning = warnings.showwarning
        self._logging = _root_logger()
        self._locale = _locale.setlocale(locale.LC_ALL, None)
        self._random = _peek(random)
        self._numpy: tuple[Any, int, bytes] | None = None
        """The generator behind `numpy.random`, where its state lies, and what was there."""

    def restore(self) -> None:
        """After each task. Raises when something cannot be put back: then this process is no good for another."""
        if _here() != self._folder_name:
            os.fchdir(self._folder)
        if os.environ is not self._environ or _bytes(os.environ) != self._variables:
            self._restore_variables()
        os.umask(self._umask)
        self._restore_signals()
        self._restore_streams()
        self._restore_interpreter()
        self._restore_chance()
        if (torch := sys.modules.get("torch")) is not None:
            restore_torch(torch)
        if (asyncio := sys.modules.get("asyncio")) is not None:
            _forget_loop(asyncio)

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
        _signal.setitimer(signal.ITIMER_REAL, 0)  # an alarm that is still to ring would end the next task's process
        handlers = list(map(_signal.getsignal, _SIGNALS))
        if handlers != self._handlers:
            _signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            _signal.setitimer(signal.ITIMER_PROF, 0)
            for number, handler, before in zip(_SIGNALS, handlers, self._handlers, strict=True):
                if handler != before and before is not None:  # None: a handler that is not of Python
                    signal.signal(number, before)
        if _signal.pthread_sigmask(signal.SIG_BLOCK, ()) != self._blocked:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._blocked)
        signal.set_wakeup_fd(-1)

    def _restore_streams(self) -> None:
        for number, copy in enumerate(self._descriptors):
            os.dup2(copy, number)
            stream = self._streams[number]
            if stream is not None and stream.closed:
                mode = "r" if number == 0 else "w"
                stream = open(number, mode, buffering=1, encoding=stream.encoding, errors=stream.errors)  # noqa: SIM115, PTH123
                self._streams[number] = stream
                setattr(sys, f"__{_STREAMS[number]}__", stream)
            if getattr(sys, _STREAMS[number]) is not stream:
                setattr(sys, _STREAMS[number], stream)

    def _restore_interpreter(self) -> None:
        for name, before in zip(_OF_SYS, self._of_sys, strict=True):
            if getattr(sys, name) is not before:
                setattr(sys, name, before)
        if sys.argv != self._argv:
            sys.argv[:] = self._argv
        if sys.path != self._path:
            sys.path[:] = self._path
        if _limits() != self._limits:
            _set_limits(*self._limits)
        threading.excepthook = self._thread_hook
        if warnings.filters != self._filters:
            warnings.resetwarnings()  # so that what was decided by the filters is forgotten
            warnings.filters[:] = self._filters  # type: ignore[index]
        warnings.showwarning = self._show_warning
        if (logger := _root_logger()) != self._logging:
            handlers, level, disabled = self._logging
            for handler in logger[0]:
                if handler not in handlers:
                    logging.root.removeHandler(handler)
            logging.root.handlers[:] = handlers
            logging.root.setLevel(level)
            logging.disable(disabled)
        if _locale.setlocale(locale.LC_ALL, None) != self._locale:
            locale.setlocale(locale.LC_ALL, self._locale)

    def _restore_chance(self) -> None:
        """A generator that was used, or seeded, goes on from what nobody can foresee.

        It is not set back: then every task would draw the same numbers.
        """
        if _peek(random) != self._random:
            random.seed()
            self._random = _peek(random)
        numpy_random = sys.modules.get("numpy.random")
        if numpy_random is None:
            return
        if self._numpy is None:  # it was loaded by this task, which may have seeded it
            generator = numpy_random.get_bit_generator()
            self._numpy = generator, generator.ctypes.state_address, b""
        generator, address, before = self._numpy
        if numpy_random.get_bit_generator() is not generator:
            numpy_random.set_bit_generator(generator)
            before = b""
        if ctypes.string_at(address, _MERSENNE_NBYTES) != before:
            key = sys.modules["numpy"].frombuffer(os.urandom(_MERSENNE_NBYTES - 4), "uint32")
            numpy_random.set_state(("MT19937", key, 624, 0, 0.0))
            self._numpy = generator, address, ctypes.string_at(address, _MERSENNE_NBYTES)


_MERSENNE_NBYTES = 4 * 625


def _bytes(environ: Any) -> dict[bytes, bytes]:
    """What `os.environ` keeps, as it keeps it: to decode some fifty variables takes as long as all else here."""
    return environ._data if isinstance(getattr(environ, "_data", None), dict) else dict(os.environb)


def _here() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - half the time of Path.cwd()
    except OSError:
        return None  # somebody has removed it


def _limits() -> tuple[Any, ...]:
    return (
        sys.getrecursionlimit(),
        sys.getswitchinterval(),
        gc.isenabled(),
        gc.get_threshold(),
        sys.gettrace(),
        sys.getprofile(),
    )


def _set_limits(recursion: int, switch: float, collects: bool, threshold: Any, trace: Any, profile: Any) -> None:
    sys.setrecursionlimit(recursion)
    sys.setswitchinterval(switch)
    (gc.enable if collects else gc.disable)()
    gc.set_threshold(*threshold)
    sys.settrace(trace)
    sys.setprofile(profile)


def _root_logger() -> tuple[list[logging.Handler], int, int]:
    return list(logging.root.handlers), logging.root.level, logging.root.manager.disable


def _peek(module: Any) -> bytes:
    """The state of Python's own generator, as it lies in memory: to ask for it takes twenty times as long."""
    instance = module.random.__self__
    return ctypes.string_at(id(instance) + _HEAD_NBYTES, _Generator.__basicsize__ - _HEAD_NBYTES)


def _forget_loop(asyncio: Any) -> None:
    """As in a new process. `asyncio.run` leaves a thread that says that it has no loop; from 3.14 on that is usual."""
    if sys.version_info < (3, 14):
        asyncio.set_event_loop_policy(None)
    else:
        asyncio.set_event_loop(None)
