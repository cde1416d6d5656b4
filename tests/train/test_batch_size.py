"""How many samples make a step."""

from __future__ import annotations

import pytest

from argosy.errors import BadBatch
from argosy.train import global_batch, per_worker
from argosy.train.batch_size import batch_size_of


def test_a_plain_number_is_for_all_workers_so_more_of_them_change_nothing() -> None:
    assert [batch_size_of(64, workers).of_all(workers) for workers in (1, 2, 8)] == [64, 64, 64]
    assert batch_size_of(64, 2) == global_batch(64)


def test_a_batch_for_each_worker_grows_with_their_number() -> None:
    assert [per_worker(64).of_all(workers) for workers in (1, 2, 8)] == [64, 128, 512]
    assert str(per_worker(64)) == "64 for each worker"


def test_every_worker_needs_a_sample() -> None:
    with pytest.raises(BadBatch, match=r"a batch of 4 for all workers .* say per_worker\(4\)"):
        batch_size_of(4, 8)


@pytest.mark.parametrize("size", [0, -3, 2.5, True, "many"])
def test_a_batch_is_a_whole_number_above_zero(size: object) -> None:
    with pytest.raises(BadBatch, match="whole number of samples above 0"):
        global_batch(size)  # type: ignore[arg-type]
