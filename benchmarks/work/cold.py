"""Files that have to come from the disk again."""

from __future__ import annotations

import os
from pathlib import Path

_SYSTEM = Path("/proc/sys/vm/drop_caches")


def drop_cache(folder: Path, *, everything: bool) -> str:
    """Forget what is in memory of the files of a folder: of all files of the machine if `everything` and one may, else
    of these. Says which."""
    os.sync()  # what is not yet on the disk stays in memory
    if everything and os.access(_SYSTEM, os.W_OK):
        try:
            _SYSTEM.write_text("3")
        except OSError:  # a container may show the file, and still not let anybody write to it
            return _drop_these(folder)
        return "drop_caches"
    return _drop_these(folder)


def _drop_these(folder: Path) -> str:
    for path in folder.iterdir():
        file = os.open(path, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)
    return "posix_fadvise"
