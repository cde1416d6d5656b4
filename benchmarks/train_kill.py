"""kill -9 in the middle of training, again and again: are the losses those of a run that was never stopped?"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from children import HERE, ask, environment
from figures import Figure, Options
from work.runs import EPOCHS, STEPS_PER_EPOCH, train

import argosy
from argosy import events

RANKS = 2


def kill(options: Options) -> list[Figure]:
    """SIGKILL at a random step: of a rank of a pilot, which goes on by itself, and of a process, started again."""
    each = options.turns(10, 2)
    draw = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        of_ranks, lost = _ranks(folder, each, draw)
        of_processes = _processes(folder, each, draw)
    equal = sum(of_ranks) + sum(of_processes)
    return [
        Figure(what="killed runs", value=2 * each),
        Figure(what="ranks that were killed", value=lost, at_least=each),
        Figure(what="runs with all losses equal to the unbroken run's", value=equal, at_least=2 * each),
    ]


def _ranks(folder: Path, count: int, draw: random.Random) -> tuple[list[bool], int]:
    """One rank of two is killed some time after a random step's line is in the ledger; the pilot replaces it."""
    equal = []
    with argosy.Pilot(ranks=RANKS, name="kill") as pilot:
        unbroken = train(None)
        for number in range(count):
            kept = folder / f"ranks-{number}"
            at = draw.randrange(8, STEPS_PER_EPOCH * EPOCHS - 20)
            killer = threading.Thread(target=_kill_rank, args=(pilot, kept, at, draw.randrange(RANKS), draw.random()))
            killer.start()
            equal.append(train(kept) == unbroken)
            killer.join()
        lost = sum(event.kind == "rank" and event.state == "lost" for event in _events(pilot))
    return equal, lost


def _kill_rank(pilot: argosy.Pilot, kept: Path, step: int, rank: int, share: float) -> None:
    _wait_for_checkpoint(kept, step)
    time.sleep(0.01 * share)
    pids = {
        event.id: event.fields["pid"] for event in _events(pilot) if (event.kind, event.state) == ("rank", "joined")
    }
    os.kill(pids[rank], signal.SIGKILL)


def _events(pilot: argosy.Pilot) -> list[events.Event]:
    return list(events.read(pilot.folder / events.FILE_NAME))


def _processes(folder: Path, count: int, draw: random.Random) -> list[bool]:
    """A process that trains by itself is killed and started again, until it has come to its end."""
    unbroken = ask([sys.executable, str(HERE / "work" / "runs.py"), str(folder / "unbroken")], timeout_seconds=120)
    equal = []
    for number in range(count):
        kept = folder / f"processes-{number}"
        command = [sys.executable, str(HERE / "work" / "runs.py"), str(kept)]
        running = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL)
        _wait_for_checkpoint(kept, draw.randrange(8, STEPS_PER_EPOCH * EPOCHS - 20))
        time.sleep(0.01 * draw.random())
        running.kill()
        assert running.wait() == -signal.SIGKILL
        equal.append(ask(command, timeout_seconds=120) == unbroken)
    return equal


def _wait_for_checkpoint(kept: Path, step: int) -> None:
    """Until the run has come this far, as far as its checkpoints tell."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if any(int(path.name.removeprefix("step-")) >= step - 7 for path in kept.glob("step-*")):
            return
        time.sleep(0.001)
    raise TimeoutError(f"no checkpoint of step {step} came into {kept}")
