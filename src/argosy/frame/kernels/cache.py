"""Where compiled kernels are kept. Light: does not load Numba.

The folder is named for the source of all kernels, so a kernel that calls another one is never older than it.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

_STAMP = "ready"


@lru_cache(maxsize=1)
def cache_folder() -> Path:
    """In `$ARGOSY_CACHE`, the user's cache folder or the temporary folder: the first that can be written."""
    source = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        source.update(path.read_bytes())
    name = f"kernels-{version('numba')}-{source.hexdigest()[:12]}"
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    roots = [home / "argosy", Path(tempfile.gettempdir()) / f"argosy-{os.getuid()}"]
    if asked := os.environ.get("ARGOSY_CACHE"):
        roots.insert(0, Path(asked))
    for root in roots:
        folder = root / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.mkdtemp(prefix="argosy-kernels-"))


def is_ready() -> bool:
    """Whether all kernels have been compiled for this kind of processor."""
    return (cache_folder() / _stamp()).exists()


def set_ready() -> None:
    (cache_folder() / _stamp()).touch()


@lru_cache(maxsize=1)
def _stamp() -> str:
    """A home folder may be shared by machines of several kinds."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if Path("/proc/cpuinfo").exists() else []
    facts = [line for line in lines if line.startswith(("model name", "flags", "Features"))][:2]
    return f"{_STAMP}-{hashlib.sha256(' '.join(facts).encode()).hexdigest()[:12]}"
