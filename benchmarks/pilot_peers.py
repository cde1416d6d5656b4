"""The pilot and its peers behind one small face, each in a process of its own so that only one is up at a time.

    python benchmarks/pilot_peers.py argosy roundtrip --workers 2 --count 1000

The function that is called comes from an importable module (`work/empty.py`) for all of them. Each system runs as its
documentation says, with its dashboard and usage reports off.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from children import answer, mpiexec
from work.empty import nothing, nothing_together


@dataclass(frozen=True)
class Pool:
    """A started system: how to give it an empty task, and how to wait for many."""

    submit: Callable[[], Any]
    wait: Callable[[Sequence[Any]], Any]


Start = Callable[[int], AbstractContextManager[Pool]]


def _each(futures: Sequence[Any]) -> None:
    for future in futures:
        future.result()


@contextmanager
def argosy_pilot(workers: int) -> Iterator[Pool]:
    import argosy

    with argosy.Pilot(ranks=workers) as pilot:
        yield Pool(lambda: pilot.submit(nothing), _each)


@contextmanager
def argosy_main(workers: int) -> Iterator[Pool]:
    """A function that workers cannot import travels by value."""
    import argosy

    with argosy.Pilot(ranks=workers) as pilot:
        yield Pool(lambda: pilot.submit(lambda: None), _each)


@contextmanager
def argosy_together(workers: int) -> Iterator[Pool]:
    """A task on two ranks, with a communicator of its own."""
    import argosy

    with argosy.Pilot(ranks=workers) as pilot:
        yield Pool(lambda: pilot.submit(nothing_together, ranks=2), _each)


@contextmanager
def ray(workers: int) -> Iterator[Pool]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    remote = ray.remote(nothing)
    try:
        yield Pool(remote.remote, ray.get)
    finally:
        ray.shutdown()


@contextmanager
def dask(workers: int) -> Iterator[Pool]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield Pool(lambda: client.submit(nothing, pure=False), client.gather)


@contextmanager
def parsl(workers: int) -> Iterator[Pool]:
    import parsl
    from parsl.config import Config
    from parsl.executors import HighThroughputExecutor
    from parsl.providers import LocalProvider

    with tempfile.TemporaryDirectory() as folder:
        executor = HighThroughputExecutor(
            address="127.0.0.1",
            max_workers_per_node=workers,
            provider=LocalProvider(init_blocks=1, min_blocks=1, max_blocks=1),
        )
        config = Config(executors=[executor], run_dir=folder, usage_tracking=0, initialize_logging=False)
        with parsl.load(config):
            yield Pool(parsl.python_app(nothing), _each)


@contextmanager
def mpi4py_futures(workers: int) -> Iterator[Pool]:
    """Runs under `mpiexec -n workers+1 python -m mpi4py.futures`, as its documentation advises."""
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor(max_workers=workers) as executor:
        yield Pool(lambda: executor.submit(nothing), _each)


@contextmanager
def process_pool(workers: int) -> Iterator[Pool]:
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(workers) as executor:
        yield Pool(lambda: executor.submit(nothing), _each)


@dataclass(frozen=True)
class System:
    start: Start
    module: str
    """Skipped where this cannot be imported."""
    distributed: bool = True
    """Reaches more than one machine; the process pool does not and is shown for orientation."""


SYSTEMS = {
    "argosy": System(argosy_pilot, "argosy"),
    "argosy by value": System(argosy_main, "argosy"),
    "argosy 2 ranks": System(argosy_together, "argosy"),
    "mpi4py.futures": System(mpi4py_futures, "mpi4py"),
    "Ray": System(ray, "ray"),
    "Parsl": System(parsl, "parsl"),
    "dask.distributed": System(dask, "distributed"),
    "ProcessPoolExecutor": System(process_pool, "concurrent.futures", distributed=False),
}
OURS = ("argosy", "argosy by value", "argosy 2 ranks")
PEERS = tuple(name for name in SYSTEMS if name not in OURS)


def installed(name: str) -> bool:
    return find_spec(SYSTEMS[name].module) is not None


def command(name: str, action: str, *, workers: int, count: int = 1) -> list[str]:
    """The command that runs an action on a system that is started for it and ended after it."""
    python = [sys.executable]
    if name == "mpi4py.futures":
        python = [mpiexec(), "-n", str(workers + 1), sys.executable, "-m", "mpi4py.futures"]
    return [*python, __file__, name, action, "--workers", str(workers), "--count", str(count)]


def first(pool: Pool, _: int) -> float:
    """The instant of the first result, on the clock that all processes of a machine share."""
    pool.wait([pool.submit()])
    return time.monotonic()


def roundtrip(pool: Pool, count: int) -> list[float]:
    """Seconds of each of `count` calls, one after another, after a warm-up."""
    for _ in range(100):
        pool.wait([pool.submit()])
    seconds = []
    for _ in range(count):
        begin = time.perf_counter()
        pool.wait([pool.submit()])
        seconds.append(time.perf_counter() - begin)
    return seconds


def burst(pool: Pool, count: int) -> float:
    """Seconds from the first of `count` submissions to the last result, after a warm-up."""
    pool.wait([pool.submit() for _ in range(200)])
    begin = time.perf_counter()
    pool.wait([pool.submit() for _ in range(count)])
    return time.perf_counter() - begin


def idle(pool: Pool, count: int) -> None:
    """Use every worker once, say so, and do nothing for `count` seconds."""
    pool.wait([pool.submit() for _ in range(200)])
    print("idle", flush=True)
    time.sleep(count)


ACTIONS: dict[str, Callable[[Pool, int], object]] = {
    "first": first,
    "roundtrip": roundtrip,
    "burst": burst,
    "idle": idle,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("system", choices=SYSTEMS)
    parser.add_argument("action", choices=ACTIONS)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--count", type=int, default=1000)
    arguments = parser.parse_args()
    with SYSTEMS[arguments.system].start(arguments.workers) as pool:
        answer(ACTIONS[arguments.action](pool, arguments.count))


if __name__ == "__main__":
    main()
