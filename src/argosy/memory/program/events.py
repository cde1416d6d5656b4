"""What a program allocated and freed, and the objects that come of it: pure, over lines of text.

The lines are those of `interposer.c`. Whatever one call stack allocates is one object; allocations of one call stack
that live at the same time are objects of their own, up to sixteen, and the sixteenth holds the rest. So a temporary of
a loop is one object, and the rows of a matrix are several.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argosy.errors import BadTrace

OTHER, STACK = 0, 1
"""Objects that are always there: what has no name, and the program's stack."""
_AT_ONCE = 16


class Frame(NamedTuple):
    """A place in a file of machine code; an empty path is the program itself."""

    path: str
    offset: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    kind: Literal["hello", "allocated", "moved", "freed"]
    address: int
    """Of a hello: the load bias of the program."""
    nbytes: int = 0
    old: int = 0
    """Where a moved allocation was before; of a hello, the mailbox."""
    seconds: float = 0.0
    frames: tuple[Frame, ...] = ()


def parse_event(line: str) -> Event:
    """One line of the interposer. Raises `BadTrace` for any other."""
    kind, *rest = line.rstrip("\n").split("\t")
    try:
        match kind:
            case "H":
                bias, mailbox, at = rest
                return Event(kind="hello", address=int(bias, 16), old=int(mailbox, 16), seconds=float(at))
            case "A":
                address, nbytes, at, *frames = rest
                old = "0"
            case "R":
                old, address, nbytes, at, *frames = rest
            case "F":
                address, nbytes, at = rest
                return Event(kind="freed", address=int(address, 16), nbytes=int(nbytes, 16), seconds=float(at))
            case _:
                raise ValueError(kind)
        return Event(
            kind="allocated" if kind == "A" else "moved",
            address=int(address, 16),
            nbytes=int(nbytes, 16),
            old=int(old, 16),
            seconds=float(at),
            frames=tuple(_frame(text) for text in frames),
        )
    except ValueError:
        raise BadTrace(f"not an event of an allocation: {line!r}") from None


def _frame(text: str) -> Frame:
    path, _, offset = text.rpartition("+")
    return Frame(path, int(offset, 16))


@dataclass(slots=True)
class Found:
    """One object: where its memory came from, and how much of it there was."""

    frames: tuple[Frame, ...] = ()
    name: str | None = None
    """Known already for static arrays and what is always there."""
    live_nbytes: int = 0
    peak_nbytes: int = 0

    def grow(self, nbytes: int) -> None:
        self.live_nbytes += nbytes
        self.peak_nbytes = max(self.peak_nbytes, self.live_nbytes)


@dataclass(slots=True)
class Objects:
    """Which addresses belong to which object now. Ids are places in `found`; live ranges never overlap."""

    found: list[Found] = field(default_factory=lambda: [Found(name="other"), Found(name="stack")])
    _ranges: list[tuple[int, int, int]] = field(default_factory=list)
    """(first address, first address after it, object), sorted."""
    _of_stack: dict[tuple[Frame, ...], list[int]] = field(default_factory=dict)

    def add_named(self, name: str, address: int, nbytes: int) -> None:
        """Something that lives as long as the program, such as a static array."""
        self.found.append(Found(name=name))
        self._claim(len(self.found) - 1, address, nbytes)

    def apply(self, event: Event) -> None:
        match event.kind:
            case "allocated":
                self._claim(self._object_for(event.frames), event.address, event.nbytes)
            case "moved":
                before = self._release(event.old, 0)
                self._claim(before[0] if before else self._object_for(event.frames), event.address, event.nbytes)
            case "freed":
                self._release(event.address, event.nbytes)

    def ranges(self) -> NDArray[np.int64]:
        """Rows of first address, first address after, object; sorted."""
        return np.array(self._ranges, np.int64).reshape(-1, 3)

    def locate(self, addresses: NDArray[np.int64]) -> NDArray[np.int64]:
        """The object of each address."""
        ranges = self.ranges()
        if not len(ranges):
            return np.zeros(len(addresses), np.int64)
        at = np.searchsorted(ranges[:, 0], addresses, side="right") - 1
        inside = (at >= 0) & (addresses < ranges[at, 1])
        return np.where(inside, ranges[at, 2], OTHER)

    def _object_for(self, frames: tuple[Frame, ...]) -> int:
        mine = self._of_stack.setdefault(frames, [])
        for number in mine:
            if not self.found[number].live_nbytes:
                return number
        if len(mine) < _AT_ONCE:
            self.found.append(Found(frames=frames))
            mine.append(len(self.found) - 1)
        return mine[-1]

    def _claim(self, number: int, address: int, nbytes: int) -> None:
        self._release(address, nbytes)  # a free that was not seen, or a map over a map
        insort(self._ranges, (address, address + nbytes, number))
        self.found[number].grow(nbytes)

    def _release(self, address: int, nbytes: int) -> list[int]:
        """Free [address, address + nbytes), or, with no bytes, all that begins there. The objects that lost some."""
        lost = []
        if not nbytes:
            at = bisect_left(self._ranges, (address, 0, 0))
            if at < len(self._ranges) and self._ranges[at][0] == address:
                begin, end, number = self._ranges.pop(at)
                self.found[number].grow(begin - end)
                lost.append(number)
            return lost
        last = address + nbytes
        at = max(bisect_right(self._ranges, (address, 0, 0)) - 1, 0)
        while at < len(self._ranges) and self._ranges[at][0] < last:
            begin, end, number = self._ranges[at]
            if end <= address:
                at += 1
                continue
            left = [(begin, address, number)] if begin < address else []
            right = [(last, end, number)] if end > last else []
            self._ranges[at : at + 1] = left + right
            self.found[number].grow(max(begin, address) - min(end, last))
            lost.append(number)
            at += len(left) + len(right)
        return lost
