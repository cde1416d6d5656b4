"""Two traces are enough: one run with all data in fast memory, one with all of it in slow memory, of any program.

For programs that cannot be called with other placements: they are traced from outside, once in each memory, and the
linear law does the rest. What the two traces cannot tell (which object makes the difference) is in the interval.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from argosy import arguments
from argosy.errors import BadTrace
from argosy.memory.estimator import Estimator
from argosy.memory.laws import fit
from argosy.memory.measuring import Measurements
from argosy.memory.moves import Moves
from argosy.memory.trace import Trace, touched


def from_traces(
    fast: Trace,
    slow: Trace,
    by: Literal["operation", "share"] = "operation",
    *,
    fast_tier: str = "fast",
    slow_tier: str = "slow",
    moves: Moves | None = None,
) -> Estimator:
    """An estimator from a trace of each end. Windows are matched by operation, or by share of accesses.

    Every matched window is one of its own. Without `moves` a move costs nothing: good for static plans alone. Raises
    `BadTrace` for traces of different programs, and for traces without times.
    """
    from argosy.memory.program.matching import match

    for name, trace in (("fast", fast), ("slow", slow)):
        arguments.instance(name, trace, Trace, "an argosy.memory.Trace")
    for name, tier in (("fast_tier", fast_tier), ("slow_tier", slow_tier)):
        if not arguments.text(name, tier):
            raise ValueError(f"{name} must be the name of a tier, not ''")
    if moves is not None:
        arguments.instance("moves", moves, Moves, "an argosy.memory.moves.Moves")
    if not fast.seconds or not slow.seconds:
        raise BadTrace("a trace without seconds tells nothing of time; trace with a source that has them")
    pairs = match(fast, slow, by)
    names = tuple(f"{number}: {pair.fast.name}" for number, pair in enumerate(pairs))
    objects = fast.objects
    windows = [
        type(pair.fast)(name=name, seconds=0.0, touches=pair.fast.touches)
        for name, pair in zip(names, pairs, strict=True)
    ]
    measured = Measurements(
        program=fast.program,
        objects=objects,
        sizes=tuple(fast.sizes[name] for name in objects),
        windows=names,
        order=tuple(range(len(names))),
        rows=np.array([[False] * len(objects), [True] * len(objects)]),
        seconds=np.array([[[pair.fast.seconds for pair in pairs]], [[pair.slow.seconds for pair in pairs]]]),
        moved=touched(windows, names, objects),
    )
    fitted = fit(measured, "linear")
    return Estimator(
        program=fast.program,
        fast=fast_tier,
        slow=slow_tier,
        law=fitted.law,
        costs=fitted.costs,
        moves=moves or Moves(fetch_seconds_per_byte=0.0, evict_seconds_per_byte=0.0),
        noise=0.0,
        spread=0.0,
        errors=fitted.errors,
        measured=measured.rows,
        seconds=tuple(float(total) for total in measured.totals),
    )
