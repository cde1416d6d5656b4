"""How samples lie at first, and who reads them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.bench.locality.reading import reading_of
from argosy.bench.locality.shards import SHARDS, arrangement
from argosy.shuffle.holdings import kept
from argosy.shuffle.order import line_of


def labels_of(num_workers: int, size: int, num_classes: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(num_classes, size=num_workers * size)


PROBLEMS = st.builds(labels_of, st.just(6), st.integers(1, 30), st.integers(1, 8), st.integers(0, 99))


def classes_of_a_worker(labels: np.ndarray, kind: str, num_workers: int) -> float:
    shards = labels[arrangement(labels, num_workers, kind, seed=0)].reshape(num_workers, -1)
    return float(np.mean([len(np.unique(shard)) for shard in shards]))


@settings(max_examples=40, deadline=None)
@given(PROBLEMS, st.sampled_from(list(SHARDS)), st.integers(0, 99))
def test_every_sample_lies_in_one_slot(labels: np.ndarray, kind: str, seed: int) -> None:
    arranged = arrangement(labels, 6, kind, seed)
    assert np.array_equal(np.sort(arranged), np.arange(len(labels)))
    assert np.array_equal(arranged, arrangement(labels, 6, kind, seed))


@settings(max_examples=40, deadline=None)
@given(PROBLEMS, st.sampled_from(list(SHARDS)), st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.integers(0, 5))
def test_every_sample_is_read_once_in_every_epoch(labels: np.ndarray, kind: str, share: float, epoch: int) -> None:
    lines = reading_of(labels, 6, shards=kind, fraction=share, seed=1).epoch(epoch)
    assert lines.shape == (6, len(labels) // 6)
    assert np.array_equal(np.sort(lines, axis=None), np.arange(len(labels)))


@settings(max_examples=20, deadline=None)
@given(PROBLEMS, st.sampled_from([0.0, 0.3]), st.integers(0, 9))
def test_workers_read_the_lines_of_their_holdings(labels: np.ndarray, share: float, epoch: int) -> None:
    lines = reading_of(labels, 6, shards="sorted", fraction=share, seed=3).epoch(epoch)
    holdings = kept((len(labels) // 6,) * 6, fraction=share, seed=3)
    arranged = arrangement(labels, 6, "sorted", 3)
    assert np.array_equal(lines, np.stack([arranged[line_of(holdings, worker, epoch)] for worker in range(6)]))


def test_sorted_shards_have_one_or_two_classes_random_ones_all_and_dirichlet_ones_few() -> None:
    labels = labels_of(20, 100, 10, seed=0)
    found = {kind: classes_of_a_worker(labels, kind, 20) for kind in SHARDS}
    assert found["sorted"] <= 2
    assert found["random"] > 9.9
    assert 2 < found["dirichlet"] < 7


def test_which_class_worker_0_has_depends_on_the_seed() -> None:
    labels = labels_of(4, 50, 8, seed=0)
    first = {int(labels[arrangement(labels, 4, "sorted", seed)[0]]) for seed in range(20)}
    assert len(first) > 3


def test_the_first_epoch_is_read_as_the_shards_lie_and_a_global_shuffle_knows_no_shards() -> None:
    labels = labels_of(5, 40, 10, seed=0)

    def classes(share: float, epoch: int) -> float:
        lines = reading_of(labels, 5, shards="sorted", fraction=share, seed=0).epoch(epoch)
        return float(np.mean([len(np.unique(labels[line])) for line in lines]))

    assert classes(0.3, 0) == classes(0.0, 0) == classes(0.0, 30) <= 3
    assert classes(0.3, 30) > 8
    assert classes(1.0, 0) > 8
    lines = [reading_of(labels, 5, shards=kind, fraction=1.0, seed=0).epoch(2) for kind in ("sorted", "any")]
    assert np.array_equal(*lines)


def test_shards_of_unequal_size_are_refused() -> None:
    with pytest.raises(ValueError, match="7 samples do not divide evenly over 2 workers"):
        arrangement(np.zeros(7, np.int64), 2, "random", 0)
