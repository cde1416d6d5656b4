"""Names of the columns of a join."""

from __future__ import annotations

from collections.abc import Sequence


def joined_names(
    left: Sequence[str], right: Sequence[str], right_on: Sequence[str], suffix: str = "_right"
) -> dict[str, str]:
    """What each column of the right side, other than its keys, is called beside those of the left."""
    taken = set(left)
    renamed: dict[str, str] = {}
    for name in right:
        if name in right_on:
            continue
        new = name
        while new in taken:
            new += suffix or "_right"
        taken.add(new)
        renamed[name] = new
    return renamed
