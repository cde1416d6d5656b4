"""Expressions of NumPy computed whole and in tiles, by one thread and by two: wall time and processor time.

Run as `PYTHONPATH=src:benchmarks python -m work.tiles_by_hand`. The sides take turns in
changing order: each finds the memory as another left it, and what else the machine does meets all of them.
"""

from __future__ import annotations

import ast
import random
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from argosy.tree.tiles import Cut, Site

ROUNDS = 30
DISTANCES = "np.sqrt(((points - centroids[:, np.newaxis]) ** 2).sum(axis=2))"
HEAT = "u[1:-1, 1:-1] + a * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])"
SIGMOID = "1 / (1 + np.exp(-z))"


def cases() -> dict[str, tuple[str, dict[str, object]]]:
    rng = np.random.default_rng(0)
    found: dict[str, tuple[str, dict[str, object]]] = {
        f"distances of 100,000 points x {dims} to 8": (
            DISTANCES,
            {"points": rng.random((100_000, dims)), "centroids": rng.random((8, dims))},
        )
        for dims in (3, 10)
    }
    found["heat 2000 x 2000"] = HEAT, {"u": rng.random((2000, 2000)), "a": 0.1}
    for size in (1_000_000, 4_000_000):
        found[f"sigmoid of {size:,}"] = SIGMOID, {"z": rng.standard_normal(size)}
    return found


def look_up(dotted: str) -> object:
    first, *attributes = dotted.split(".")
    found: object = {"np": np}[first]
    for attribute in attributes:
        found = getattr(found, attribute)
    return found


def compute(cut: Cut | None, pool: ThreadPoolExecutor | None, threads: int) -> object:
    assert cut is not None
    tiles = iter(range(cut.num_tiles))

    def some() -> None:
        for tile in tiles:
            cut.compute(tile)

    others = [pool.submit(some) for _ in range(threads - 1)] if pool else []
    some()
    for other in others:
        other.result()
    return cut.result()


def main() -> None:
    with ThreadPoolExecutor(1) as pool:
        for name, (source, variables) in cases().items():
            site = Site.of(ast.parse(source, mode="eval").body, look_up)
            assert site is not None
            values = [variables[local] for local in site.names]
            code = compile(source, name, "eval")
            sides: dict[str, Callable[[], object]] = {
                "whole": lambda code=code, names={"np": np, **variables}: eval(code, names),
                "1 thread": lambda site=site, values=values: compute(site.cut(values, 1), None, 1),
                "2 threads": lambda site=site, values=values: compute(site.cut(values, 2), pool, 2),
            }
            walls: dict[str, list[float]] = {side: [] for side in sides}
            processors: dict[str, list[float]] = {side: [] for side in sides}
            for number in range(ROUNDS):
                for side, run in random.Random(number).sample(list(sides.items()), len(sides)):
                    wall, processor = time.perf_counter(), time.process_time()
                    run()
                    walls[side].append(time.perf_counter() - wall)
                    processors[side].append(time.process_time() - processor)
            print(name)
            for side in sides:
                wall, processor = statistics.median(walls[side]), statistics.median(processors[side])
                gain = statistics.median(walls["whole"]) / wall
                less = statistics.median(processors["whole"]) / processor
                print(
                    f"  {side:10} {wall * 1e3:8.2f} ms, {gain:.2f} x; processor {processor * 1e3:8.2f} ms, {less:.2f} x"
                )


if __name__ == "__main__":
    main()
