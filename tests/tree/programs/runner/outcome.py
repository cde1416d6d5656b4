"""What one run of a program leaves behind, all of it: its answer, what it changed, what it said and how it ended."""

from __future__ import annotations

import contextlib
import copy
import io
import pickle
import random
import traceback
import types
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from tree.programs.runner.portrait import portrait
from tree.programs.runner.program import Program

Filter = Literal["always", "default", "error"]
_MOST_ITEMS = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """Two runs are the same if their outcomes are equal; `difference` says where they are not."""

    ended: tuple[Any, ...]
    """The exception: its type, text, lines in the program's file, cause and context. Empty when it returned."""
    said: tuple[Any, ...]
    """Printed text and warnings, in their order."""
    state: tuple[Any, ...]
    """A portrait of the answer, the arguments, the globals that it touches, NumPy's error state and random numbers."""
    roots: tuple[Any, ...] = field(compare=False, repr=False)
    """The things in the portrait, still alive, to look at again later."""

    def changed_since(self) -> str | None:
        """Where the answer or the arguments are no more what they were when the call ended, if they changed."""
        return _first_difference(self.state, portrait(self.roots), "later")


def run(program: Program, call: Callable[..., Any], *, warn: Filter = "always") -> Outcome:
    """Call it once on new arguments, with seeds, warning filters and globals as they are for every run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arguments, keywords, namespace = program.arguments(), program.keywords(), program.function.__globals__
    touched = {name: namespace[name] for name in program.touches if name in namespace}
    namespace.update(copy.deepcopy(touched))
    namespace.pop("__warningregistry__", None)
    said = _Said()
    answer: Any = None
    ended: tuple[Any, ...] = ()
    np.random.seed(7)
    random.seed(7)
    with _kept_error_state(), warnings.catch_warnings(), contextlib.redirect_stdout(said):
        warnings.simplefilter(warn)
        warnings.showwarning = said.warn
        try:
            answer = _drained(call(*arguments, **keywords))
        except BaseException as error:
            ended = _ending(error, program.function.__code__.co_filename)
        after = (np.geterr(), _random_numbers())
    globals_after = {name: namespace.get(name, "unbound") for name in program.touches}
    for name in program.touches:
        namespace.pop(name, None)
    namespace.update(touched)
    roots = (answer, arguments, dict(keywords), globals_after, *after)
    return Outcome(ended=ended, said=tuple(said.events), state=portrait(roots), roots=roots)


def difference(plain: Outcome, other: Outcome) -> str | None:
    """Where the two differ first, in words, or None."""
    for name in ("ended", "said", "state"):
        found = _first_difference(getattr(plain, name), getattr(other, name), name)
        if found:
            return found
    return None


class _Said(io.TextIOBase):
    """Printed text and warnings in one list."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self.events and self.events[-1][0] == "printed":
            text = self.events.pop()[1] + text
        self.events.append(("printed", text))
        return len(text)

    def warn(
        self, message: Any, category: type, filename: str, lineno: int, file: Any = None, line: str | None = None
    ) -> None:
        self.events.append(("warning", category.__name__, str(message), Path(filename).name, lineno))


@contextlib.contextmanager
def _kept_error_state() -> Iterator[None]:
    before = np.geterr()
    try:
        yield
    finally:
        np.seterr(**before)


def _random_numbers() -> int:
    """Stands for where the global random numbers of NumPy and of Python are."""
    return zlib.crc32(pickle.dumps((np.random.get_state(), random.getstate())))


def _drained(answer: Any) -> Any:
    """An iterator gives what it holds while the run is still listened to."""
    if isinstance(answer, types.GeneratorType | map | filter | zip | enumerate):
        items: list[Any] = []
        for item in answer:
            items.append(item)
            if len(items) == _MOST_ITEMS:
                break
        return (type(answer).__name__, items)
    return answer


def _ending(error: BaseException, filename: str) -> tuple[Any, ...]:
    if isinstance(error, RecursionError):  # how deep, and so at which line, depends on who called
        return (type(error).__name__, str(error)[:32])
    lines = tuple(n for frame, n in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == filename)
    if isinstance(error, UnboundLocalError):  # Python names the line before where it runs two instructions as one
        lines = lines[:-1]
    notes = tuple(getattr(error, "__notes__", ()))
    chained = tuple(
        (how, _ending(other, filename))
        for how, other in (("cause", error.__cause__), ("context", error.__context__))
        if other is not None
    )
    told = (type(error).__qualname__, str(error), ("lines", lines), ("notes", notes), chained)
    return (*told, ("context is hidden", error.__suppress_context__), portrait(error.args))


def _first_difference(one: Any, other: Any, path: str) -> str | None:
    if one == other:
        return None
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        for at, (left, right) in enumerate(zip(one, other, strict=True)):
            found = _first_difference(left, right, f"{path}.{at}")
            if found:
                return found if found.count("\n") > 4 else f"{found}\n  in: {str(one)[:300]}\n  vs: {str(other)[:300]}"
    return f"{path}\n  plain: {str(one)[:1500]}\n  other: {str(other)[:1500]}"
