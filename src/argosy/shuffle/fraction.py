"""The share of its samples that a rank exchanges in an epoch."""

from __future__ import annotations

from numbers import Real
from typing import Any

from argosy.errors import BadFraction


def checked_fraction(given: Any) -> float:
    """A number from 0 to 1, or `BadFraction`."""
    if isinstance(given, bool) or not isinstance(given, Real) or not 0 <= float(given) <= 1:  # NaN is not either
        raise BadFraction(
            f"fraction is the share of its samples that a rank exchanges in each epoch, from 0 (none: local shuffling) "
            f"to 1 (all: global), not {given!r}"
        )
    return float(given)
