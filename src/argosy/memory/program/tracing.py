"""From a command to a trace of everything that it touched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from argosy import arguments
from argosy.errors import BadTrace
from argosy.memory.heat import Heat
from argosy.memory.program import perf, valgrind
from argosy.memory.program.counting import Counter
from argosy.memory.program.events import OTHER, STACK
from argosy.memory.program.grouping import group_names, group_pages
from argosy.memory.program.naming import find_places, name_objects
from argosy.memory.program.programs import find_program, how_it_ended, time_alone
from argosy.memory.program.result import FIXED, ProgramTrace, make_trace, window_names, windows_of
from argosy.units import format_seconds

Source = Literal["auto", "perf", "valgrind"]
_MOST_SECONDS = 1e9
"""That a process can be waited for."""


def trace(
    command: Sequence[str],
    *,
    source: Source = "auto",
    windows: int = 50,
    timeout_seconds: float | None = None,
    cwd: str | Path | None = None,
    time_natively: bool = True,
    on_progress: Callable[[valgrind.Progress], None] | None = None,
) -> ProgramTrace:
    """Run a program, unmodified, and see which of its objects it touches, how much and when.

    `source`: "perf" samples at full speed where the processor can; "valgrind" sees every access, hundreds of times
    slower; "auto" takes the first that works. The program has this process's input and output; how it ended is in
    `status`, and a bad end is no error here. There are at most `windows` windows. A run past `timeout_seconds` is
    stopped, and under valgrind its trace up to then is kept.

    Valgrind knows no time, so the program runs once more after it, untraced and unseen (`time_natively`), and its
    seconds are shared out by accesses. `on_progress` is called a few times a second, from this thread.
    Raises `BadTrace` for what cannot be traced.
    """
    windows = windows_of(windows)
    if not isinstance(source, str) or source not in ("auto", "perf", "valgrind"):
        said = arguments.show(source)
        raise BadTrace(f"there is no source {said} of traces; there are: auto, perf, valgrind")
    if timeout_seconds is not None:
        timeout_seconds = arguments.number("timeout_seconds", timeout_seconds, above=0, most=_MOST_SECONDS)
    if cwd is not None:
        arguments.path("cwd", cwd)
    arguments.flag("time_natively", time_natively)
    if on_progress is not None:
        arguments.function("on_progress", on_progress)
    words = "a list of words, like ['./solver', 'in.dat']"
    command = [arguments.path("command", one) for one in arguments.items("command", command, words)]
    program = find_program(command, cwd)
    notes = []
    if source != "valgrind":
        why_not = perf.why_not()
        if why_not is None:
            return _by_perf(command, program, windows, cwd, timeout_seconds)
        if source == "perf":
            raise BadTrace(f"{why_not}; use source='valgrind'")
        notes.append(f"{why_not}; every access was traced by valgrind instead")
    traced = valgrind.run(
        command, program, windows=windows, cwd=cwd, timeout_seconds=timeout_seconds, on_progress=on_progress
    )
    again = time_natively and not traced.stopped
    alone = time_alone(command, cwd=cwd, timeout_seconds=timeout_seconds) if again else None
    notes += _ending(command[0], traced.status, stopped=traced.stopped)
    seconds, said = _share_seconds(traced, alone, time_natively=time_natively)
    notes.append(said)
    sizes, moved, heat = (
        _by_allocation(traced.counter, program) if traced.without_names is None else _by_pages(traced.counter)
    )
    if traced.without_names is not None:
        notes.append(f"allocations are not known: {traced.without_names}; pages that lie together are one object")
    if not set(sizes) - set(FIXED):
        notes.append("the program touched nothing of a page or more that has a name: there is nothing to place")
    made = make_trace(command[0], sizes=sizes, moved=moved, windows=window_names(len(seconds)), seconds=seconds)
    return ProgramTrace(trace=made, heat=heat, source="valgrind", status=traced.status, notes=tuple(notes))


def _by_perf(
    command: Sequence[str], program: str, windows: int, cwd: str | Path | None, timeout_seconds: float | None
) -> ProgramTrace:
    sampled = perf.run(command, program, windows=windows, cwd=cwd, timeout_seconds=timeout_seconds)
    notes = _ending(command[0], sampled.status, stopped=False)
    notes.append(f"{sampled.num_samples} samples, each counted as one cache line: only shares mean something")
    if sampled.without_names is not None:
        notes.append(f"allocations are not known: {sampled.without_names}; pages that lie together are one object")
    return ProgramTrace(
        trace=sampled.trace, heat=sampled.heat, source="perf", status=sampled.status, notes=tuple(notes)
    )


def _ending(name: str, status: int, *, stopped: bool) -> list[str]:
    if stopped:
        return [f"{name} was stopped at its timeout: the trace is of what it had done by then"]
    return [f"{name} {how_it_ended(status)}; the trace is of what it did until then"] if status else []


def _share_seconds(
    traced: valgrind.Traced, alone: tuple[float, int] | None, *, time_natively: bool
) -> tuple[list[float], str]:
    """Seconds of each window, and what to say of them."""
    accesses = traced.counter.accesses
    if alone is None or alone[1] != traced.status:
        if not time_natively:
            why = "the program was not run alone"
        elif alone is None:
            why = "the program did not come to its end in time"
        else:
            why = f"alone the program {how_it_ended(alone[1])}, traced it {how_it_ended(traced.status)}"
        return [0.0] * len(accesses), f"seconds are not known (0): {why}"
    took = format_seconds(alone[0])
    said = f"seconds are modelled: the {took} of one run alone, shared out by accesses"
    return [float(share) for share in accesses / accesses.sum() * alone[0]], said


Parts = tuple[dict[str, int], NDArray[np.int64], Heat]
"""Bytes of each object, bytes read and written [objects, windows, 2], and the heat."""


def _by_allocation(counter: Counter, program: str) -> Parts:
    found = counter.objects.found
    names = name_objects(found, find_places({frame for each in found for frame in each.frames}, program))
    pages, owners, by_page = counter.by_page()
    page_nbytes = 1 << counter.page_shift
    moved = counter.by_object
    nbytes = [each.peak_nbytes for each in found]
    for number in (OTHER, STACK):
        nbytes[number] = max(int(np.count_nonzero(owners == number)), 1) * page_nbytes
    kept = [number for number in range(len(found)) if number not in (OTHER, STACK) or moved[number].any()]
    heat = Heat.of_pages(pages, by_page.sum(axis=2).T, [names[owner] for owner in owners], page_nbytes=page_nbytes)
    return {names[number]: nbytes[number] for number in kept}, moved[kept], heat


def _by_pages(counter: Counter) -> Parts:
    """Without allocations: groups of pages, and the stack."""
    pages, owners, by_page = counter.by_page()
    page_nbytes = 1 << counter.page_shift
    loose = owners != STACK
    groups = np.zeros(len(pages), np.int64)
    groups[loose] = group_pages(pages[loose]) + 1
    names, nbytes = group_names(pages[loose], groups[loose] - 1, page_nbytes)
    sizes = {"stack": int(np.count_nonzero(~loose)) * page_nbytes} | dict(zip(names, nbytes, strict=True))
    moved = np.zeros((len(sizes), *by_page.shape[1:]), np.int64)
    np.add.at(moved, groups, by_page)
    every = list(sizes)
    heat = Heat.of_pages(pages, by_page.sum(axis=2).T, [every[group] for group in groups], page_nbytes=page_nbytes)
    return sizes, moved, heat
