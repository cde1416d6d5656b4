"""The order of partial exchange: every sample once, the same everywhere, and mixed as fast as the law says."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from argosy.errors import BadFraction, TooFewSamples
from argosy.shuffle import local_order, partial_order
from argosy.shuffle.holdings import dealt
from argosy.shuffle.order import line_of

_SEEDS = st.integers(-(2**70), 2**70)
_FRACTIONS = st.sampled_from([0.0, 1e-9, 0.003, 0.1, 1 / 3, 0.5, 0.97, 1.0]) | st.floats(0, 1)
_EPOCHS = st.integers(0, 5000)


@st.composite
def _sizes(draw: st.DrawFn) -> tuple[int, int]:
    """Samples and ranks: few and many ranks, as many samples as ranks, and sizes that do not divide."""
    num_ranks = draw(st.integers(1, 12) | st.sampled_from([64, 1000, 4095, 4096]))
    num_samples = draw(st.integers(num_ranks, 3 * num_ranks + 60))
    return num_samples, num_ranks


@settings(max_examples=50, deadline=None)
@given(sizes=_sizes(), fraction=_FRACTIONS, seed=_SEEDS, epoch=_EPOCHS)
@example(sizes=(1, 1), fraction=0.5, seed=0, epoch=7)
@example(sizes=(4096, 4096), fraction=0.1, seed=-1, epoch=3)
@example(sizes=(4097, 4096), fraction=0.1, seed=2**64, epoch=5000)
def test_every_sample_is_read_once_in_shards_of_equal_size(
    sizes: tuple[int, int], fraction: float, seed: int, epoch: int
) -> None:
    num_samples, num_ranks = sizes
    lines = partial_order(num_samples, num_ranks, fraction=fraction, seed=seed, epoch=epoch)
    assert len(lines) == num_ranks
    assert all(line.dtype == np.int64 for line in lines)
    lengths = [len(line) for line in lines]
    assert max(lengths) - min(lengths) <= 1
    assert np.array_equal(np.sort(np.concatenate(lines)), np.arange(num_samples))


@pytest.mark.parametrize(("num_samples", "num_ranks"), [(1_000_003, 4096), (1_048_576, 2048), (999_983, 2)])
def test_every_sample_of_many_is_read_once(num_samples: int, num_ranks: int) -> None:
    lines = partial_order(num_samples, num_ranks, fraction=0.1, seed=3, epoch=1234)
    assert np.array_equal(np.sort(np.concatenate(lines)), np.arange(num_samples))
    assert {len(line) for line in lines} <= {num_samples // num_ranks, -(-num_samples // num_ranks)}


@settings(max_examples=40, deadline=None)
@given(sizes=_sizes(), fraction=_FRACTIONS, seed=_SEEDS, epoch=_EPOCHS, data=st.data())
def test_one_rank_alone_works_out_what_it_has_in_the_whole(
    sizes: tuple[int, int], fraction: float, seed: int, epoch: int, data: st.DataObject
) -> None:
    num_samples, num_ranks = sizes
    rank = data.draw(st.integers(0, num_ranks - 1))
    line = line_of(dealt(num_samples, num_ranks, fraction=fraction, seed=seed), rank, epoch)
    whole = partial_order(num_samples, num_ranks, fraction=fraction, seed=seed, epoch=epoch)
    assert np.array_equal(line, whole[rank])


def test_another_process_has_the_same_order() -> None:
    asked: list[dict[str, Any]] = [
        {"num_samples": 1003, "num_ranks": 7, "fraction": 0.1, "seed": -5, "epoch": 40},
        {"num_samples": 5000, "num_ranks": 4096, "fraction": 0.3, "seed": 2**64 + 3, "epoch": 3000},
    ]
    code = (
        "import json, sys; from argosy.shuffle import partial_order; "
        "print(json.dumps([[line.tolist() for line in partial_order(**each)] for each in json.loads(sys.argv[1])]))"
    )
    told = subprocess.run([sys.executable, "-c", code, json.dumps(asked)], check=True, capture_output=True, text=True)
    assert json.loads(told.stdout) == [[line.tolist() for line in partial_order(**each)] for each in asked]


def test_numpy_integers_are_numbers_like_others() -> None:
    plain = partial_order(50, 4, seed=-3, epoch=9)
    given_arrays = partial_order(np.int64(50), np.int32(4), seed=np.int64(-3), epoch=np.int64(9))  # type: ignore[arg-type]
    assert [line.tolist() for line in plain] == [line.tolist() for line in given_arrays]


def test_seeds_and_epochs_each_have_their_own_order() -> None:
    orders = [
        np.concatenate(partial_order(1000, 8, seed=seed, epoch=epoch)).tobytes()
        for seed in (0, 1, -1, 2**63)
        for epoch in (0, 1, 2, 1000)
    ]
    assert len(set(orders)) == len(orders)


@settings(max_examples=40, deadline=None)
@given(sizes=_sizes(), seed=_SEEDS, epoch=_EPOCHS)
def test_fraction_0_keeps_the_shards_for_ever(sizes: tuple[int, int], seed: int, epoch: int) -> None:
    first = partial_order(*sizes, fraction=0, seed=seed)
    later = partial_order(*sizes, fraction=0, seed=seed, epoch=epoch)
    assert [sorted(line) for line in later] == [sorted(line) for line in first]


def test_fraction_0_reads_the_shards_in_a_new_order_each_epoch() -> None:
    for rank in range(3):
        lines = [partial_order(300, 3, fraction=0, seed=1, epoch=epoch)[rank] for epoch in range(5)]
        assert len({line.tobytes() for line in lines}) == 5


def test_a_rank_reads_its_slots_in_its_local_order() -> None:
    holdings = dealt(100, 3, fraction=0.2, seed=8)
    held = holdings.held(holdings.slots(2), 6)
    assert np.array_equal(line_of(holdings, 2, 6), held[local_order(len(held), rank=2, seed=8, epoch=6)])


def test_fraction_1_is_a_fresh_partition_in_every_epoch() -> None:
    num_ranks, each, num_epochs = 8, 500, 20
    owners = [
        _owner(partial_order(num_ranks * each, num_ranks, fraction=1, seed=2, epoch=e)) for e in range(num_epochs)
    ]
    same = [np.mean(owners[a] == owners[b]) for a in range(num_epochs) for b in range(a)]
    # A column of 8 samples stays as it was by a chance of 1 in 8: the share that does has 500 tries in each pair.
    assert np.max(np.abs(np.array(same) - 1 / num_ranks)) < 5 * _sigma(1 / num_ranks, each)


@pytest.mark.parametrize("fraction", [-0.1, 1.0001, float("nan"), float("inf"), True, "0.1", None, 1j, [0.1]])
def test_a_fraction_that_is_no_share_is_refused(fraction: Any) -> None:
    with pytest.raises(BadFraction, match="from 0") as caught:
        partial_order(10, 2, fraction=fraction)
    assert repr(fraction) in str(caught.value)


def test_fewer_samples_than_ranks_are_refused() -> None:
    with pytest.raises(TooFewSamples, match="3 samples for 4 ranks"):
        partial_order(3, 4)


@pytest.mark.parametrize("number", [0, -1, 2.0, "4", True, None])
@pytest.mark.parametrize("name", ["num_samples", "num_ranks"])
def test_samples_and_ranks_are_whole_numbers_above_0(name: str, number: Any) -> None:
    asked = {"num_samples": 10, "num_ranks": 2, name: number}
    with pytest.raises(TooFewSamples, match=name):
        partial_order(**asked)


@pytest.mark.parametrize("name", ["seed", "epoch"])
def test_a_seed_or_an_epoch_that_is_no_whole_number_is_refused(name: str) -> None:
    wrong: dict[str, Any] = {name: 1.5}
    with pytest.raises(TypeError, match=f"{name} must be a whole number"):
        partial_order(10, 2, **wrong)


def _owner(lines: list[Any]) -> Any:
    """The rank of each sample."""
    owner = np.empty(sum(map(len, lines)), np.int64)
    for rank, line in enumerate(lines):
        owner[line] = rank
    return owner


def _sigma(chance: float, tries: int) -> float:
    return float(np.sqrt(chance * (1 - chance) / tries))
