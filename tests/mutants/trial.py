"""Tests against one change: in a forked process, which has all of the machinery loaded and none of our modules."""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pickle
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mutate import Mutant, mutated

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "src"))  # of this checkout, whichever one is installed
MORE_NBYTES = 3 << 30
"""A change may make a loop endless that appends."""
QUIET = [
    "-q",
    "-x",
    "--no-header",
    "--no-summary",
    "-p",
    "no:cacheprovider",
    "--timeout=0",  # tests are traced, and each trial has its own limit
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
]


@dataclass(slots=True)
class Tests:
    """Which test reaches which lines, and how long it takes."""

    reached: dict[str, dict[str, set[int]]] = field(default_factory=dict)
    """By test, by file."""
    seconds: dict[str, float] = field(default_factory=dict)

    def of(self, one: Mutant) -> list[str]:
        """The quickest first. A line that is run on import is everybody's who runs anything of its file."""
        first, last = one.lines
        mine = set(range(first, last + 1))
        on_import = self.reached.get("", {}).get(one.file, set())
        wanted = [test for test in self.seconds if self.reached[test].get(one.file, set()) & mine]
        if not wanted and on_import & mine:
            wanted = [test for test in self.seconds if self.reached[test].get(one.file)] or list(self.seconds)
        return sorted(wanted, key=lambda test: self.seconds[test])


def files_of(packages: list[str]) -> list[str]:
    paths = [ROOT / "src" / package.replace(".", "/") for package in packages]
    found = [file for path in paths for file in (sorted(path.rglob("*.py")) or [path.with_suffix(".py")])]
    return [str(each.relative_to(ROOT)) for each in found]


def find_tests(packages: list[str], paths: list[str]) -> Tests:
    """Runs them all once, and loads into this process what they needed that is not ours."""
    os.chdir(ROOT)
    files = {str(ROOT / file): file for file in files_of(packages)}
    reached: dict[str, dict[str, set[int]]] = {"": {}}
    seconds: dict[str, float] = {}

    def child() -> tuple[int, Any]:
        tracer = _Tracer(files, reached, seconds)
        sys.settrace(tracer.on_call)
        threading.settrace(tracer.on_call)
        code = pytest.main([*QUIET, *paths], plugins=[tracer, _Quick()])
        sys.settrace(None)
        return int(code), (reached, seconds, [name for name in sys.modules if _is_foreign(name)])

    code, answer = _forked(child, limit=900)
    if code != 0 or answer is None:
        raise SystemExit(f"the tests of {', '.join(packages)} fail as they are (exit code {code}): mend that first")
    for name in answer[2]:
        with suppress(Exception):  # what cannot be loaded here is loaded by each child
            importlib.import_module(name)
    return Tests(reached=answer[0], seconds=answer[1])


def try_out(one: Mutant, tests: Tests, *, changed: bool = True) -> str:
    """Without the change, all tests run: nothing may be noticed then."""
    chosen = tests.of(one) if changed else sorted(tests.seconds)
    if not chosen:
        return "survived"
    source = (ROOT / one.file).read_text()
    tree = mutated(source, one.at) if changed else ast.parse(source)
    limit = 10 + 5 * sum(tests.seconds[test] for test in chosen)

    def child() -> tuple[int, Any]:
        heap = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (_data_nbytes() + MORE_NBYTES, heap))
        sys.meta_path.insert(0, _Changed(_module_of(one.file), tree, str(ROOT / one.file)))
        return int(pytest.main([*QUIET, *chosen], plugins=[_Quick(chosen)])), None

    code, _ = _forked(child, limit=limit)
    return "survived" if code == 0 else "noticed"


def _module_of(file: str) -> str:
    name = file.removeprefix("src/").removesuffix(".py").replace("/", ".")
    return name.removesuffix(".__init__")


def _is_foreign(name: str) -> bool:
    return name.split(".")[0] not in ("argosy", "tests", "conftest", "__main__", *_OUR_TESTS)


_OUR_TESTS = tuple(path.stem for path in (ROOT / "tests").iterdir())


class _Quick:
    """Laws say that they are broken, not by what smallest example; tests in the given order."""

    def __init__(self, order: list[str] | None = None) -> None:
        self._at = {test: at for at, test in enumerate(order or [])}

    def pytest_sessionstart(self) -> None:
        from hypothesis import Phase, settings

        settings.register_profile("quick", settings(), phases=(Phase.explicit, Phase.generate), database=None)
        settings.load_profile("quick")

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items.sort(key=lambda item: self._at.get(item.nodeid, 0))


class _Tracer:
    """Notes which lines of the files each test runs."""

    def __init__(
        self, files: dict[str, str], reached: dict[str, dict[str, set[int]]], seconds: dict[str, float]
    ) -> None:
        self._files, self._reached, self._seconds = files, reached, seconds
        self._now = reached[""]

    def on_call(self, frame: Any, event: str, arg: Any) -> Any:
        file = self._files.get(frame.f_code.co_filename)
        if file is None:
            return None
        lines = self._now.setdefault(file, set())
        lines.add(frame.f_lineno)

        def on_line(frame: Any, event: str, arg: Any) -> Any:
            lines.add(frame.f_lineno)
            return on_line

        return on_line

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        self._now = self._reached.setdefault(item.nodeid, {})
        began = time.perf_counter()
        result = yield
        self._seconds[item.nodeid] = time.perf_counter() - began
        self._now = self._reached[""]
        return result


class _Changed(importlib.abc.MetaPathFinder):
    """Loads one module from a changed tree."""

    def __init__(self, name: str, tree: ast.Module, path: str) -> None:
        self._name, self._tree, self._path = name, tree, path

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != self._name:
            return None
        loader = _Loader(fullname, self._path)
        loader.tree = self._tree
        return importlib.util.spec_from_file_location(fullname, self._path, loader=loader)


class _Loader(importlib.machinery.SourceFileLoader):
    tree: ast.Module

    def get_code(self, fullname: str) -> Any:
        return compile(self.tree, self.path, "exec")


def _data_nbytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _forked(work: Callable[[], tuple[int, Any]], *, limit: float) -> tuple[int, Any]:
    """The exit code and what it answered; a code of -1 where it ran past its limit."""
    sys.stdout.flush()
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        _child(work, theirs)
    os.close(theirs)
    answer = b""
    until = time.monotonic() + limit
    os.set_blocking(ours, False)
    while True:
        with suppress(BlockingIOError):
            while part := os.read(ours, 1 << 20):
                answer += part
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            break
        if time.monotonic() > until:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            code = -1
            break
        time.sleep(0.01)
    os.set_blocking(ours, True)
    with suppress(OSError):
        while part := os.read(ours, 1 << 20):
            answer += part
    os.close(ours)
    return code, pickle.loads(answer) if answer and code == 0 else None


def _child(work: Callable[[], tuple[int, Any]], theirs: int) -> None:
    os.setsid()
    code = 1
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        code, answer = work()
        if answer is not None:
            with os.fdopen(theirs, "wb") as out:
                pickle.dump(answer, out)
    finally:
        os._exit(code & 0xFF)
