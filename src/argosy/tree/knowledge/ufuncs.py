"""What is known of NumPy's ufuncs and of their methods."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from argosy.tree.knowledge.behaviour import Behaviour

_METHODS: dict[str, Behaviour] = {
    "accumulate": Behaviour(result="fresh", writes=(3, "out")),
    "at": Behaviour(result="atom", writes=(0,)),
    "outer": Behaviour(result="fresh", writes=("out",)),
    "reduce": Behaviour(result="fresh", writes=(3, "out")),
    "reduceat": Behaviour(result="fresh", writes=(4, "out")),
}


def known() -> Iterator[tuple[np.ufunc, Behaviour]]:
    """NumPy's own; one that `np.frompyfunc` or another package has made runs code nobody knows."""
    for module in (np, np.strings):
        for value in vars(module).values():
            if isinstance(value, np.ufunc):
                yield value, Behaviour(result="fresh", writes=(*range(value.nin, value.nargs), "out"))


def of_ufunc_method(name: str) -> Behaviour | None:
    """`np.add.reduce` and its like; None when it is not known."""
    return _METHODS.get(name)
