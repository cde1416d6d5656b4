"""Two chains of work that do not depend on each other, written one after the other as anybody would.

    python examples/overlap.py

Decorated, they run at the same time, on two cores; the answer is the same to the bit. `explain` shows what ran where,
and what had to wait for what.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import argosy

Floats = NDArray[np.float64]


@argosy.futurize
def compare(attic: Floats, cellar: Floats) -> tuple[float, float]:
    ordered = np.sort(attic)
    usual = ordered[len(ordered) // 2]
    unrest = np.abs(np.sin(attic - usual)).mean()

    ordered_below = np.sort(cellar)
    usual_below = ordered_below[len(ordered_below) // 2]
    unrest_below = np.abs(np.sin(cellar - usual_below)).mean()

    return float(usual - usual_below), float(unrest - unrest_below)


def seconds(function: Callable[..., object], *args: Floats) -> float:
    """The best of three."""
    taken = []
    for _ in range(3):
        began = time.perf_counter()
        function(*args)
        taken.append(time.perf_counter() - began)
    return min(taken)


def main() -> None:
    draw = np.random.default_rng(0)
    attic, cellar = draw.normal(24, 4, 2_000_000), draw.normal(12, 1, 2_000_000)
    warmer, restless = compare(attic, cellar)
    assert (warmer, restless) == compare.plain(attic, cellar)
    print(f"the attic is {warmer:.2f} degrees warmer than the cellar, and more restless by {restless:.3f}")
    print(f"plain Python {seconds(compare.plain, attic, cellar):.3f} s, ", end="")
    print(f"futurized {seconds(compare, attic, cellar):.3f} s")
    print()
    compare.explain(attic, cellar)


if __name__ == "__main__":
    main()
