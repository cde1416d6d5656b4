"""Batches: the rows of each step, however they are gathered, and a thread that always ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import Dataset

from argosy.comm.ranks import Alone
from argosy.shuffle.steps import EpochSteps, replicated_epoch, sharded_epoch
from argosy.train.data import batches, samples_of

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    before = threading.active_count()
    yield
    assert threading.active_count() == before


def _epoch(num_samples: int, batch: int, ranks: int = 1, each: int = 1) -> EpochSteps:
    return replicated_epoch(
        num_samples, batch=batch, ranks=ranks, rank=ranks - 1, workers=ranks * each, seed=1, epoch=0
    )


@settings(max_examples=40, deadline=None)
@given(
    num_samples=st.integers(1, 200),
    batch=st.integers(1, 40),
    ranks=st.integers(1, 3),
    each=st.integers(1, 2),
    prefetch=st.integers(0, 3),
    start=st.integers(0, 5),
)
def test_every_batch_has_the_rows_of_its_step(
    num_samples: int, batch: int, ranks: int, each: int, prefetch: int, start: int
) -> None:
    batch = min(max(batch, ranks * each), num_samples)
    if batch < ranks * each:
        return
    values = np.arange(num_samples * 3, dtype="f4").reshape(num_samples, 3)
    samples = samples_of((values, np.arange(num_samples)), ranks=Alone())
    epoch = _epoch(num_samples, batch, ranks, each)
    step = start
    for one in batches(samples, epoch, start=start, prefetch=prefetch):
        ids = epoch.ids(step)
        assert np.array_equal(one.inputs.numpy(), values[ids])
        assert np.array_equal(one.labels.numpy(), ids)
        assert (one.bounds, one.num_global) == (epoch.bounds(step), epoch.num_global(step))
        step += 1
    assert step == max(start, epoch.num_steps)


def test_an_epoch_goes_on_after_the_steps_that_are_done() -> None:
    table = pa.table({"x": np.arange(100.0), "y": np.arange(100)})
    whole = sharded_epoch((100,), batch=10, rank=0, workers=1, seed=0, epoch=0)
    rest = sharded_epoch((100,), batch=10, rank=0, workers=1, seed=0, epoch=0, taken=whole.taken(7))
    samples = samples_of(table, ranks=Alone())
    assert [one.labels.tolist() for one in batches(samples, rest)] == [whole.ids(step).tolist() for step in (7, 8, 9)]


def test_large_batches_are_gathered_into_the_same_memory_again() -> None:
    samples = samples_of((np.ones((4096, 256), "f4"), np.zeros(4096)), ranks=Alone())
    places = [one.inputs.data_ptr() for one in batches(samples, _epoch(4096, 512), prefetch=2)]
    assert len(places) == 8
    assert len(set(places)) <= 3


def test_the_thread_ends_when_the_iterator_is_closed_early() -> None:
    samples = samples_of((np.ones((100, 2)), np.zeros(100)), ranks=Alone())
    taken = batches(samples, _epoch(100, 10))
    next(taken)
    taken.close()  # type: ignore[attr-defined]


class _Items(Dataset):  # type: ignore[type-arg]
    def __init__(self, bad: int | None = None) -> None:
        self.bad = bad
        self.threads: set[str] = set()
        self.read = 0

    def __len__(self) -> int:
        return 40

    def __getitem__(self, i: int) -> tuple[Any, float]:
        self.threads.add(threading.current_thread().name)
        self.read += 1
        if i == self.bad:
            raise OSError(f"item {i} cannot be read")
        return torch.tensor([float(i)]), 2.0 * i


@pytest.mark.parametrize("prefetch", [0, 2])
def test_items_of_a_dataset_are_collated_in_the_thread(prefetch: int) -> None:
    items = _Items()
    samples = samples_of(items, ranks=Alone())
    seen = [i for one in batches(samples, _epoch(40, 7), prefetch=prefetch) for i in one.inputs[:, 0].tolist()]
    assert sorted(seen) == list(range(40))
    assert items.threads == {"argosy-batches" if prefetch else threading.current_thread().name}


def test_no_more_is_read_ahead_than_asked_for() -> None:
    items = _Items()
    taken = batches(samples_of(items, ranks=Alone()), _epoch(40, 4), prefetch=2)
    next(taken)
    taken.close()  # type: ignore[attr-defined]
    assert items.read <= 3 * 4


@pytest.mark.parametrize("prefetch", [0, 1, 2])
def test_what_fails_in_the_thread_is_raised_where_batches_are_taken(prefetch: int) -> None:
    samples = samples_of(_Items(bad=17), ranks=Alone())
    with pytest.raises(OSError, match="item 17 cannot be read"):
        list(batches(samples, _epoch(40, 7), prefetch=prefetch))
