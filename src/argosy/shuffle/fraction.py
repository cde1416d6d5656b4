"""The share of its samples that a rank exchanges in an epoch."""

from __future__ import annotations

from typing import Any

from argosy import arguments
from argosy.errors import BadFraction


def checked_fraction(given: Any) -> float:
    """A number from 0 to 1, or `BadFraction`."""
    try:
        return arguments.number("fraction", given, least=0, most=1)
    except (TypeError, ValueError):
        raise BadFraction(
            f"fraction is the share of its samples that a rank exchanges in each epoch, from 0 (none: local shuffling) "
            f"to 1 (all: global), not {arguments.show(given)}"
        ) from None
