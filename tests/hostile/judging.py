"""One hostile call, and what is to be said of how it ended."""

from __future__ import annotations

import linecache
import math
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from hostile.kinds import Argument, Meaning
from hostile.values import Broken

import argosy
from argosy.arguments import show
from argosy.errors import ArgosyError

OURS = str(Path(argosy.__file__).parent)


class Refused(ValueError):
    """A command ended with a word of what is wrong, as it should."""


_KINDS = (TypeError, ValueError, ArgosyError, OSError, ModuleNotFoundError)
_MEANT = (ArgosyError, OSError, ModuleNotFoundError, Refused)
"""Others are raised on purpose where the innermost line is ours, and raises."""
_INNER = re.compile(
    r"has no attribute|not supported between|unsupported operand|object is not (iterable|subscriptable|callable|in)"
    r"|'\w+' object cannot be|cannot unpack|too many values|not enough values|unhashable type|truth value of"
    r"|missing \d+ required|takes \d+ positional|got multiple values|is not JSON serializable|has no len"
)
"""Words of Python's own, of something that went wrong further down."""
_SIGNATURE = re.compile(r"unexpected (keyword argument|option) '(\w+)'")
MOST_CHARACTERS = 3000


@dataclass(frozen=True, kw_only=True)
class Case:
    """A valid call: `call(**arguments)` is what a user writes, and must refuse what is wrong; `finish` runs it."""

    name: str
    call: Callable[..., Any]
    arguments: Mapping[str, Argument]
    finish: Callable[[Any], Any] | None = None
    """To something that can be compared."""
    group: str = "plain"
    slow: bool = False
    """Not among the quick laws."""
    calls: tuple[str, ...] = ()
    """Arguments that are called, or worked with as in plain Python: their own errors are the right ones."""
    typo: bool = True
    """Takes keywords, and so must refuse an unknown one."""


@dataclass(kw_only=True)
class Told:
    verdict: str
    said: str = ""
    where: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


GOOD = ("right answer", "refused", "allowed", "other error")
"""As for the valid value; refused by name; taken, and not known to be wrong; a value that may be right, but does not fit
to the data, which one of our own errors says, or whose own error comes through."""


def judge(case: Case, given: Mapping[str, Any], expected: Callable[[], Any]) -> Told:
    """`given`: the hostile ones among the arguments. `expected`: what the valid call gives."""
    known = {name for name in given if name in case.arguments}
    means: dict[str, Meaning] = {name: case.arguments[name].meaning(given[name]) for name in known}
    means |= {name: "wrong" for name in given if name not in known}
    values = {name: argument.value() for name, argument in case.arguments.items() if name not in given}
    wrong = [name for name, meaning in means.items() if meaning == "wrong"]
    same = all(meaning == "same" for meaning in means.values())
    stage = "call"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = case.call(**values, **given)
            stage = "run"
            answer = None if case.finish is None else case.finish(result)
    except Exception as error:
        return _of_error(case, given, error, stage, wrong, same)
    if wrong:
        return Told(verdict="taken", said=f"gave {_short(answer)}")
    if same and not equal(answer, want := expected()):
        return Told(verdict="wrong answer", said=f"gave {_short(answer)} and not {_short(want)}")
    return Told(verdict="right answer" if same else "allowed")


def _of_error(case: Case, given: Mapping[str, Any], error: Exception, stage: str, wrong: list[str], same: bool) -> Told:
    try:
        said = f"{type(error).__name__}: {error}"
    except Exception as mute:
        return Told(verdict="mute error", said=type(mute).__name__, where=_where(error.__traceback__)[0])
    where, line = _where(error.__traceback__)
    told = Told(verdict="", said=said[:400], where=where)
    if same:
        told.verdict = "refused what is right"
    elif (not wrong and (isinstance(error, (Broken, TimeoutError)) or not given.keys().isdisjoint(case.calls))) or (
        isinstance(error, MemoryError) and not wrong
    ):
        told.verdict = "other error"
    elif isinstance(error, Broken):
        told.verdict = "value's own error"
    elif not isinstance(error, _KINDS):
        told.verdict = "inner error"
    elif len(said) > MOST_CHARACTERS:
        told.verdict = "endless text"
    elif (match := _SIGNATURE.search(said)) is not None:
        told.verdict = "refused" if match[2] in given else "inner error"
    elif _INNER.search(said) or not (isinstance(error, _MEANT) or (where.startswith("src") and "raise " in line)):
        told.verdict = "inner error"
    elif not wrong and isinstance(error, (ArgosyError, OSError)):
        told.verdict = "other error"
    elif not any(_names(case, name, given[name], said) for name in given):
        told.verdict = "no name"
    elif wrong and stage == "run":
        told.verdict = "late"
    else:
        told.verdict = "refused" if stage == "call" else "other error"
    return told


def _names(case: Case, name: str, value: Any, said: str) -> bool:
    argument = case.arguments.get(name)
    words = (name, *(argument.named if argument is not None else ()))
    if any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", said) for word in words):
        return True
    return isinstance(value, (str, Path, list, tuple)) and show(value) in said


def _where(trace: TracebackType | None) -> tuple[str, str]:
    """The innermost place that is ours, or else the innermost; and the line there if it raises."""
    last, line = "", ""
    while trace is not None:
        file, number = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        line = _statement(file, number)
        inside = file.startswith(OURS)
        if inside:
            last = f"src{file.removeprefix(OURS)}:{number}"
        elif trace.tb_next is None:
            last = f"{last} > {Path(file).name}:{number}"
            line = ""
        trace = trace.tb_next
    return (last if " > " not in last else f"({last})"), line


def _statement(file: str, number: int) -> str:
    """A line, and those before it: the error's text may stand below its `raise`."""
    return "".join(linecache.getline(file, at) for at in range(max(1, number - 1), number + 1))


def equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    return bool(type(one) is type(other) and one == other)


def _short(value: Any) -> str:
    try:
        return repr(value)[:200]
    except Exception:
        return f"a {type(value).__name__}"
