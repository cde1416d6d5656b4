"""With `cores=` a rank has cores of its own, and its libraries as many threads; afterwards all is as it was."""

from __future__ import annotations

import os
import random
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import argosy
from argosy import Executable
from argosy.pilot.cores import Cores
from argosy.pilot.worker.bound import VARIABLES
from argosy.pilot.worker.libraries import pools, usual_threads
from argosy.resources import Allocation, Node, Slots

THERE = sorted(os.sched_getaffinity(0))
needs_two_cores = pytest.mark.skipif(len(THERE) < 2, reason="cores are to be told apart")
SHOW = "import os; from mpi4py import MPI; print(MPI.COMM_WORLD.rank, *os.sched_getaffinity(0))"


@pytest.fixture(scope="module")
def two() -> Iterator[argosy.Pilot]:
    with argosy.Pilot(ranks=2) as pilot:
        yield pilot


def here(comm: Any = None) -> dict[str, Any]:
    """Where threads of this process run, and how many libraries would start. Tasks of one call run at once."""
    if comm is not None:
        comm.barrier()
    threads = {frozenset(os.sched_getaffinity(int(thread.name))) for thread in Path("/proc/self/task").iterdir()}
    found = {
        "cores": sorted(os.sched_getaffinity(0)),
        "threads": sorted(map(sorted, threads)),
        "pools": {name: pool.ask() for name, pool in pools().items()},
        "variables": [os.environ.get(name) for name in VARIABLES],
    }
    if comm is not None:
        comm.barrier()
    return found


def starts_a_thread() -> None:
    threading.Thread(target=threading.Event().wait, daemon=True).start()


@needs_two_cores
def test_what_a_task_loads_and_starts_is_not_held_to_its_cores_later(two: argosy.Pilot) -> None:
    kept = two.submit(os.getpid, keep=True)  # so that all run on one rank
    assert two.submit(lambda _: here()["pools"], kept).result() == {}
    two.submit(lambda _: starts_a_thread(), kept, cores=1).result()
    assert set(two.submit(lambda _: loads_numpy(), kept, cores=1).result().values()) == {1}
    numba = two.submit(lambda _: os.environ["NUMBA_NUM_THREADS"], kept, cores=1).result()
    assert int(numba) == len(THERE)  # read once, when Numba is loaded, and never raised after that
    after = two.submit(lambda _: here(), kept).result()
    assert after["threads"] == [THERE]
    assert set(after["pools"].values()) == {usual_threads()}


def loads_numpy() -> dict[str, int]:
    import numpy  # noqa: F401

    return here()["pools"]  # type: ignore[no-any-return]


@needs_two_cores
def test_ranks_run_on_cores_of_their_own_and_as_before_afterwards(two: argosy.Pilot) -> None:
    two.submit(__import__, "pyarrow", ranks=2).exception()
    before = two.submit(here, ranks=2).results()
    one, other = two.submit(here, ranks=2, cores=1).results()
    assert one["threads"] == [one["cores"]] != [other["cores"]] == other["threads"]
    assert len(one["cores"]) == len(other["cores"]) == 1
    for found in (one, other):
        assert set(found["pools"].values()) == {1}
        assert len(found["pools"]) >= 2  # NumPy's and Arrow's
        assert set(found["variables"]) == {"1"}
    both = two.submit(here, cores=2).result()
    assert both["cores"] == THERE[:2]
    assert set(both["pools"].values()) == set(map(int, both["variables"])) == {2}
    assert two.submit(here, ranks=2).results() == before


@needs_two_cores
def test_a_program_has_them_too(two: argosy.Pilot) -> None:
    done = two.submit(Executable([sys.executable, "-c", SHOW]), ranks=2, cores=1).result(timeout=40)
    assert sorted(done.stdout.splitlines()) == [f"0 {THERE[0]}", f"1 {THERE[1]}"]
    shown = "import os; print(len(os.sched_getaffinity(0)), os.environ['OMP_NUM_THREADS'])"
    assert two.submit(Executable([sys.executable, "-c", shown]), cores=2).result().stdout == "2 2\n"


@settings(max_examples=50)
@given(st.lists(st.integers(1, 8), min_size=1, max_size=3), st.integers(0, 2**32))
def test_no_core_is_held_twice_and_none_is_lost(node_cores: list[int], seed: int) -> None:
    chance = random.Random(seed)
    nodes = tuple(Node(name=f"n{i}", ranks=cores, cores=cores) for i, cores in enumerate(node_cores))
    cores, free = Cores(Allocation(nodes=nodes)), list(node_cores)
    running: list[tuple[Slots, set[int]]] = []
    for _ in range(40):
        node = chance.randrange(len(nodes))
        if chance.random() < 0.6 and free[node]:
            wanted = chance.randint(1, free[node])
            count = chance.randint(1, free[node] // wanted)
            ranks = tuple(range(count))
            running.append((cores.hold(Slots(ranks, (node,) * count), wanted), set(ranks)))
            free[node] -= wanted * count
        elif running:
            slots, left = running[-1]
            gone = {rank for rank in left if chance.random() < 0.5}
            cores.let_go(slots, gone)
            left -= gone
            free[slots.nodes[0]] += len(gone) * len(slots.cores[0])
            if not left:
                running.pop()
        held = [(slots.nodes[0], core) for slots, left in running for rank in left for core in slots.cores[rank]]
        assert len(held) == len(set(held))
        assert [sum(node == at for at, _ in held) for node in range(len(nodes))] == [
            there - left for there, left in zip(node_cores, free, strict=True)
        ]
        assert all(core < node_cores[node] for node, core in held)
