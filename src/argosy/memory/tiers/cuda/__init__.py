"""The two memories of a CUDA device: its own, and the host's that it can reach by itself."""

from __future__ import annotations

from argosy.memory.tiers.cuda.hbm import Hbm
from argosy.memory.tiers.cuda.pinned import PinnedHost

__all__ = ["Hbm", "PinnedHost"]
