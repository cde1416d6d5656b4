"""Epochs cut into steps: exactly once, at any sizes, also when the number of ranks changes on the way."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from argosy.errors import BadBatch, BadData, RanksDisagree
from argosy.shuffle.cut import Cut
from argosy.shuffle.steps import EpochSteps, replicated_epoch, sharded_epoch

_FEW = settings(max_examples=60, deadline=None)


def _replicated(
    num_samples: int, ranks: int, batch: int, each: int = 1, taken: tuple[Cut, ...] = (), shuffle: bool = True
) -> list[EpochSteps]:
    return [
        replicated_epoch(
            num_samples, batch=batch, ranks=ranks, rank=rank, workers=ranks * each, seed=1, epoch=2, shuffle=shuffle,
            taken=taken,
        )
        for rank in range(ranks)
    ]  # fmt: skip


def _sharded(
    sizes: tuple[int, ...], batch: int, each: int = 1, taken: tuple[Cut, ...] = (), shuffle: bool = True
) -> list[EpochSteps]:
    return [
        sharded_epoch(
            sizes, batch=batch, rank=rank, workers=len(sizes) * each, seed=1, epoch=2, shuffle=shuffle, taken=taken
        )
        for rank in range(len(sizes))
    ]


def _places(epochs: list[EpochSteps], begin: int, end: int, starts: list[int]) -> list[int]:
    """What all ranks read in these steps, by place in the whole, while the laws of one step are checked."""
    places: list[int] = []
    for step in range(begin, end):
        sizes = []
        for epoch, start in zip(epochs, starts, strict=True):
            ids, bounds = epoch.ids(step), epoch.bounds(step)
            assert ids.dtype == np.int64
            assert bounds[0] == 0
            assert bounds[-1] == len(ids)
            assert all(a < b for a, b in pairwise(bounds))
            assert len(bounds) == epoch.num_workers + 1
            sizes.append(len(ids))
            places += (ids + start).tolist()
        assert {epoch.num_global(step) for epoch in epochs} == {sum(sizes)}
    assert len({epoch.num_steps for epoch in epochs}) == 1
    return places


def _starts(sizes: tuple[int, ...]) -> list[int]:
    return [sum(sizes[:rank]) for rank in range(len(sizes))]


def _spread(total: int, shares: list[int]) -> tuple[int, ...]:
    cuts = [total * sum(shares[:k]) // sum(shares) for k in range(len(shares) + 1)]
    return tuple(b - a for a, b in pairwise(cuts))


def _over_json(cuts: tuple[Cut, ...]) -> tuple[Cut, ...]:
    return tuple(Cut.from_dict(record) for record in json.loads(json.dumps([cut.as_dict() for cut in cuts])))


class TestReplicated:
    @_FEW
    @given(
        num_samples=st.integers(1, 300),
        batch=st.integers(1, 80),
        ranks=st.integers(1, 5),
        each=st.integers(1, 3),
        shuffle=st.booleans(),
    )
    def test_every_sample_is_read_once_in_steps_of_nearly_one_size(
        self, num_samples: int, batch: int, ranks: int, each: int, shuffle: bool
    ) -> None:
        workers = ranks * each
        assume(workers <= batch <= num_samples)
        epochs = _replicated(num_samples, ranks, batch, each, shuffle=shuffle)
        steps = epochs[0].num_steps
        assert steps == min(-(-num_samples // batch), num_samples // workers)
        assert sorted(_places(epochs, 0, steps, [0] * ranks)) == list(range(num_samples))
        sizes = [epochs[0].num_global(step) for step in range(steps)]
        assert max(sizes) - min(sizes) <= 1
        assert max(sizes) <= max(batch, 2 * workers - 1)

    @_FEW
    @given(num_samples=st.integers(120, 400), changes=st.data())
    def test_every_sample_is_read_once_though_ranks_and_batch_change(
        self, num_samples: int, changes: st.DataObject
    ) -> None:
        taken: tuple[Cut, ...] = ()
        seen: list[int] = []
        for ranks in (4, 3, 5):
            batch = changes.draw(st.integers(5, 40))
            try:
                epochs = _replicated(num_samples, ranks, batch, taken=taken)
            except BadBatch:
                assert num_samples - len(seen) < ranks
                return
            start = epochs[0].start
            last = ranks == 5
            end = epochs[0].num_steps if last else changes.draw(st.integers(start, epochs[0].num_steps))
            seen += _places(epochs, start, end, [0] * ranks)
            taken = _over_json(epochs[-1].taken(end))
        assert sorted(seen) == list(range(num_samples))

    def test_more_ranks_for_the_same_batch_leave_the_steps_as_they_are(self) -> None:
        before = _replicated(100, 1, 10)
        after = _replicated(100, 2, 10, taken=before[0].taken(3))
        assert [epoch.start for epoch in after] == [3, 3]
        for step in range(3, 10):
            assert np.concatenate([e.ids(step) for e in after]).tolist() == before[0].ids(step).tolist()

    def test_a_batch_larger_than_the_data_is_refused(self) -> None:
        with pytest.raises(BadBatch, match=r"a batch of 512 is larger than the data \(100 samples\)"):
            _replicated(100, 2, 512)

    def test_a_step_that_leaves_a_worker_without_a_sample_is_refused(self) -> None:
        with pytest.raises(BadBatch, match="a batch of 5 leaves some of 8 workers without a sample; take"):
            _replicated(100, 4, 5, each=2)


class TestSharded:
    @_FEW
    @given(
        sizes=st.lists(st.integers(1, 120), min_size=1, max_size=5).map(tuple),
        batch=st.integers(1, 100),
        each=st.integers(1, 3),
        shuffle=st.booleans(),
    )
    def test_every_row_is_read_once_in_steps_of_nearly_one_size(
        self, sizes: tuple[int, ...], batch: int, each: int, shuffle: bool
    ) -> None:
        try:
            epochs = _sharded(sizes, batch, each, shuffle=shuffle)
        except BadBatch:
            asked = -(-sum(sizes) // batch)
            assert batch < each * len(sizes) or min(sizes) < batch // len(sizes) or 2 * (min(sizes) // each) < asked
            return
        steps = epochs[0].num_steps
        assert sorted(_places(epochs, 0, steps, _starts(sizes))) == list(range(sum(sizes)))
        for epoch in epochs:
            own = [len(epoch.ids(step)) for step in range(steps)]
            assert max(own) - min(own) <= 1
        together = [epochs[0].num_global(step) for step in range(steps)]
        assert max(together) - min(together) <= 1

    @_FEW
    @given(total=st.integers(300, 900), shuffle=st.booleans(), changes=st.data())
    def test_every_row_is_read_once_though_the_number_of_ranks_changes(
        self, total: int, shuffle: bool, changes: st.DataObject
    ) -> None:
        taken: tuple[Cut, ...] = ()
        seen: list[int] = []
        for ranks in (4, 3, 5):
            shares = changes.draw(st.lists(st.integers(8, 12), min_size=ranks, max_size=ranks))
            sizes = _spread(total, shares)
            batch = changes.draw(st.integers(4 * ranks, 60))
            try:
                epochs = _sharded(sizes, batch, taken=taken, shuffle=shuffle)
            except BadBatch:
                left = np.bincount(np.searchsorted(np.cumsum(sizes), sorted({*range(total)} - {*seen}), side="right"))
                assert 2 * min([*left.tolist(), *[0] * (ranks - len(left))]) < -(-(total - len(seen)) // batch)
                return
            start = epochs[0].start
            end = epochs[0].num_steps if ranks == 5 else changes.draw(st.integers(start, epochs[0].num_steps // 2))
            seen += _places(epochs, start, end, _starts(sizes))
            assert len({epoch.taken(end) for epoch in epochs}) == 1
            taken = _over_json(epochs[-1].taken(end))
        assert sorted(seen) == list(range(total))

    def test_the_same_layout_goes_on_with_the_same_steps(self) -> None:
        before = _sharded((50, 70), 16)
        after = _sharded((50, 70), 16, taken=before[0].taken(4))
        for one, other in zip(before, after, strict=True):
            assert other.start == 4
            assert [one.ids(s).tolist() for s in range(4, 8)] == [other.ids(s).tolist() for s in range(4, 8)]

    def test_a_finished_epoch_has_nothing_left_for_other_ranks(self) -> None:
        before = _sharded((50, 70), 16)
        after = _sharded((40, 40, 40), 16, taken=before[0].taken(before[0].num_steps))
        assert [epoch.num_steps for epoch in after] == [0, 0, 0]

    def test_a_batch_larger_than_a_shard_is_refused(self) -> None:
        with pytest.raises(BadBatch, match=r"a batch of 512 is larger than the shard of rank 3 \(100 rows\); take"):
            _sharded((1000, 1000, 1000, 100), 2048)

    def test_a_shard_too_small_for_the_number_of_steps_is_refused(self) -> None:
        with pytest.raises(BadBatch, match="rank 1 has 10 rows, which leaves some of 1 workers without a sample"):
            _sharded((1000, 10), 8)

    def test_other_rows_than_before_are_refused(self) -> None:
        taken = _sharded((50, 70), 16)[0].taken(2)
        with pytest.raises(RanksDisagree, match="begun with 120 samples on all ranks together, and now there are 90"):
            _sharded((30, 30, 30), 16, taken=taken)
        with pytest.raises(BadData, match="begun with rows of each rank, and is now to go on with samples that all"):
            _replicated(120, 2, 16, taken=taken)

    def test_ranks_without_any_rows_have_nothing_to_learn_from(self) -> None:
        with pytest.raises(BadData, match="there are no samples"):
            _sharded((0, 0), 16)


def test_workers_must_divide_over_ranks() -> None:
    with pytest.raises(BadBatch, match="5 workers do not divide evenly over 2 ranks"):
        replicated_epoch(100, batch=10, ranks=2, rank=0, workers=5, seed=0, epoch=0)
