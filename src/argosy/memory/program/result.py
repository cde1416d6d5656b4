"""What is known of a program after it was traced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from argosy import arguments
from argosy.errors import BadTrace
from argosy.memory.heat import Heat
from argosy.memory.trace import Touch, Trace, Window

FIXED = ("stack", "other")
"""What a placement cannot move: the stack, and all that has no name."""


class Rank(NamedTuple):
    """One object in the order of heat."""

    object: str
    nbytes: int
    touched_nbytes: int
    touched_per_byte: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ProgramTrace:
    """The trace of one program, and how it came about."""

    trace: Trace
    heat: Heat
    """Over time and address."""
    source: str
    """"valgrind", "perf" or "table"."""
    status: int | None = None
    """As the program ended: 0 is well, negative a signal; None for a table."""
    notes: tuple[str, ...] = ()
    """What a reader must know: which figures are modelled, what was left out."""

    def ranking(self) -> list[Rank]:
        """Objects by bytes touched per byte, hottest first; last of all what cannot be placed (`FIXED`)."""
        touched = dict.fromkeys(self.trace.sizes, 0)
        for window in self.trace.windows:
            for touch in window.touches:
                touched[touch.object] += touch.bytes_read + touch.bytes_written
        ranks = [
            Rank(name, size, touched[name], touched[name] / max(size, 1)) for name, size in self.trace.sizes.items()
        ]
        return sorted(ranks, key=lambda rank: (rank.object in FIXED, -rank.touched_per_byte))


def make_trace(
    program: str,
    *,
    sizes: Mapping[str, int],
    moved: NDArray[np.int64],
    windows: Sequence[str],
    seconds: Sequence[float],
) -> Trace:
    """`moved`: bytes read and written, [objects, windows, 2], objects in the order of `sizes`."""
    touches = [
        tuple(
            Touch(object=name, bytes_read=int(read), bytes_written=int(written), tier="ram")
            for name, (read, written) in zip(sizes, moved[:, number], strict=True)
            if read or written
        )
        for number in range(len(windows))
    ]
    made = [
        Window(name=name, seconds=float(took), touches=touched)
        for name, took, touched in zip(windows, seconds, touches, strict=True)
    ]
    return Trace(program=program, sizes=dict(sizes), windows=tuple(made))


def window_names(number: int) -> list[str]:
    """Each window its own kind: what a program does at one time need not be what it does at another."""
    width = len(str(max(number - 1, 0)))
    return [f"window {i:0{width}}" for i in range(number)]


def windows_of(asked: int) -> int:
    """How many windows a trace is to have, as a user says it."""
    try:
        return arguments.whole("windows", asked, least=1, most=10**6)
    except ValueError as error:
        said = f"windows: a trace needs at least 1 window, not {arguments.show(asked)}" if asked < 1 else str(error)
        raise BadTrace(said) from None
