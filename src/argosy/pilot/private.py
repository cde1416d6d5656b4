"""Folders and files that nobody but their owner may look into, whatever the umask."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def make_folder(path: Path) -> None:
    """A new one. Its parent must be there."""
    path.mkdir(mode=0o700)
    path.chmod(0o700)  # the umask may take rights from the owner too


def make_temporary_folder(place: Path, prefix: str) -> Path:
    made = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
    made.chmod(0o700)
    return made


def opener(path: str | os.PathLike[str], flags: int) -> int:
    """For `open(..., opener=opener)`."""
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o600)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.fchmod(descriptor, 0o600)
    return descriptor
