"""Read a file of events while somebody writes it."""

from __future__ import annotations

import os
from pathlib import Path

from argosy.events import Event, decode


class Tail:
    """The events of a file, those that are new since the last look.

    A last line without an end waits for its end. A line that is no event is counted and left out. A file that shrank or
    was replaced is read from its beginning again, and `restarts` says so: what was made of its events before is void.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.num_unreadable = 0
        self.restarts = 0
        self._inode = 0
        self._offset = 0

    def read(self) -> list[Event]:
        """All events that are complete by now and were not returned before. A file that is gone has none."""
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return []
        with file:
            status = os.fstat(file.fileno())
            if self._offset and (status.st_ino != self._inode or status.st_size < self._offset):
                self.restarts += 1
                self.num_unreadable = 0
                self._offset = 0
            self._inode = status.st_ino
            file.seek(self._offset)
            whole, end, _half = file.read().rpartition(b"\n")
        self._offset += len(whole) + len(end)
        return [event for line in whole.split(b"\n") if line and (event := self._decode(line)) is not None]

    def _decode(self, line: bytes) -> Event | None:
        try:
            return decode(line.decode())
        except (ValueError, KeyError, TypeError, AttributeError):
            self.num_unreadable += 1
            return None
