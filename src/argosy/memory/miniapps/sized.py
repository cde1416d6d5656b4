"""How large a mini-app is when nobody says it."""

from __future__ import annotations

from pathlib import Path

from argosy.resources.discover.memory import memory_nbytes
from argosy.units import parse_nbytes

LEAST_CACHE_NBYTES = 8 << 20
"""A machine with less, or that does not say, is treated as having this much."""
MOST_CACHE_NBYTES = 64 << 20
"""A larger one is a whole processor's, which this machine shares with others whom it cannot see; and with 480 MiB, as a
virtual machine of two cores tells of its own, a run would take ten times as long and tell no more."""
MEMORY_SHARE = 16
"""At most one part in so many of the memory: an object is there twice while it moves, and others need room too."""

_CACHES_OF_A_CORE = Path("/sys/devices/system/cpu/cpu0/cache")


def default_nbytes(*, memory: int, cache: int) -> int:
    """Bytes of all objects of one mini-app together, for so many bytes of memory and of last-level cache.

    As much as the cache, within bounds: after a sweep over all objects the first of them is no longer in it, and runs
    are as short as that allows, for many short runs tell more than a few long ones.
    """
    return min(max(cache, LEAST_CACHE_NBYTES), MOST_CACHE_NBYTES, memory // MEMORY_SHARE)


def nbytes_here() -> int:
    """The same, for this machine."""
    return default_nbytes(memory=memory_nbytes(), cache=cache_nbytes(_CACHES_OF_A_CORE))


def cache_nbytes(folder: Path) -> int:
    """The largest cache that one core can fill, as Linux tells it in this folder; 0 where it does not."""
    return max((parse_nbytes(path.read_text()) for path in folder.glob("index*/size")), default=0)
