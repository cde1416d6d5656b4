"""Epochs of samples that workers exchange, cut into steps: exactly once, and found in the slots that say so."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from argosy.errors import BadBatch, BadData, BadFraction
from argosy.shuffle.cut import Cut
from argosy.shuffle.lines import holdings_of
from argosy.shuffle.order import line_of, partial_order
from argosy.shuffle.steps import EpochSteps, exchanged_epoch, replicated_epoch, sharded_epoch

_FEW = settings(max_examples=50, deadline=None)
_FRACTIONS = st.sampled_from([0.0, 0.05, 0.3, 1.0])


def _exchanged(
    sizes: int | tuple[int, ...], ranks: int, batch: int, each: int = 1, *, taken: tuple[Cut, ...] = (), **more: Any
) -> list[EpochSteps]:
    asked = {"fraction": 0.3, "seed": 1, "epoch": 2, "deal": isinstance(sizes, int), **more}
    return [
        exchanged_epoch(sizes, batch=batch, ranks=ranks, rank=rank, workers=ranks * each, taken=taken, **asked)
        for rank in range(ranks)
    ]


def _read(epochs: list[EpochSteps], steps: range) -> list[int]:
    """What all ranks read in these steps, while the laws of one step are checked."""
    numbers: list[int] = []
    for step in steps:
        sizes = []
        for epoch in epochs:
            ids, bounds = epoch.ids(step), epoch.bounds(step)
            assert (bounds[0], bounds[-1]) == (0, len(ids))
            assert all(a < b for a, b in pairwise(bounds))
            assert len(bounds) == epoch.num_workers + 1
            assert len(ids) <= epoch.most_rows
            sizes.append(len(ids))
            numbers += ids.tolist()
        assert {epoch.num_global(step) for epoch in epochs} == {sum(sizes)}
    together = [epochs[0].num_global(step) for step in range(epochs[0].num_steps)]
    assert max(together, default=0) - min(together, default=0) <= 1
    return numbers


def _held_by(
    rank: int, each: int, sizes: tuple[int, ...], epoch: int, fraction: float, workers: int, deal: bool
) -> NDArray[np.int64]:
    """What lies in the slots of a rank."""
    holdings = holdings_of(sizes, fraction=fraction, deal=deal, workers=workers, seed=1)
    starts = holdings.starts
    return holdings.held(range(int(starts[rank * each]), int(starts[(rank + 1) * each])), epoch)


def _spread(total: int, shares: list[int]) -> tuple[int, ...]:
    cuts = [total * sum(shares[:k]) // sum(shares) for k in range(len(shares) + 1)]
    return tuple(b - a for a, b in pairwise(cuts))


def _over_json(cuts: tuple[Cut, ...]) -> tuple[Cut, ...]:
    return tuple(Cut.from_dict(record) for record in json.loads(json.dumps([cut.as_dict() for cut in cuts])))


@_FEW
@given(
    num_samples=st.integers(1, 300),
    batch=st.integers(1, 80),
    ranks=st.integers(1, 5),
    each=st.integers(1, 3),
    fraction=_FRACTIONS,
    epoch=st.integers(0, 40),
)
def test_dealt_samples_are_read_once_each_by_the_worker_that_the_partial_order_says(
    num_samples: int, batch: int, ranks: int, each: int, fraction: float, epoch: int
) -> None:
    workers = ranks * each
    assume(workers <= batch <= num_samples)
    epochs = _exchanged(num_samples, ranks, batch, each, fraction=fraction, epoch=epoch)
    steps = epochs[0].num_steps
    assert steps == min(-(-num_samples // batch), num_samples // workers)
    assert sorted(_read(epochs, range(steps))) == list(range(num_samples))
    lines = partial_order(num_samples, workers, fraction=fraction, seed=1, epoch=epoch)
    for worker, line in enumerate(lines):
        mine = epochs[worker // each]
        k = worker % each
        read = [mine.ids(step)[mine.bounds(step)[k] : mine.bounds(step)[k + 1]] for step in range(steps)]
        assert np.concatenate(read).tolist() == line.tolist()


@_FEW
@given(
    sizes=st.lists(st.integers(5, 120), min_size=1, max_size=5).map(tuple),
    batch=st.integers(1, 100),
    each=st.integers(1, 3),
    fraction=_FRACTIONS,
    epoch=st.integers(0, 40),
)
def test_rows_that_lie_on_ranks_are_read_once_each_from_their_slots(
    sizes: tuple[int, ...], batch: int, each: int, fraction: float, epoch: int
) -> None:
    ranks = len(sizes)
    try:
        epochs = _exchanged(sizes, ranks, batch, each, fraction=fraction, epoch=epoch)
    except BadBatch:
        least = min(size // each for size in sizes)
        too_large = min(sizes) < batch // ranks
        assert batch < each * ranks or too_large or 2 * least < -(-sum(sizes) // batch)
        return
    steps = range(epochs[0].num_steps)
    assert sorted(_read(epochs, steps)) == list(range(sum(sizes)))
    for rank, one in enumerate(epochs):
        held = _held_by(rank, each, sizes, epoch, fraction, each * ranks, deal=False)
        assert sorted(one.slots_of(steps).tolist()) == list(range(sizes[rank]))
        assert held[one.slots_of(steps)].tolist() == one.ids_of(steps).tolist()
        for step in steps:
            assert held[one.slots(step)].tolist() == one.ids(step).tolist()


@_FEW
@given(total=st.integers(300, 900), deal=st.booleans(), fraction=_FRACTIONS, changes=st.data())
def test_every_sample_is_read_once_though_ranks_workers_and_shards_change(
    total: int, deal: bool, fraction: float, changes: st.DataObject
) -> None:
    """4 -> 3 -> 5 ranks and back again, in the middle of one epoch."""
    taken: tuple[Cut, ...] = ()
    seen: list[int] = []
    course = (4, 3, 5, 3, 4)
    for number, ranks in enumerate(course):
        shares = changes.draw(st.lists(st.integers(8, 12), min_size=ranks, max_size=ranks))
        each = changes.draw(st.integers(1, 2))
        batch = changes.draw(st.integers(4 * ranks * each, 80))
        given = (total,) if deal else _spread(total, shares)
        try:
            epochs = _exchanged(given, ranks, batch, each, fraction=fraction, deal=deal, taken=taken)
        except BadBatch:
            left = sorted({*range(total)} - {*seen})
            holdings = holdings_of(given, fraction=fraction, deal=deal, workers=ranks * each, seed=1)
            least = min(len({*line_of(holdings, worker, 2).tolist()} & {*left}) for worker in range(ranks * each))
            assert 2 * least < -(-len(left) // batch)
            return
        start, end = epochs[0].start, epochs[0].num_steps
        if number < len(course) - 1:
            end = changes.draw(st.integers(start, start + (end - start) // 3))
        assert len({epoch.taken(end) for epoch in epochs}) == 1
        seen += _read(epochs, range(start, end))
        for rank, one in enumerate(epochs):
            held = _held_by(rank, each, given, 2, fraction, each * ranks, deal)
            for step in range(start, end):
                assert held[one.slots(step)].tolist() == one.ids(step).tolist()
        taken = _over_json(epochs[-1].taken(end))
    assert sorted(seen) == list(range(total))


@pytest.mark.parametrize("sizes", [120, (50, 70)])
def test_the_same_layout_goes_on_with_the_same_steps(sizes: int | tuple[int, ...]) -> None:
    before = _exchanged(sizes, 2, 16, 2)
    after = _exchanged(sizes, 2, 16, 2, taken=_over_json(before[0].taken(4)))
    for one, other in zip(before, after, strict=True):
        assert other.start == 4
        assert [one.ids(s).tolist() for s in range(4, 8)] == [other.ids(s).tolist() for s in range(4, 8)]
        assert [one.slots(s).tolist() for s in range(4, 8)] == [other.slots(s).tolist() for s in range(4, 8)]


def test_an_epoch_goes_on_with_another_fraction() -> None:
    before = _exchanged(200, 2, 20, fraction=0.1)
    after = _exchanged(200, 2, 20, fraction=0.7, taken=before[0].taken(4))
    assert sorted(_read(before, range(4)) + _read(after, range(after[0].num_steps))) == list(range(200))


def test_rows_that_stay_are_found_where_they_are() -> None:
    epoch = sharded_epoch((50, 70), batch=16, rank=1, workers=2, seed=1, epoch=2)
    assert epoch.slots(3).tolist() == epoch.ids(3).tolist()
    assert epoch.slots_of(range(2, 5)).tolist() == epoch.ids_of(range(2, 5)).tolist()


def test_a_cut_that_was_kept_before_there_were_fractions_still_loads() -> None:
    record = {"sharded": True, "sizes": [50, 70], "batch": 16, "workers": 2, "steps": 3}
    assert Cut.from_dict(record) == Cut(sharded=True, sizes=(50, 70), batch=16, workers=2, steps=3)


def test_a_worker_without_enough_samples_left_is_named() -> None:
    before = _exchanged(64, 2, 8)
    with pytest.raises(BadBatch, match=r"worker \d+ has \d samples left in this epoch, which leaves it without one in"):
        _exchanged(64, 8, 8, taken=before[0].taken(7))


def test_an_epoch_begun_without_an_exchange_is_not_gone_on_with_in_one() -> None:
    taken = replicated_epoch(100, batch=10, ranks=1, rank=0, workers=1, seed=1, epoch=2).taken(3)
    with pytest.raises(BadData, match="begun with none, and is now to go on with an exchange of samples"):
        _exchanged(100, 1, 10, taken=taken)


def test_a_fraction_above_1_is_refused() -> None:
    with pytest.raises(BadFraction, match="from 0"):
        _exchanged(100, 1, 10, fraction=1.1)
