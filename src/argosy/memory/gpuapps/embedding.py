"""Training a recommender on tables of embeddings: few rows of large objects, read, changed and written.

Each batch looks up rows of every table, adds their products with a dense layer's weights to a score, and takes a step
of Adagrad on just those rows and on the layer. Tables differ in how many rows a batch takes of them. No row occurs
twice in a batch, so the order in which a device works does not show.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from argosy.memory.gpuapps.filled import fill, rows
from argosy.memory.store import Store
from argosy.memory.workload import Workload

NBYTES = 1024 << 20
BATCHES = 2
WIDTH = 128
RATE = 0.05
HIDDEN = 4 * WIDTH


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    name: str
    share: float
    """Of all bytes, for the table and again for its state."""
    lookups: float
    """Share of its rows that one batch takes."""


TABLES = (
    Table(name="user", share=0.20, lookups=0.02),
    Table(name="item", share=0.12, lookups=0.08),
    Table(name="word", share=0.08, lookups=0.25),
    Table(name="place", share=0.05, lookups=0.40),
    Table(name="hour", share=0.04, lookups=0.50),
)


def make(nbytes: int) -> Workload:
    """Returns, from each run, the loss of each batch."""
    heights = {table.name: max(int(table.share * nbytes / 4 / WIDTH), 8) for table in TABLES}
    return Workload(name="embedding", objects=lambda: _objects(heights), run=_run)


def _objects(heights: dict[str, int]) -> dict[str, torch.Tensor]:
    objects: dict[str, torch.Tensor] = {}
    for table in TABLES:
        height = heights[table.name]
        picks = max(int(table.lookups * height), 1)
        step = _step_through(height)
        objects[table.name] = torch.zeros(height, WIDTH)
        objects[f"{table.name}.state"] = torch.zeros(height, WIDTH)
        objects[f"{table.name}.ids"] = (torch.arange(BATCHES * picks) * step % height).view(BATCHES, picks)
    layer = torch.empty(WIDTH, HIDDEN)
    fill(layer, 0.1, seed=3)
    return {**objects, "layer": layer, "first": layer.clone()}


def _step_through(height: int) -> int:
    """A step that comes to every row before it comes to one again."""
    step = max(int(height * 0.618), 1)
    while math.gcd(step, height) != 1:
        step += 1
    return step


def _run(store: Store) -> tuple[float, ...]:
    with store.window("start layer"):
        store.write("layer").copy_(store["first"])
    for table in TABLES:
        with store.window(f"start {table.name}"):
            _start(store, table)
    losses = []
    for batch in range(BATCHES):
        loss = 0.0
        for table in TABLES:
            with store.window(f"learn {table.name}"):
                loss += _learn(store, table, batch)
        losses.append(loss)
    return tuple(losses)


def _start(store: Store, table: Table) -> None:
    """Only the rows that this run will use."""
    ids = store[f"{table.name}.ids"].view(-1)
    nbytes = len(ids) * WIDTH * 4
    store.count(table.name, bytes_written=nbytes)
    store.count(f"{table.name}.state", bytes_written=nbytes)
    store.write(table.name)[ids] = rows(ids, WIDTH, 0.1)
    store.write(f"{table.name}.state")[ids] = 0.01


def _learn(store: Store, table: Table, batch: int) -> float:
    """One batch's part of one table: forward, backward, and the step."""
    ids = store[f"{table.name}.ids"][batch]
    nbytes = len(ids) * WIDTH * 4
    store.count(table.name, bytes_read=nbytes, bytes_written=nbytes)
    store.count(f"{table.name}.state", bytes_read=nbytes, bytes_written=nbytes)
    store.count(f"{table.name}.ids", bytes_read=len(ids) * 8)
    values, state, layer = store.update(table.name), store.update(f"{table.name}.state"), store.update("layer")
    taken = values[ids]
    hidden = (taken @ layer).tanh_()
    loss = float(hidden.square().mean())
    slope = (1 - hidden.square()).mul_(hidden).mul_(2 / len(ids))
    change = slope @ layer.t()
    layer.addmm_(taken.t(), slope, alpha=-RATE)
    square = state[ids].addcmul_(change, change)
    state[ids] = square
    values[ids] = taken.addcdiv_(change, square.sqrt_(), value=-RATE)
    return loss
