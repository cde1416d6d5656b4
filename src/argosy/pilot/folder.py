"""The folder of a run: events, what ranks and programs printed, settings, and the keys while it lasts."""

from __future__ import annotations

import contextlib
import os
import time
import warnings
from pathlib import Path

from argosy import events
from argosy.errors import FolderNotWritable
from argosy.pilot import private

_FLUSH_EVERY_SECONDS = 0.25


def runs_folder() -> Path:
    """Where runs go unless told otherwise: `$ARGOSY_RUNS`, or `~/.argosy/runs`."""
    named = os.environ.get("ARGOSY_RUNS")
    return Path(named) if named else Path.home() / ".argosy" / "runs"


def create(folder: Path | None) -> Path:
    """A fresh folder for one run, inside `folder` or the usual place."""
    parent = folder or runs_folder()
    stamp = time.strftime("%Y%m%d-%H%M%S")
    try:
        parent.mkdir(parents=True, exist_ok=True)
        for attempt in range(1000):
            made = parent / f"{stamp}-{os.getpid()}{f'-{attempt}' if attempt else ''}"
            try:
                private.make_folder(made)
            except FileExistsError:
                continue
            for part in ("ranks", "programs", "keys"):
                private.make_folder(made / part)
            with open(made / events.FILE_NAME, "x", opener=private.opener):
                pass
            return made.resolve()
    except OSError as error:
        raise not_writable(parent, error) from error
    raise FolderNotWritable(f"{parent} already has a thousand runs of this second")


def not_writable(folder: Path, error: OSError) -> FolderNotWritable:
    return FolderNotWritable(
        f"the run's folder cannot be made in {folder}: {error.strerror or error}; "
        "name another with Pilot(folder=...) or the variable ARGOSY_RUNS"
    )


def key_file(folder: Path) -> Path:
    return folder / "keys" / "worker.json"


def rank_log(folder: Path, rank: int) -> Path:
    return folder / "ranks" / f"rank-{rank}.log"


def launcher_log(folder: Path) -> Path:
    return folder / "launcher.log"


class EventLog:
    """Appends events to the run's file. A full disk costs the log, never a task. Owned by one thread."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / events.FILE_NAME
        self._file = open(self._path, "ab", buffering=0, opener=private.opener)  # noqa: SIM115
        """Without a buffer: the child of a fork would write it once more."""
        self._events: list[events.Event] = []
        self._flushed_at = 0.0
        self._broken = False

    def add(self, event: events.Event) -> None:
        if not self._broken:
            self._events.append(event)

    def flush_when_due(self, now: float) -> None:
        if self._events and now - self._flushed_at >= _FLUSH_EVERY_SECONDS:
            self._flushed_at = now
            self.flush()

    @property
    def due_at(self) -> float | None:
        """When it wants to be flushed, if it has anything to write."""
        return self._flushed_at + _FLUSH_EVERY_SECONDS if self._events else None

    def flush(self) -> None:
        waiting, self._events = self._events, []
        if not waiting or self._broken:
            return
        try:
            left = memoryview("".join(events.encode(event) + "\n" for event in waiting).encode())
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            self._broken = True
            with contextlib.suppress(Exception):  # where warnings are errors, or shown by code of the user's
                warnings.warn(
                    f"events can no longer be written to {self._path}: {error.strerror or error}; the tasks go on",
                    RuntimeWarning,
                    stacklevel=2,
                )

    def close(self) -> None:
        self.flush()
        self._file.close()
