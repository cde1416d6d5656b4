"""Objects whose home is the host and which are copied to the device to be used; the next one is copied ahead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from argosy.errors import TierFull
from argosy.memory.tiers.cuda.lane import Copy


class Copies(Protocol):
    """What carries the bytes: a `Lane`."""

    def room(self, nbytes: int) -> Copy: ...
    def fetch(self, home: Any) -> Copy: ...
    def use(self, copy: Copy) -> Any: ...
    def give_back(self, tensor: Any, home: Any) -> None: ...


class Staging:
    """Remembers which object was opened after which two, and copies the one that comes next ahead of its use.

    After two and not after one: an object that several windows use is followed by another one in each. At most one
    object is ahead at a time: when another is opened instead, its copy is dropped. Where the device has no room for
    it, it is copied when it is opened.
    """

    def __init__(self, lane: Copies, *, prefetch: bool = True) -> None:
        self.lane = lane
        self._prefetch = prefetch
        self._before: StagedBlock | None = None
        self._last: StagedBlock | None = None
        self._ahead: StagedBlock | None = None
        self._next: dict[tuple[StagedBlock | None, StagedBlock], StagedBlock] = {}

    def opened(self, block: StagedBlock) -> None:
        """Called each time a block is opened, after its own copy was started."""
        if not self._prefetch or self._last is block:
            return
        if self._last is not None:
            self._next[self._before, self._last] = block
        self._before, self._last = self._last, block
        following = self._next.get((self._before, block))
        if self._ahead not in (None, block, following):
            self._ahead.rest(written=False)
        waiting = following is not None and following is self._ahead
        self._ahead = following if following is not None and (waiting or following.begin()) else None

    def freed(self, block: StagedBlock) -> None:
        self._next = {
            (before, last): following
            for (before, last), following in self._next.items()
            if block not in (before, last, following)
        }
        self._before, self._last, self._ahead = (
            None if each is block else each for each in (self._before, self._last, self._ahead)
        )


class StagedBlock:
    """Bytes on the host, and while they are in use a copy on the device, which is then the one that counts."""

    def __init__(self, home: Any, staging: Staging, *, release: Callable[[int], None]) -> None:
        self.nbytes: int = home.numel()
        self._home: Any = home
        self._staging = staging
        self._release = release
        self._copy: Copy | None = None
        self._version = 0
        self._filled = False
        """The host's bytes mean something; before that there is nothing to copy."""

    @property
    def staged(self) -> bool:
        """There is a copy on the device, or one on its way."""
        return self._copy is not None

    def open(self) -> Any:
        if self._copy is None:
            self._start()
        self._staging.opened(self)
        assert self._copy is not None
        return self._staging.lane.use(self._copy)

    def begin(self) -> bool:
        """Starts the copy ahead of its use; false where there is none to start, or no room for it."""
        if self._home is None or self._copy is not None or not self._filled:
            return False
        try:
            self._start()
        except TierFull:
            return False
        return True

    def rest(self, *, written: bool) -> None:
        """Copies back what was written, also what was written outside of windows, and drops the copy."""
        if self._copy is None:
            return
        if written or self._copy.tensor._version != self._version:
            self._staging.lane.give_back(self._copy.tensor, self._home)
            self._filled = True
        self._copy = None

    def free(self) -> None:
        self._staging.freed(self)
        self._release(self.nbytes)
        self._home = self._copy = None

    def _start(self) -> None:
        lane = self._staging.lane
        self._copy = lane.fetch(self._home) if self._filled else lane.room(self.nbytes)
        self._version = self._copy.tensor._version
