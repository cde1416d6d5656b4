"""What a ledger costs: the same training loop with and without it, in turns, in one process.

Turns are short, so that what else the machine does falls on both sides; a group of turns has as many steps as the
ledger writes lines of at once, and its ratio is that of the sums. The loop against itself tells how far to trust it.

python benchmarks/train_ledger.py
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import sections
import torch
from figures import Figure, Options, spread

from argosy.train.ledger import Ledger

BATCH = 64
FEATURES = 256
BLOCK_STEPS = 8
GROUP_BLOCKS = 25
LAPS = 200_000


class Loop:
    """A small network that is really trained, with one thread: 1 to 2 ms a step with 384 units, some 10 with 1,536."""

    def __init__(self, width: int) -> None:
        torch.manual_seed(0)
        self.inputs, self.labels = torch.randn(BATCH * 50, FEATURES), torch.randint(10, (BATCH * 50,))
        layers = [torch.nn.Linear(FEATURES, width), torch.nn.ReLU(), torch.nn.Linear(width, width), torch.nn.ReLU()]
        self.model = torch.nn.Sequential(*layers, torch.nn.Linear(width, 10))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.loss = torch.nn.CrossEntropyLoss()

    def batch(self, step: int) -> tuple[Any, Any]:
        at = step % 50 * BATCH
        return self.inputs[at : at + BATCH], self.labels[at : at + BATCH]

    def plain(self, _ledger: Ledger | None = None) -> float:
        begin = time.perf_counter()
        for step in range(BLOCK_STEPS):
            x, y = self.batch(step)
            loss = self.loss(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
        return time.perf_counter() - begin

    def lapped(self, ledger: Ledger) -> float:
        begin = time.perf_counter()
        ledger.start()
        for step in range(BLOCK_STEPS):
            x, y = self.batch(step)
            ledger.lap("data")
            loss = self.loss(self.model(x), y)
            ledger.lap("forward")
            loss.backward()
            ledger.lap("backward")
            self.optimizer.step()
            self.optimizer.zero_grad()
            ledger.lap("optimizer")
            ledger.step(samples=BATCH, loss=loss, lr=0.01, epoch=0)
        return time.perf_counter() - begin

    def in_contexts(self, ledger: Ledger) -> float:
        begin = time.perf_counter()
        ledger.start()
        for x, y in ledger.data(map(self.batch, range(BLOCK_STEPS))):
            with ledger.forward():
                loss = self.loss(self.model(x), y)
            with ledger.backward():
                loss.backward()
            with ledger.optimizer():
                self.optimizer.step()
                self.optimizer.zero_grad()
            ledger.step(samples=BATCH, loss=loss, lr=0.01, epoch=0)
        return time.perf_counter() - begin


def ledger(options: Options) -> list[Figure]:
    """Training loops with and without a ledger that writes a file, in turns of eight steps."""
    torch.set_num_threads(1)
    small, larger = Loop(384), Loop(1536)
    sides = [
        (small, "laps", small.lapped, 60),
        (small, "contexts", small.in_contexts, 60),
        (small, "nothing", small.plain, 60),
        (larger, "laps, larger steps", larger.lapped, 6),
        (larger, "contexts, larger steps", larger.in_contexts, 6),
    ]
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for loop, name, side, groups in sides:
            every = BLOCK_STEPS * GROUP_BLOCKS
            with Ledger(Path(folder) / f"{name}.jsonl", every_steps=every, workers=1, seed=0) as kept:
                ratios, plain = _ratios(loop, side, kept, options.turns(groups, 3))
            millis = median(plain) / BLOCK_STEPS * 1e3
            note = f"{millis:.2f} ms a step without; {len(ratios)} groups, spread {spread(ratios):.1%}"
            overhead = (median(ratios) - 1) * 100
            at_most = None if name == "nothing" else 1.0
            what = f"ledger with {name}: overhead" if at_most else "the loop against itself"
            figures.append(Figure(what=what, value=overhead, unit="%", at_most=at_most, note=note))
    figures.append(Figure(what="one lap", value=_lap_seconds() * 1e9, unit="ns", at_most=300))
    figures.append(Figure(what="one step with 4 laps, its line written", value=_step_seconds() * 1e6, unit="us"))
    return figures


def _ratios(loop: Loop, side: Any, kept: Ledger, groups: int) -> tuple[list[float], list[float]]:
    """Of groups of neighbouring blocks, with over without; who goes first changes from block to block."""
    ratios, plain = [], []
    for _ in range(groups + 1):
        with_ledger, without = [], []
        for turn in range(GROUP_BLOCKS):
            if turn % 2:
                without.append(loop.plain())
                with_ledger.append(side(kept))
            else:
                with_ledger.append(side(kept))
                without.append(loop.plain())
        ratios.append(sum(with_ledger) / sum(without))
        plain += without
    return ratios[1:], plain


def _lap_seconds() -> float:
    kept = Ledger()
    begin = time.perf_counter()
    for _ in range(LAPS):
        kept.lap("forward")
    return (time.perf_counter() - begin) / LAPS


def _step_seconds() -> float:
    loss = torch.tensor(0.123456)
    num_steps = LAPS // 10
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "run.jsonl") as kept:
        begin = time.perf_counter()
        for _ in range(num_steps):
            for phase in ("data", "forward", "backward", "optimizer"):
                kept.lap(phase)
            kept.step(samples=BATCH, loss=loss, lr=0.01, epoch=0)
        kept.flush()
        return (time.perf_counter() - begin) / num_steps


if __name__ == "__main__":
    sys.exit(sections.run({"ledger": ledger}, __doc__))
