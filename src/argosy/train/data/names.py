"""Which columns are learned from, and which one is to be learned."""

from __future__ import annotations

from collections.abc import Sequence

from argosy.errors import BadData, UnknownColumn

LABELS = ("label", "target", "y")
"""What the label is called where nobody says; the first of them that is there."""


def choose(
    names: Sequence[str], features: str | Sequence[str] | None, label: str | None
) -> tuple[tuple[str, ...], str]:
    """The features and the label."""
    if label is None:
        label = next((name for name in LABELS if name in names), None)
        if label is None:
            raise BadData(
                f"no column is called {', '.join(LABELS[:-1])} or {LABELS[-1]}; say which is to be learned: "
                f"label=...; there are: {', '.join(names) or 'none'}"
            )
    if isinstance(features, str):
        features = (features,)
    elif features is None:
        features = tuple(name for name in names if name != label)
    for name in (*features, label):
        if name not in names:
            raise UnknownColumn(name, names)
    if label in features:
        raise BadData(f"column {label!r} is the label, and among the features as well; a model would just repeat it")
    if not features:
        raise BadData(f"there is no column to learn from beside the label {label!r}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise BadData(f"two columns are called {twice!r}; rename one of them")
    return tuple(features), label
