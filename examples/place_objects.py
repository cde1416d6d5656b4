"""Which arrays of a program should be in RAM, where there is less of it than the program wants?

    python examples/place_objects.py [--capacity 50%] [--folder /path/on/a/disk]

Conjugate gradients on a grid of rooms: two arrays are read and written in every step, others are read once. The program
runs a few times with its arrays in RAM and on disk; that is enough to say what every other placement would take, to
choose the best one, and to hold both against the clock. `argosy memory calibrate --workload place_objects.py:heat` does
the same from the command line.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy.memory import Disk, Store, Workload, calibrate, plan, validate

Grid = NDArray[np.float64]
SIDE = 384
STEPS = 4


def arrays() -> dict[str, Any]:
    """What the program has when it begins; a store copies them."""
    draw = np.random.default_rng(0)
    grid = (SIDE, SIDE)
    return {
        "walls": 1 + draw.random(grid),  # how well each point keeps its heat: read in every step
        "heating": draw.normal(size=grid),  # read once
        "map": draw.random((4, *grid)),  # of four floors; read once
        "celsius": np.zeros(grid),
        "residual": np.zeros(grid),
        "direction": np.zeros(grid),
        "spread": np.zeros(grid),
    }


def solve(store: Store) -> float:
    """One run. It sets its own state first, so that every run does the same work."""
    with store.window("begin"):
        store.write("celsius")[:] = 0
        store.write("residual")[:] = store["heating"]
        store.write("direction")[:] = store["heating"]
    with store.window("norm"):
        norm = dot(store["residual"], store["residual"])
    for _ in range(STEPS):
        with store.window("spread"):
            spread_heat(store["direction"], store["walls"], out=store.write("spread"))
        with store.window("step"):
            length = norm / dot(store["direction"], store["spread"])
            store.update("celsius")[:] += length * store["direction"]
            residual = store.update("residual")
            residual -= length * store["spread"]
            before, norm = norm, dot(residual, residual)
        with store.window("turn"):
            direction = store.update("direction")
            direction *= norm / before
            direction += store["residual"]
    with store.window("floors"):
        return dot(store["map"], store["celsius"])


def dot(one: Grid, other: Grid) -> float:
    """Not by BLAS, whose threads would make every run take another time on a machine that others use too."""
    return float((one * other).sum())


def spread_heat(grid: Grid, walls: Grid, out: Grid) -> None:
    """What each point keeps, less what its four neighbours give it."""
    np.multiply(grid, 4 * walls, out=out)
    out[1:] -= grid[:-1]
    out[:-1] -= grid[1:]
    out[:, 1:] -= grid[:, :-1]
    out[:, :-1] -= grid[:, 1:]


heat = Workload(name="heat", objects=arrays, run=solve)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--capacity", default="50%", help="of RAM: a share of all arrays, or like 4MiB")
    parser.add_argument("--folder", help="on the disk to place arrays on; a usual one unless told")
    parser.add_argument("--placements", type=int, default=20, help="to measure that were not seen before; 0 is none")
    asked = parser.parse_args()
    disk = Disk(asked.folder)

    estimator = calibrate(heat, repeats=3, slow=disk, noise=1.0)
    in_ram, on_disk = estimator.seconds[:2]
    print(f"measured: {in_ram:.3f} s with everything in RAM, {on_disk:.3f} s with everything on disk")
    print(f"law {estimator.law}; mean error of each on placements that it did not see: ", end="")
    print(", ".join(f"{law} {error:.1%}" for law, error in estimator.errors.items()))

    chosen = plan(estimator, asked.capacity)
    expected = estimator.predict(chosen.placement)
    print(f"\n{chosen}\n9 runs out of 10 are expected between {expected.low:.3f} and {expected.high:.3f} s\n")

    if asked.placements:
        print(validate(heat, estimator, placements=asked.placements, repeats=2, slow=disk))

    with heat.store(slow=disk) as store:
        answer = solve(store)
        store.place(chosen.placement)
        assert solve(store) == answer, "where arrays lie changes nothing but the time"


if __name__ == "__main__":
    main()
