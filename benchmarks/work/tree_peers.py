"""The same statements given one by one to others that run tasks, each in a process of its own.

    python benchmarks/work/tree_peers.py dask.delayed --counts 1000,10000 --rounds 3

Each is used as its documentation says: `dask.delayed` on its threads, Ray with two workers, a ThreadPoolExecutor of two
threads that is given a statement when its inputs are there, asyncio with a task for each statement on its one thread.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from children import answer

from work.tree_statements import LOOPS, arguments
from work.tree_turns import in_turns

WORKERS = 2
Shapes = Mapping[str, Callable[[Any, Any, int], Any]]


def _added(x: Any, y: Any) -> Any:
    return np.add(x, y)


def _lazily(add: Callable[[Any, Any], Any], known: Callable[[Any], Any], wait: Callable[[list[Any]], Any]) -> Shapes:
    """For a system that takes what is not there yet as an argument: `add` is called for all, `wait` for the last."""

    def chain(x: Any, y: Any, count: int) -> Any:
        x, y = known(x), known(y)
        for _ in range(count):
            x = add(x, y)
        return wait([x])[0]

    def independent(x: Any, y: Any, count: int) -> Any:
        x, y = known(x), known(y)
        return wait([add(x, y) for _ in range(count)])[-1]

    def two_wide(x: Any, y: Any, count: int) -> Any:
        x, y = known(x), known(y)
        z = x
        for _ in range(count // 2):
            x = add(x, y)
            z = add(z, y)
        return tuple(wait([x, z]))

    return {"chain": chain, "independent": independent, "two wide": two_wide}


@contextmanager
def dask_delayed() -> Iterator[Shapes]:
    dask = import_module("dask")
    add = dask.delayed(_added, pure=False)
    yield _lazily(add, dask.delayed, lambda values: dask.compute(*values, scheduler="threads", num_workers=WORKERS))


@contextmanager
def ray() -> Iterator[Shapes]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray = import_module("ray")
    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    try:
        yield _lazily(ray.remote(_added).remote, ray.put, ray.get)
    finally:
        ray.shutdown()


@contextmanager
def threads() -> Iterator[Shapes]:
    with ThreadPoolExecutor(WORKERS) as pool:

        def chain(x: Any, y: Any, count: int) -> Any:
            for _ in range(count):
                x = pool.submit(_added, x, y).result()
            return x

        def independent(x: Any, y: Any, count: int) -> Any:
            return [future.result() for future in [pool.submit(_added, x, y) for _ in range(count)]][-1]

        def two_wide(x: Any, y: Any, count: int) -> Any:
            z = x
            for _ in range(count // 2):
                first, second = pool.submit(_added, x, y), pool.submit(_added, z, y)
                x, z = first.result(), second.result()
            return x, z

        yield {"chain": chain, "independent": independent, "two wide": two_wide}


@contextmanager
def coroutines() -> Iterator[Shapes]:
    async def add(x: Any, y: Any) -> Any:
        return np.add(x, y)

    async def chain(x: Any, y: Any, count: int) -> Any:
        for _ in range(count):
            x = await asyncio.create_task(add(x, y))
        return x

    async def independent(x: Any, y: Any, count: int) -> Any:
        return (await asyncio.gather(*[asyncio.create_task(add(x, y)) for _ in range(count)]))[-1]

    async def two_wide(x: Any, y: Any, count: int) -> Any:
        z = x
        for _ in range(count // 2):
            first, second = asyncio.create_task(add(x, y)), asyncio.create_task(add(z, y))
            x, z = await first, await second
        return x, z

    with asyncio.Runner() as runner:
        yield {
            "chain": lambda x, y, count: runner.run(chain(x, y, count)),
            "independent": lambda x, y, count: runner.run(independent(x, y, count)),
            "two wide": lambda x, y, count: runner.run(two_wide(x, y, count)),
        }


PEERS: dict[str, tuple[str, Callable[[], AbstractContextManager[Shapes]]]] = {
    "dask.delayed": ("dask", dask_delayed),
    "Ray": ("ray", ray),
    "ThreadPoolExecutor": ("concurrent", threads),
    "asyncio": ("asyncio", coroutines),
}
"""For each the package that it needs."""


def missing() -> list[str]:
    return [name for name, (package, _) in PEERS.items() if find_spec(package) is None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("--counts", default="1000,10000", help="statements; all but the first are timed once")
    parser.add_argument("--rounds", type=int, default=3)
    told = parser.parse_args()
    x, y = arguments()
    seconds: dict[str, dict[str, dict[str, list[float]]]] = {}
    with PEERS[told.peer][1]() as shapes:
        for shape, run in shapes.items():
            for number, count in enumerate(map(int, told.counts.split(","))):
                rounds = told.rounds if number == 0 else 1  # ten thousand take some of them ten seconds
                sides = {"plain": partial(LOOPS[shape], x, y, count), "tasks": partial(run, x, y, count)}
                seconds.setdefault(shape, {})[str(count)] = in_turns(shape, sides, rounds, warm_up=number == 0)
    answer(seconds)


if __name__ == "__main__":
    main()
