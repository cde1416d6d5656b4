"""What a ledger costs: the same training loop with and without it, in turns, in one process.

Turns are short, so that what else the machine does falls on both sides. Each turn with a ledger writes its lines once;
a run would write them less often.

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
BLOCK_STEPS = 40
LAPS = 200_000


class Loop:
    """A small network that is really trained, with one thread: 1 to 2 ms a step."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.inputs, self.labels = torch.randn(BATCH * 50, FEATURES), torch.randint(10, (BATCH * 50,))
        layers = [torch.nn.Linear(FEATURES, 384), torch.nn.ReLU(), torch.nn.Linear(384, 384), torch.nn.ReLU()]
        self.model = torch.nn.Sequential(*layers, torch.nn.Linear(384, 10))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.loss = torch.nn.CrossEntropyLoss()

    def batch(self, step: int) -> tuple[Any, Any]:
        at = step % 50 * BATCH
        return self.inputs[at : at + BATCH], self.labels[at : at + BATCH]

    def plain(self) -> float:
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
    """A training loop of 1 to 2 ms a step with and without a ledger that writes a file, in turns of a few steps."""
    torch.set_num_threads(1)
    loop = Loop()
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for name, side in (("laps", loop.lapped), ("contexts", loop.in_contexts)):
            with Ledger(Path(folder) / f"{name}.jsonl", every_steps=BLOCK_STEPS, workers=1, seed=0) as kept:
                ratios, plain = _ratios(loop, side, kept, options.turns(150, 10))
            millis = median(plain) / BLOCK_STEPS * 1e3
            note = f"{millis:.2f} ms a step without; {len(ratios)} blocks, spread {spread(ratios):.1%}"
            overhead = (median(ratios) - 1) * 100
            figures.append(Figure(what=f"ledger with {name}: overhead", value=overhead, unit="%", at_most=1, note=note))
    figures.append(Figure(what="one lap", value=_lap_seconds() * 1e9, unit="ns", at_most=300))
    figures.append(Figure(what="one step with 4 laps, its line written", value=_step_seconds() * 1e6, unit="us"))
    return figures


def _ratios(loop: Loop, side: Any, kept: Ledger, turns: int) -> tuple[list[float], list[float]]:
    """Of neighbouring blocks, with over without; who goes first changes from turn to turn."""
    ratios, plain = [], []
    loop.plain()
    side(kept)
    for turn in range(turns):
        if turn % 2:
            without, with_ledger = loop.plain(), side(kept)
        else:
            with_ledger, without = side(kept), loop.plain()
        ratios.append(with_ledger / without)
        plain.append(without)
    return ratios, plain


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
