"""Saves again and again in a child that is killed with SIGKILL, then loads: `killed.py FOLDER SEED ROUNDS`."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from itertools import count
from pathlib import Path
from typing import Any

import torch

from argosy.comm.ranks import Ranks
from argosy.comm.threads import on_threads
from argosy.train.checkpoint import Checkpoints

NUM_RANKS = 2


def save_from(ranks: Ranks, folder: Path, step: int) -> None:
    """Every third step is saved twice, so that one is replaced."""
    checkpoints = Checkpoints(folder, ranks)
    for now in count(step):
        for _again in range(1 + (now % 3 == 0)):
            shared = {"w": torch.full((30_000,), float(now)), "step": now}
            checkpoints.save(now, shared=shared, own={"r": torch.full((9,), ranks.rank + now)}, facts={"step": now})


def load(ranks: Ranks, folder: Path) -> int:
    found = Checkpoints(folder, ranks).load()
    if found is None:
        return 0
    assert found.skipped == ()
    assert found.shared["step"] == found.facts["step"] == found.step
    assert torch.equal(found.shared["w"], torch.full((30_000,), float(found.step)))
    assert found.own is not None
    assert torch.equal(found.own["r"], torch.full((9,), ranks.rank + found.step))
    return found.step


def die_after(calls: int) -> None:
    """This process kills itself when its threads have made so many calls."""
    made = count()

    def look(*_args: Any) -> None:
        if next(made) == calls:
            os.kill(os.getpid(), signal.SIGKILL)

    threading.setprofile(look)


def main(folder: Path, seed: int, rounds: int) -> None:
    draw = random.Random(seed)
    step = 0
    for turn in range(rounds):
        child = os.fork()
        if child == 0:
            if turn % 2:
                die_after(draw.randrange(20_000))
            on_threads(NUM_RANKS, save_from, folder, step + 1)
        if turn % 2 == 0:
            time.sleep(draw.uniform(0, 0.1))
            os.kill(child, signal.SIGKILL)
        _child, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL
        draw.random()
        steps = on_threads(NUM_RANKS, load, folder)
        assert steps[0] == steps[1] >= step, f"step {step} was there, and now {steps} are"
        step = steps[0]
    print(step)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
