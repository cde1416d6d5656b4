"""What is known of NumPy's ufuncs and of their methods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from argosy.tree.knowledge.behaviour import Behaviour

FRESH_OR_OUT = Behaviour(result="fresh", takes="arrays", writes=("out",))

_METHODS: dict[str, Behaviour] = {
    "accumulate": replace(FRESH_OR_OUT, writes=(3, "out")),
    "at": Behaviour(result="atom", takes="arrays", writes=(0,)),
    "outer": FRESH_OR_OUT,
    "reduce": replace(FRESH_OR_OUT, writes=(3, "out")),
    "reduceat": replace(FRESH_OR_OUT, writes=(4, "out")),
}


def known() -> Iterator[tuple[np.ufunc, Behaviour]]:
    """NumPy's own; one that `np.frompyfunc` or another package has made runs code nobody knows."""
    for module in (np, np.strings):
        for value in vars(module).values():
            if isinstance(value, np.ufunc):
                yield value, replace(FRESH_OR_OUT, writes=(*range(value.nin, value.nargs), "out"))


def of_ufunc_method(name: str) -> Behaviour | None:
    """`np.add.reduce` and its like; None when it is not known."""
    return _METHODS.get(name)
