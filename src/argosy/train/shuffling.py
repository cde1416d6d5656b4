"""How the samples of a run are shuffled between its epochs, as it was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

from argosy import arguments
from argosy.shuffle.fraction import checked_fraction


@dataclass(frozen=True, kw_only=True, slots=True)
class Shuffle:
    kind: Literal["none", "local", "global", "partial"]
    """In each epoch none, each rank its own rows, all samples over all workers, or the latter for a share of them."""
    fraction: float | None = None
    """Of a partial one."""

    def exchanged(self, *, sharded: bool) -> float | None:
        """The share of their samples that workers exchange before each epoch. None where nothing is exchanged: samples
        that every rank has are shuffled over all workers without."""
        if self.kind == "global" and sharded:
            return 1.0
        return self.fraction


def shuffle_of(given: Any, *, on_ranks: bool) -> Shuffle:
    """`on_ranks`: whether each rank may have rows of its own. A bool is no number here, though Python says so."""
    if isinstance(given, bool | np.bool_):
        kind: Literal["none", "local", "global"] = "none" if not given else "local" if on_ranks else "global"
        return Shuffle(kind=kind)
    if isinstance(given, Real):
        return Shuffle(kind="partial", fraction=checked_fraction(given))
    if isinstance(given, str) and given == "global":
        return Shuffle(kind="global")
    if not isinstance(given, str) or given != "local":
        raise ValueError(
            "shuffle is True, False, 'global', 'local' (rows of a frame, each rank its own), or the fraction of its "
            f"samples that each worker exchanges before an epoch, from 0.0 to 1.0; not {arguments.show(given)}"
        )
    if not on_ranks:
        raise ValueError("every rank has all samples of arrays and datasets: shuffle them with shuffle='global'")
    return Shuffle(kind="local")
