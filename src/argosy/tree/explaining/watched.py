"""A call that is watched, and what is told of it afterwards; also of functions that run plainly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from argosy.tree.calling import Caller
from argosy.tree.explaining.explanation import Explanation
from argosy.tree.explaining.profile import Profile, profile_of, profile_so_far
from argosy.tree.explaining.record import FAILED, Recording
from argosy.tree.explaining.recorder import Recorder
from argosy.tree.explaining.statements import Function
from argosy.tree.explaining.text import text_of
from argosy.tree.inside import here
from argosy.tree.pool import num_cores
from argosy.tree.source import NotCaptured
from argosy.units import format_seconds


@dataclass(slots=True)
class Watched:
    """Calls of one function that are watched. `caller` is None for a function that runs plainly, for a `reason`."""

    plain: Callable[..., Any]
    caller: Caller | None
    reason: NotCaptured | None
    last: tuple[Recording, list[str]] | None = field(default=None)
    """The call that was watched last, and what is to be said of it."""

    def explain(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Explanation:
        """Printed too. Raises what the call raises; what was seen until then stays in the profile."""
        recording, notes = self._call(args, kwargs)
        text = text_of(recording, notes)
        print(text)
        return Explanation(text, recording)

    def profile(self) -> Profile:
        if self.last is not None:
            recording, notes = self.last
            return profile_of(recording, self._profile_again, notes)
        if self.caller is None:
            notes = [self._plainly()]
            return Profile(function=self._function, lines=(), threads=1, notes=tuple(notes), again=self._profile_again)
        threads = self.caller.threads or num_cores()
        return profile_so_far(self.caller.program.with_callees(), threads, self._profile_again)

    def _profile_again(self, /, *args: Any, **kwargs: Any) -> Profile:
        self._call(args, kwargs)
        return self.profile()

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Recording, list[str]]:
        """Call the function and watch; what was seen is kept, also when it raises."""
        if self.caller is None or here.expression:
            self.last = self._called_plainly(args, kwargs)
            return self.last
        caller = self.caller
        recorder = Recorder(caller.program.source, caller.threads or num_cores(), caller.grain.in_place)
        try:
            caller.walk(args, kwargs, recorder)
        finally:
            seen = recorder.finish()
            if seen.runs:
                self.last = seen, _notes(caller, seen)
        return seen, _notes(caller, seen)

    def _called_plainly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Recording, list[str]]:
        began = perf_counter()
        self.plain(*args, **kwargs)
        taken = perf_counter() - began
        recording = Recording(function=self._function, seconds=taken, num_threads=1, runs=())
        return recording, [f"{self._plainly()}; it took {format_seconds(taken)}"]

    def _plainly(self) -> str:
        if self.reason is None:
            return f"{self._name} runs as plain Python here: it was called inside of an expression"
        where = f" (line {self.reason.line})" if self.reason.line else ""
        return f"{self._name} runs as plain Python, as a whole{where}: {self.reason.reason}"

    @property
    def _name(self) -> str:
        return str(getattr(self.plain, "__name__", self.plain))

    @property
    def _function(self) -> Function:
        code = getattr(self.plain, "__code__", None)
        filename, line = (code.co_filename, code.co_firstlineno) if code else ("?", 0)
        return Function(name=self._name, filename=filename, line=line)


def _notes(caller: Caller, recording: Recording) -> list[str]:
    notes = [
        f"line {run.line} failed: what ran after it was taken back" for run in recording.runs if run.state == FAILED
    ]
    if not notes and caller.ways.is_plain():
        taken = format_seconds(min(caller.ways.plain, recording.seconds))
        notes.append(f"a call that takes {taken} runs as plain Python; this one was walked to be explained")
    return notes
