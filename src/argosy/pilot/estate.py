"""What a pilot has on its machine beside the run's folder, and how the next one there clears what a dead one left.

A pilot and its guard each clear up when the other dies; when both are killed at once, nobody is left to do it. So the
estate is a folder with a `lock` that both hold, which the kernel lets go of when both are gone, however they went; and
every process that was started for the pilot has the estate in its environment.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import socket
import stat
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from argosy.errors import FolderNotWritable
from argosy.pilot import private
from argosy.pilot.processes import end_family

VARIABLE = "ARGOSY_ESTATE"
_PREFIX = "argosy-pilot-"
_UNFINISHED = "argosy-new-"
_FORGOTTEN_SECONDS = 3600.0
"""An estate that is being made for so long will never be."""
_MOST_PLACE_NBYTES = 75
"""The path of a Unix socket has at most 107 bytes, of which the estate and the socket's own name take 30."""


class Estate:
    """Owned by the process that made it; its children must not remove it."""

    def __init__(self, folder: Path, lock: int, disk: Path | None) -> None:
        self.folder = folder
        self.lock = lock
        """Descriptor of the file whose lock says that somebody lives."""
        self.disk = disk
        """A folder for what is large, where temporary files usually go; None where there is no room."""

    @property
    def folders(self) -> list[Path]:
        """Where files of the pilot may go, the fastest first."""
        return [self.folder] if self.disk is None else [self.folder, self.disk]

    def let_go(self) -> None:
        """The lock, here. A guard may still hold it."""
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1

    def remove(self) -> None:
        for folder in reversed(self.folders):
            shutil.rmtree(folder, ignore_errors=True)
        self.let_go()


def make(keys: Path) -> Estate:
    """A new one; `keys` is a folder elsewhere that goes with it."""
    problems = []
    for place in _places():
        try:
            return _make(place, keys)
        except OSError as error:
            problems.append(f"{place}: {error.strerror or error}")
    raise FolderNotWritable(
        f"there is no place for the pilot's sockets: {'; '.join(problems)}; "
        "free some space there, or name a folder with a short path with the variable TMPDIR"
    )


def sweep() -> list[Path]:
    """Clear what pilots of this user have left on this machine whose processes were all killed. Says which."""
    return [folder for place in _places() for folder in _left_in(place) if _clear(folder)]


def end_processes(folder: Path) -> None:
    """Those that were started for the pilot with this estate, and what they have started."""
    end_family(VARIABLE.encode(), os.fsencode(folder))


def _places() -> list[Path]:
    """Memory first: it is local, short to name, and empty after a restart of the machine."""
    places = (Path("/dev/shm"), Path(tempfile.gettempdir()).resolve(), Path("/tmp"))
    return [place for place in dict.fromkeys(places) if os.access(place, os.W_OK | os.X_OK)]


def _make(place: Path, keys: Path) -> Estate:
    if len(os.fsencode(place)) > _MOST_PLACE_NBYTES:
        raise OSError(f"its path has {len(os.fsencode(place))} bytes, too long for a socket in it")
    new = private.make_temporary_folder(place, _UNFINISHED)
    try:
        lock = private.opener(new / "lock", os.O_RDWR | os.O_CREAT)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        disk = Path(tempfile.gettempdir()).resolve() / f"{_PREFIX}{uuid.uuid4().hex}"
        belongings = {"host": socket.gethostname(), "folders": [str(disk), str(keys)]}
        with open(new / "belongings.json", "w", encoding="utf-8", opener=private.opener) as file:
            json.dump(belongings, file)
        folder = new.with_name(f"{_PREFIX}{new.name.removeprefix(_UNFINISHED)}")
        new.rename(folder)  # from here on whoever sees it sees its lock
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    try:
        private.make_folder(disk)
    except OSError:
        return Estate(folder, lock, None)
    return Estate(folder, lock, disk)


def _left_in(place: Path) -> Iterator[Path]:
    for folder in [*place.glob(f"{_PREFIX}*"), *place.glob(f"{_UNFINISHED}*")]:
        with contextlib.suppress(OSError):  # it has just been removed
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
                if folder.name.startswith(_PREFIX):
                    yield folder
                elif time.time() - found.st_mtime > _FORGOTTEN_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)


def _clear(folder: Path) -> bool:
    """False where somebody lives, or may live on another machine."""
    try:
        lock = os.open(folder / "lock", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        belongings = json.loads((folder / "belongings.json").read_text(encoding="utf-8"))
        if belongings["host"] != socket.gethostname():
            return False
        others = [Path(name) for name in belongings["folders"]]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    else:
        end_processes(folder)
        for path in [*filter(_is_ours, others), folder]:
            shutil.rmtree(path, ignore_errors=True)
        return True
    finally:
        os.close(lock)


def _is_ours(path: Path) -> bool:
    """Whether a path that was read from a file is one that a pilot makes."""
    try:
        if not path.is_absolute() or path.lstat().st_uid != os.geteuid():
            return False
    except OSError:
        return False
    return path.name.startswith(_PREFIX) or (path.name == "keys" and (path.parent / "events.jsonl").exists())
