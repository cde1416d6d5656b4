"""The largest singular vector of a tall matrix, by power iteration over blocks of its rows.

In each iteration y[k] = M[k] x and then next += M[k]^T y[k] for every block k that takes part: block k does so in every
`rate`-th iteration, as sampled methods do. A matrix is read as a whole each time; the vectors are a thousandth of its
size, but each group of threads reads them again, so in slow memory they cost more per byte than anything else.
"""

from __future__ import annotations

from typing import Any

import torch

from argosy.memory.gpuapps.filled import fill
from argosy.memory.store import Store
from argosy.memory.workload import Workload

NBYTES = 640 << 20
ITERATIONS = 2
SHARES_AND_RATES = ((0.10, 1), (0.40, 2), (0.05, 1), (0.20, 1), (0.15, 2), (0.10, 2))
"""Of all rows, for each block; and in every so many iterations."""


def make(nbytes: int) -> Workload:
    """Returns, from each run, the square of the singular value that each iteration found."""
    width = max(32 * round((nbytes / 4) ** 0.5 / 52), 32)
    heights = [max(round(share * nbytes / 4 / width), 1) for share, _ in SHARES_AND_RATES]
    return Workload(name="gemv", objects=lambda: _objects(heights, width), run=_run)


def _objects(heights: list[int], width: int) -> dict[str, torch.Tensor]:
    objects: dict[str, torch.Tensor] = {}
    for block, height in enumerate(heights):
        matrix = torch.empty(height, width)
        fill(matrix, 1.0, seed=block)
        objects[f"m{block}"] = matrix
        objects[f"y{block}"] = torch.zeros(height)
    return {**objects, "x": torch.zeros(width), "next": torch.zeros(width)}


def _run(store: Store) -> tuple[float, ...]:
    with store.window("start"):
        store.write("x").fill_(1.0)
    found = []
    for iteration in range(ITERATIONS):
        with store.window("clear"):
            store.write("next").zero_()
        for block, (_, rate) in enumerate(SHARES_AND_RATES):
            if iteration % rate == 0:
                with store.window(f"forward {block}"):
                    torch.mv(store[f"m{block}"], store["x"], out=store.write(f"y{block}"))
                with store.window(f"back {block}"):
                    store.update("next").addmv_(store[f"m{block}"].t(), store[f"y{block}"])
        with store.window("scale"):
            found.append(_scale(store["next"], store.write("x")))
    return tuple(found)


def _scale(after: Any, x: Any) -> float:
    length = after.norm()
    torch.div(after, length, out=x)
    return float(length)
