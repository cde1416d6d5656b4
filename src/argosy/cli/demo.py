"""`argosy demo`: one small study, told step by step."""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from argosy.cli.demo_frame import frame_story
from argosy.cli.demo_memory import memory_story
from argosy.cli.demo_shuffle import shuffle_story
from argosy.cli.demo_train import train_story
from argosy.cli.demo_tree import tree_story
from argosy.cli.failing import leave

if TYPE_CHECKING:
    from argosy import Pilot

NUM_SMALL = 2000
NUM_SAMPLES = 200_000


def demo(
    ranks: Annotated[int, typer.Option(min=4, help="How many ranks the pilot has.")] = 4,
) -> None:
    """A tour of the pilot, frames, training, partial exchange, futurized functions and memory on this machine.

    Estimates pi with many small tasks, with samples that stay on their ranks, and with a rank that dies on the way.
    Then joins, groups and sorts the readings of thermometers on the same ranks, trains a model on them there,
    exchanges some of them between its epochs, and lets a plain function train two models side by side. At last it finds
    out which arrays of a program should be in RAM where there is half as much as it wants.

    Example: argosy demo --ranks 6
    """
    import argosy
    from argosy.frame.prepare import prepare

    console = Console(highlight=False)
    began = time.perf_counter()
    try:
        pilot = argosy.Pilot(ranks=ranks, name="demo")
    except argosy.errors.PilotError as error:
        leave(str(error))
    with pilot:
        _say(console, began, f"a pilot with {ranks} ranks is up")
        for step in (_small_tasks, _resident, _side_by_side, _lost_rank, _hang, _program):
            began = time.perf_counter()
            _say(console, began, step(pilot))
        prepare()
        _tell(console, "And a frame, on the same ranks:", frame_story(pilot))
        _tell(console, "And a model that learns from a frame where it lies:", train_story())
        if find_spec("torch") is not None:
            _tell(console, "And rows that move between ranks while it learns:", shuffle_story(pilot))
        _tell(console, "And all of it as one plain function, whose lines need not wait for one another:", tree_story())
    _tell(console, "And a program that wants more memory than it may have:", memory_story())
    console.print(f"\nEverything that happened is in [bold]{pilot.folder}[/bold]", soft_wrap=True)
    console.print("  argosy report    sums it up and writes a trace for ui.perfetto.dev")
    console.print("  argosy top       shows a run while it goes on")


def _say(console: Console, began: float, line: str) -> None:
    console.print(f"[green]{time.perf_counter() - began:6.2f} s[/green]  {line}", soft_wrap=True)


def _tell(console: Console, title: str, story: Iterator[tuple[str, str]]) -> None:
    console.print(f"\n{title}")
    began = time.perf_counter()
    for line, below in story:
        _say(console, began, line)
        for shown in below.splitlines():
            console.print(f"          {shown}", markup=False, soft_wrap=True)
        began = time.perf_counter()


def _small_tasks(pilot: Pilot) -> str:
    began = time.perf_counter()
    hits = sum(pilot.map(throw, range(NUM_SMALL)))
    rate = NUM_SMALL / (time.perf_counter() - began)
    return f"{NUM_SMALL} small tasks, {rate:,.0f} a second: pi is about {4 * hits / NUM_SMALL / 10:.2f}"


def _resident(pilot: Pilot) -> str:
    samples = pilot.submit(draw, NUM_SAMPLES, ranks=4, keep=True)
    estimate = pilot.submit(estimate_pi, samples).result()
    return (
        f"{4 * NUM_SAMPLES:,} samples stayed on 4 ranks, which then agreed with one another: pi is about {estimate:.3f}"
    )


def _side_by_side(pilot: Pilot) -> str:
    futures = [pilot.submit(sum_of_ranks, 0.1, ranks=size) for size in (4, 1, 2, 1, 2, 2)]
    sums = [future.result() for future in futures]
    return f"six tasks of 1, 2 and 4 ranks, each on a communicator of its own: sums of ranks {sums}"


def _lost_rank(pilot: Pilot) -> str:
    with tempfile.TemporaryDirectory() as folder:
        marker = Path(folder) / "died"
        total = pilot.submit(die_once, marker, ranks=3, retries=1).result()
    return f"a rank was killed inside a collective; the task ran again on ranks that live: {total}"


def _hang(pilot: Pilot) -> str:
    from argosy.errors import TaskTimeout

    try:
        pilot.submit(hang, ranks=2, timeout=0.5).result()
    except TaskTimeout as error:
        return f"two ranks that waited for ever were freed: {error}"
    raise AssertionError("a hang cannot return")


def _program(pilot: Pilot) -> str:
    from argosy import Executable

    program = "from mpi4py import MPI; print('rank', MPI.COMM_WORLD.rank, 'of', MPI.COMM_WORLD.size)"
    done = pilot.submit(Executable([sys.executable, "-c", program]), ranks=2).result()
    return f"an MPI program ran on two ranks and printed {sorted(done.stdout.strip().splitlines())}"


# What the tasks do ---------------------------------------------------------------------------------------------------


def throw(seed: int) -> int:
    """How many of ten darts hit the quarter circle."""
    dart = random.Random(seed).random
    return sum(dart() ** 2 + dart() ** 2 < 1 for _ in range(10))


def draw(count: int, comm: Any) -> Any:
    import numpy as np

    return np.random.default_rng(comm.rank).random((count, 2))


def estimate_pi(samples: Any, comm: Any) -> float:
    """Each rank counts its own samples, which it kept from the task before."""
    hits = int(((samples**2).sum(axis=1) < 1).sum())
    return 4 * float(comm.allreduce(hits)) / float(comm.allreduce(len(samples)))


def sum_of_ranks(seconds: float, comm: Any) -> int:
    time.sleep(seconds)
    return int(comm.allreduce(comm.rank))


def die_once(marker: Path, comm: Any) -> str:
    comm.barrier()
    if comm.rank == 1 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return f"{comm.allreduce(1)} ranks answered"


def hang(comm: Any) -> None:
    if comm.rank == 0:
        comm.recv(source=1)  # which never sends
    else:
        comm.barrier()
