"""Which windows of one run go with which of another run of the same program, in other memory.

"operation"   the k-th window of a name goes with the k-th of that name: for windows that were marked in code
"share"       both runs are cut where the same share of all bytes has been touched: for windows of a whole program,
              whose numbers differ from run to run
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argosy import arguments
from argosy.errors import BadTrace
from argosy.memory.program.result import FIXED
from argosy.memory.trace import Touch, Trace, Window, check_same_program


class Pair(NamedTuple):
    """The same piece of work in both runs."""

    fast: Window
    slow: Window


def match(trace_fast: Trace, trace_slow: Trace, by: Literal["operation", "share"] = "operation") -> list[Pair]:
    """Pairs of windows, in the order of the fast run. Seconds and bytes of either run are all in them, once.

    "share" makes as many pairs as the run with fewer windows has windows; a window that is cut gives each part its
    seconds and bytes by the part's share. Raises `BadTrace` for traces of different programs, or, by operation, of
    windows with other names or numbers.
    """
    for name, trace in (("trace_fast", trace_fast), ("trace_slow", trace_slow)):
        arguments.instance(name, trace, Trace, "an argosy.memory.Trace").check()
    if not isinstance(by, str) or by not in ("operation", "share"):
        raise BadTrace(f"windows are matched by 'operation' or by 'share', not by {arguments.show(by)}")
    check_same_program(_placeable(trace_fast), _placeable(trace_slow))
    if by == "operation":
        return _by_operation(trace_fast, trace_slow)
    return _by_share(trace_fast, trace_slow)


def _placeable(trace: Trace) -> Trace:
    """Without what has a size of its own in each run: the stack, and what has no name."""
    return replace(trace, sizes={name: nbytes for name, nbytes in trace.sizes.items() if name not in FIXED})


def _by_operation(fast: Trace, slow: Trace) -> list[Pair]:
    there: dict[str, list[Window]] = defaultdict(list)
    for window in slow.windows:
        there[window.name].append(window)
    wanted: dict[str, int] = defaultdict(int)
    for window in fast.windows:
        wanted[window.name] += 1
    for name in dict.fromkeys([*wanted, *there]):
        if wanted[name] != len(there[name]):
            raise BadTrace(
                f"the window {name!r} ran {wanted[name]} times in one run and {len(there[name])} times in the other, "
                "so they did different work; trace the same program with the same input, or match by='share'"
            )
    following = {name: iter(windows) for name, windows in there.items()}
    return [Pair(window, next(following[window.name])) for window in fast.windows]


def _by_share(fast: Trace, slow: Trace) -> list[Pair]:
    shorter = fast if len(fast.windows) <= len(slow.windows) else slow
    edges = _shares(shorter)
    names = [window.name for window in shorter.windows]
    return [Pair(*both) for both in zip(_recut(fast, edges, names), _recut(slow, edges, names), strict=True)]


def _touched(window: Window) -> int:
    return sum(touch.bytes_read + touch.bytes_written for touch in window.touches)


def _shares(trace: Trace) -> NDArray[np.float64]:
    """The share of all bytes that has been touched before each window, and 1 at the end."""
    amounts = np.array([_touched(window) for window in trace.windows], np.float64)
    if not amounts.any():
        raise BadTrace(
            f"the windows of {trace.program!r} touched no byte, so they have no shares; match by='operation'"
        )
    shares = np.concatenate([[0.0], np.cumsum(amounts)]) / amounts.sum()
    shares[-1] = 1.0
    return shares


def _recut(trace: Trace, edges: NDArray[np.float64], names: list[str]) -> list[Window]:
    """The run as windows between these shares."""
    own = _shares(trace)
    if np.array_equal(own, edges):
        return list(trace.windows)
    # The window's own number as a function of the share; a window of no bytes has no width and falls to one side whole.
    cuts = np.interp(edges, own, np.arange(len(own), dtype=np.float64))
    cuts[0], cuts[-1] = 0.0, float(len(trace.windows))
    kinds = list(dict.fromkeys((touch.object, touch.tier) for window in trace.windows for touch in window.touches))
    column = {kind: number for number, kind in enumerate(kinds)}
    amounts = np.zeros((len(trace.windows) + 1, len(kinds), 2))
    seconds = np.zeros(len(trace.windows) + 1)
    for number, window in enumerate(trace.windows, start=1):
        seconds[number] = window.seconds
        for touch in window.touches:
            amounts[number, column[touch.object, touch.tier]] += touch.bytes_read, touch.bytes_written
    seconds = np.cumsum(seconds)
    amounts = np.cumsum(amounts, axis=0)
    # Whole bytes by the difference of rounded sums: they add up to what there was.
    low = cuts.astype(np.int64).clip(0, len(trace.windows) - 1)
    part = cuts - low
    at_seconds = seconds[low] + part * (seconds[low + 1] - seconds[low])
    at_bytes = np.rint(amounts[low] + part[:, None, None] * (amounts[low + 1] - amounts[low])).astype(np.int64)
    return [
        Window(
            name=name,
            seconds=float(at_seconds[number + 1] - at_seconds[number]),
            touches=tuple(
                Touch(object=each, bytes_read=int(read), bytes_written=int(written), tier=tier)
                for (each, tier), (read, written) in zip(kinds, at_bytes[number + 1] - at_bytes[number], strict=True)
                if read or written
            ),
        )
        for number, name in enumerate(names)
    ]
