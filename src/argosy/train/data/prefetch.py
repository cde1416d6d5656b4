"""Batches, gathered by a thread ahead of their use, into memory that is used again and again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

import torch

from argosy.shuffle.steps import EpochSteps
from argosy.train.data.samples import Buffers, Pair, Samples
from argosy.train.learners.learner import Batch

_BLOCK_NBYTES = 1 << 18
"""Small batches are gathered several at once, up to so many bytes: a hand-over between threads costs as much as
gathering this does."""
_BLOCK_STEPS = 64


@dataclass(slots=True, eq=False)
class _Slot:
    """Memory for one block of batches."""

    buffers: Buffers | None
    copied: Any = None
    """The event after which the device has read the buffers."""


@dataclass(slots=True, eq=False)
class _Ahead:
    """A thread that fills slots while others are in use. It ends with `close`, at the end, or when it fails."""

    fill: Callable[[range, _Slot], Pair]
    blocks: list[range]
    slots: list[_Slot]
    free: SimpleQueue[_Slot | None] = field(default_factory=SimpleQueue)
    ready: SimpleQueue[Any] = field(default_factory=SimpleQueue)
    thread: threading.Thread = field(init=False)
    over: bool = False

    def __post_init__(self) -> None:
        for slot in self.slots:
            self.free.put(slot)
        self.thread = threading.Thread(target=self._run, name="argosy-batches", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            for block in self.blocks:
                slot = self.free.get()
                if slot is None or self.over:
                    return
                self.ready.put((block, slot, self.fill(block, slot)))
        except BaseException as error:
            self.ready.put(error)

    def __iter__(self) -> Iterator[tuple[range, _Slot, Pair]]:
        for _ in self.blocks:
            filled = self.ready.get()
            if isinstance(filled, BaseException):
                raise filled
            yield filled
            self.free.put(filled[1])

    def close(self) -> None:
        self.over = True
        self.free.put(None)
        self.thread.join()


def batches(
    samples: Samples, steps: EpochSteps, *, start: int | None = None, device: Any = None, prefetch: int = 2
) -> Iterator[Batch]:
    """This rank's batches of an epoch, from step `start` on: by default the first that is not done.

    A batch's tensors are valid until the next one is taken. A thread gathers at most `prefetch` batches ahead (of small
    ones, as many blocks of about 256 KB); it ends when the iterator is closed, and what it raises is raised here. With
    `prefetch=0` there is no thread: choose that for a Dataset that draws random numbers, which would otherwise be drawn
    in turn with those of the model in an order that no seed decides.
    """
    device = torch.device("cpu" if device is None else device)
    first = steps.start if start is None else start
    blocks = _blocks(samples, steps, first)
    pin = device.type == "cuda"

    def fill(block: range, slot: _Slot) -> Pair:
        if slot.copied is not None:
            slot.copied.synchronize()
        rows = steps.slots_of(block) if samples.sharded else steps.ids_of(block)
        pair = samples.batch(rows, slot.buffers)
        return (pair[0].pin_memory(), pair[1].pin_memory()) if pin and slot.buffers is None else pair

    most = steps.most_rows * max(map(len, blocks), default=0)
    slots = [_Slot(samples.buffers(most, pin=pin)) for _ in range(prefetch + 1)]
    if prefetch == 0:
        for block in blocks:
            yield from _batches_of(block, fill(block, slots[0]), slots[0], steps, device)
        return
    with closing(_Ahead(fill, blocks, slots)) as ahead:
        for block, slot, pair in ahead:
            yield from _batches_of(block, pair, slot, steps, device)


def _blocks(samples: Samples, steps: EpochSteps, first: int) -> list[range]:
    """Steps that are gathered at once."""
    size = 1
    if samples.row_nbytes is not None and first < steps.num_steps:
        nbytes = max(1, samples.row_nbytes * steps.most_rows)
        size = max(1, min(_BLOCK_STEPS, _BLOCK_NBYTES // nbytes))
    return [range(at, min(at + size, steps.num_steps)) for at in range(first, steps.num_steps, size)]


def _batches_of(block: range, pair: Pair, slot: _Slot, steps: EpochSteps, device: Any) -> Iterator[Batch]:
    inputs, labels = pair
    if device.type != "cpu" and any(tensor.device != device for tensor in pair):
        inputs, labels = (tensor.to(device, non_blocking=True) for tensor in pair)
        if device.type == "cuda":
            slot.copied = torch.cuda.Event()
            slot.copied.record()
    at = 0
    for step in block:
        bounds = steps.bounds(step)
        end = at + bounds[-1]
        yield Batch(inputs=inputs[at:end], labels=labels[at:end], bounds=bounds, num_global=steps.num_global(step))
        at = end
