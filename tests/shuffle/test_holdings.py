"""Who holds which sample: whole at every epoch, moved by the share that was asked, mixed as the law says."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, log
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from argosy.errors import BadFraction, TooFewSamples
from argosy.shuffle.fraction import checked_fraction
from argosy.shuffle.holdings import Holdings, Ids, dealt, kept

_SEEDS = st.integers(-(2**70), 2**70)
_FRACTIONS = st.sampled_from([0.0, 0.003, 0.1, 1 / 3, 0.5, 0.97, 1.0]) | st.floats(0, 1)
_EPOCHS = st.integers(0, 3000)
_UNEVEN = st.lists(st.integers(0, 20), min_size=1, max_size=12).filter(any)
_FIVE_SIGMA = 5


@st.composite
def _holdings(draw: st.DrawFn) -> Holdings:
    fraction, seed = draw(_FRACTIONS), draw(_SEEDS)
    if draw(st.booleans()):
        return kept(tuple(draw(_UNEVEN)), fraction=fraction, seed=seed)
    num_ranks = draw(st.integers(1, 12))
    return dealt(draw(st.integers(num_ranks, 150)), num_ranks, fraction=fraction, seed=seed)


@settings(max_examples=60, deadline=None)
@given(holdings=_holdings(), epoch=_EPOCHS)
@example(holdings=kept((0, 0, 7, 0), fraction=0.5, seed=1), epoch=9)
@example(holdings=kept((1, 0, 100, 3), fraction=0.5, seed=1), epoch=9)
def test_ranks_hold_every_sample_once_in_shards_that_keep_their_sizes(holdings: Holdings, epoch: int) -> None:
    shards = _shards(holdings, epoch)
    assert [len(shard) for shard in shards] == list(holdings.sizes)
    assert np.array_equal(np.sort(np.concatenate(shards)), np.arange(holdings.num_samples))


@settings(max_examples=40, deadline=None)
@given(holdings=_holdings(), epoch=_EPOCHS, data=st.data())
def test_some_slots_alone_hold_what_they_hold_in_the_whole(holdings: Holdings, epoch: int, data: st.DataObject) -> None:
    begin, end = sorted(data.draw(st.tuples(*[st.integers(0, holdings.num_samples)] * 2)))
    whole = holdings.held(range(holdings.num_samples), epoch)
    assert np.array_equal(holdings.held(range(begin, end), epoch), whole[begin:end])


def test_parts_longer_than_a_block_are_joined_rightly() -> None:
    holdings = dealt(300_007, 3, fraction=0.1, seed=4)
    whole = holdings.held(range(300_007), 20)
    assert np.array_equal(np.sort(whole), np.arange(300_007))
    assert np.array_equal(whole[65_530:65_550], holdings.held(range(65_530, 65_550), 20))


@settings(max_examples=30, deadline=None)
@given(sizes=_UNEVEN, fraction=_FRACTIONS, seed=_SEEDS)
def test_kept_samples_begin_where_they_lie(sizes: list[int], fraction: float, seed: int) -> None:
    holdings = kept(tuple(sizes), fraction=fraction, seed=seed)
    assert np.array_equal(np.concatenate(_shards(holdings, 0)), np.arange(sum(sizes)))


@settings(max_examples=60, deadline=None)
@given(holdings=_holdings(), before=st.integers(0, 400), step=st.sampled_from([1, 1, 2, 17, 200, -1, -5, -400]))
@example(holdings=kept((30, 0, 1, 9), fraction=0.5, seed=3), before=0, step=1)
def test_the_moves_of_all_ranks_lead_from_one_epoch_to_the_other(holdings: Holdings, before: int, step: int) -> None:
    after = max(before + step, 0)
    _check_moves(holdings, before, after)


@pytest.mark.parametrize(("num_samples", "num_ranks"), [(4096, 4096), (6007, 300)])
def test_the_moves_of_many_ranks_lead_to_the_next_epoch(num_samples: int, num_ranks: int) -> None:
    _check_moves(dealt(num_samples, num_ranks, fraction=0.4, seed=1), 5, 6)


@settings(max_examples=50, deadline=None)
@given(holdings=_holdings(), epoch=st.integers(0, 400))
def test_a_rank_sends_as_many_as_it_receives_and_never_more_than_its_share(holdings: Holdings, epoch: int) -> None:
    drawn = ceil(round(holdings.fraction * holdings.num_columns, 6))
    for rank, size in enumerate(holdings.sizes):
        moves = holdings.moves(rank, epoch, epoch + 1)
        assert len(moves.sent) == len(moves.received)
        assert len(moves.received) <= drawn * ceil(size / holdings.num_columns)
        if holdings.fraction == 0:
            assert not len(moves.received) + len(moves.shifted)


@pytest.mark.parametrize(
    ("num_ranks", "each", "fraction"),
    [(2, 100, 0.1), (4, 7, 0.05), (8, 1, 0.3), (16, 31, 0.5), (64, 10, 1.0), (4096, 4, 0.1), (3, 1000, 0.0004)],
)
def test_the_share_that_is_drawn_is_the_fraction_in_the_mean(num_ranks: int, each: int, fraction: float) -> None:
    """Those that come back to their own rank are drawn too: what moves is the fraction x (1 - 1/M)."""
    num_seeds, num_epochs = (4, 10) if num_ranks == 4096 else (30, 20)
    moved, drawn = [], []
    for seed in range(num_seeds):
        holdings = dealt(num_ranks * each, num_ranks, fraction=fraction, seed=seed)
        owners = [_owner(holdings, epoch) for epoch in range(num_epochs + 1)]
        moved += [np.mean(a != b) for a, b in pairwise(owners)]
        drawn += [np.mean(holdings.last_turns(epoch) == epoch) for epoch in range(1, num_epochs + 1)]
    # All samples of a column move or none does, and columns are drawn and turned by themselves or in fixed numbers.
    tries, share = len(moved) * each, fraction * (1 - 1 / num_ranks)
    assert abs(np.mean(moved) - share) <= _FIVE_SIGMA * _sigma(share, tries)
    assert abs(np.mean(drawn) - fraction) <= _FIVE_SIGMA * _sigma(fraction, tries)


@pytest.mark.parametrize(
    ("num_samples", "num_ranks", "fraction", "epochs", "num_seeds"),
    [
        (4000, 2, 0.1, 5, 10),
        (3000, 3, 0.01, 60, 10),
        (10_007, 7, 0.3, 3, 10),
        (64 * 211, 64, 0.05, 20, 20),
        (50_000, 64, 0.5, 2, 10),
        (1000 * 30, 1000, 0.2, 1, 30),
        (4096 * 64, 4096, 0.1, 10, 10),
        (4096 * 12 + 848, 4096, 0.1, 10, 40),
        (4096 * 8, 4096, 1.0, 1, 10),
    ],
)
@pytest.mark.parametrize("since", [0, 13])
def test_samples_stay_on_their_rank_as_the_retention_law_says(
    num_samples: int, num_ranks: int, fraction: float, epochs: int, num_seeds: int, since: int
) -> None:
    """1/M + (1 - 1/M)(1 - Q)^k. The samples of a column stay together or go together, so that columns are the tries."""
    stayed = []
    for seed in range(num_seeds):
        holdings = dealt(num_samples, num_ranks, fraction=fraction, seed=seed)
        stayed.append(np.mean(_owner(holdings, since) == _owner(holdings, since + epochs)))
    law = 1 / num_ranks + (1 - 1 / num_ranks) * (1 - fraction) ** epochs
    shortest = num_samples // holdings.num_columns  # where ranks do not divide the samples, columns miss some ranks
    missed = 1 / shortest - 1 / num_ranks
    assert abs(np.mean(stayed) - law) <= _FIVE_SIGMA * _sigma(law, num_seeds * holdings.num_columns) + missed


@pytest.mark.parametrize("deal", [True, False])
@pytest.mark.parametrize(("num_ranks", "each", "fraction"), [(16, 400, 1.0), (64, 1000, 0.5), (128, 500, 0.3)])
def test_a_sample_that_moves_goes_to_any_rank_with_the_same_chance(
    num_ranks: int, each: int, fraction: float, deal: bool
) -> None:
    counts = np.zeros(num_ranks)
    for seed in range(10):
        sizes = (each,) * num_ranks
        holdings = (
            dealt(num_ranks * each, num_ranks, fraction=fraction, seed=seed)
            if deal
            else kept(sizes, fraction=fraction, seed=seed)
        )
        of_rank_3 = holdings.held(holdings.slots(3), 0)[holdings.last_turns(1) == 1]
        counts += np.bincount(_owner(holdings, 1)[of_rank_3], minlength=num_ranks)
    assert _chi_square(counts, np.full(num_ranks, counts.sum() / num_ranks)) < _chi_square_limit(num_ranks - 1)


@pytest.mark.parametrize(("num_samples", "num_ranks"), [(24, 4), (23, 4), (29, 7), (12, 12), (13, 12)])
def test_epoch_0_is_a_random_partition(num_samples: int, num_ranks: int) -> None:
    """Over seeds, each sample is in each slot's rank equally often."""
    num_seeds = 1500
    counts = np.zeros((num_samples, num_ranks))
    for seed in range(num_seeds):
        holdings = dealt(num_samples, num_ranks, fraction=0.1, seed=seed)
        counts[np.arange(num_samples), _owner(holdings, 0)] += 1
    expected = np.tile(np.array(holdings.sizes) / num_samples * num_seeds, (num_samples, 1))
    assert _chi_square(counts, expected) < _chi_square_limit((num_samples - 1) * (num_ranks - 1))
    assert max(map(_chi_square, counts, expected)) < _chi_square_limit(num_ranks - 1) + 10


@pytest.mark.parametrize("epoch", [0, 6])
@pytest.mark.parametrize(("num_samples", "num_ranks"), [(60, 6), (64, 8), (61, 6)])
def test_two_samples_share_a_rank_by_chance_alone(num_samples: int, num_ranks: int, epoch: int) -> None:
    """Also those whose numbers are as far apart as a shard is long, or half of all samples."""
    num_seeds, each = 1000, -(-num_samples // num_ranks)
    apart = [1, 2, each - 1, each, 2 * each, num_samples // 2, num_samples - 1]
    together = np.zeros(len(apart))
    for seed in range(num_seeds):
        owner = _owner(dealt(num_samples, num_ranks, fraction=0.3, seed=seed), epoch)
        together += owner[apart] == owner[0]
    sizes = np.array(dealt(num_samples, num_ranks, fraction=0.3, seed=0).sizes)
    chance = float(np.sum(sizes * (sizes - 1)) / (num_samples * (num_samples - 1)))
    assert np.max(np.abs(together / num_seeds - chance)) < _FIVE_SIGMA * _sigma(chance, num_seeds)


def test_ranks_have_counts_of_a_class_as_by_chance_after_mixing() -> None:
    """Class-sorted shards, mixed for long: a rank's count of a class varies as a random partition's does."""
    num_ranks, each, num_classes = 20, 200, 4
    labels = np.arange(num_ranks * each) // (num_ranks * each // num_classes)
    counts = []
    for seed in range(40):
        holdings = kept((each,) * num_ranks, fraction=0.3, seed=seed)
        counts += [np.bincount(labels[shard], minlength=num_classes)[0] for shard in _shards(holdings, 60)]
    share = 1 / num_classes
    assert abs(np.mean(counts) - each * share) < 0.01
    assert 0.8 < np.var(counts) / (each * share * (1 - share)) < 1.2


@settings(max_examples=60, deadline=None)
@given(holdings=_holdings(), epoch=st.integers(0, 60))
def test_a_column_was_turned_last_in_the_last_epoch_that_drew_it(holdings: Holdings, epoch: int) -> None:
    turns = np.zeros(holdings.num_columns, np.int64)
    if len(holdings.sizes) > 1:
        for each in range(1, epoch + 1):
            turns[holdings._draw(each).columns()] = each
    assert np.array_equal(holdings.last_turns(epoch), turns)


@settings(max_examples=50, deadline=None)
@given(holdings=_holdings(), epoch=_EPOCHS)
def test_a_draw_has_the_columns_that_it_lists_each_once(holdings: Holdings, epoch: int) -> None:
    draw = holdings._draw(epoch)
    listed = draw.columns()
    assert len(set(listed.tolist())) == draw.count
    assert np.array_equal(np.flatnonzero(draw.has(np.arange(draw.size))), np.sort(listed))


@pytest.mark.parametrize(("num_columns", "fraction"), [(1000, 0.1), (100_000, 0.3), (30, 0.01), (50, 1.0)])
def test_an_epoch_costs_no_more_draws_than_it_takes_to_turn_every_column(
    num_columns: int, fraction: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After k draws a column is open by a chance of (1 - Q)^k: with ln(columns) / Q, about one is."""
    num_draws = 0
    draw = Holdings._draw

    def counted(holdings: Holdings, epoch: int) -> Any:
        nonlocal num_draws
        num_draws += 1
        return draw(holdings, epoch)

    monkeypatch.setattr(Holdings, "_draw", counted)
    holdings = dealt(2 * num_columns, 2, fraction=fraction, seed=6)
    holdings.held(holdings.slots(1), 10**6)
    assert 0 < num_draws <= (log(num_columns) + 10) / fraction + 1


@pytest.mark.parametrize("sizes", [(), (0,), (0, 0, 0)])
def test_no_samples_at_all_are_refused(sizes: tuple[int, ...]) -> None:
    with pytest.raises(TooFewSamples, match="no samples"):
        kept(sizes, fraction=0.1, seed=0)


@pytest.mark.parametrize("size", [-1, 2.0, True, "3", None])
def test_a_shard_with_no_whole_number_of_samples_is_refused(size: Any) -> None:
    with pytest.raises(TooFewSamples, match="rank 1"):
        kept((5, size, 5), fraction=0.1, seed=0)


@pytest.mark.parametrize("fraction", [0, 1, 0.25, np.float32(0.5), np.int64(1)])
def test_a_share_from_0_to_1_is_a_fraction(fraction: Any) -> None:
    assert checked_fraction(fraction) == float(fraction)


@pytest.mark.parametrize("fraction", [-1e-9, 1.5, float("nan"), True, False, "0.5", None])
def test_anything_else_is_not(fraction: Any) -> None:
    for use in (
        checked_fraction,
        lambda bad: kept((1, 2), fraction=bad, seed=0),
        lambda bad: dealt(3, 2, fraction=bad, seed=0),
    ):
        with pytest.raises(BadFraction):
            use(fraction)


def _shards(holdings: Holdings, epoch: int) -> list[Ids]:
    return np.split(holdings.held(range(holdings.num_samples), epoch), holdings.starts[1:-1])


def _owner(holdings: Holdings, epoch: int) -> Ids:
    """The rank of each sample."""
    owner = np.empty(holdings.num_samples, np.int64)
    owner[holdings.held(range(holdings.num_samples), epoch)] = np.repeat(np.arange(len(holdings.sizes)), holdings.sizes)
    return owner


def _check_moves(holdings: Holdings, before: int, after: int) -> None:
    """Send what each rank's moves say, sender by sender, in their order, and see that all have what they should."""
    held = _shards(holdings, before)
    moves = [holdings.moves(rank, before, after) for rank in range(len(held))]
    in_flight = {}
    for rank, move in enumerate(moves):
        for receiver in np.unique(move.sent_to):
            slots = move.sent[move.sent_to == receiver]
            assert np.all(np.diff(slots) > 0)
            in_flight[rank, int(receiver)] = held[rank][slots]
    moved = [shard.copy() for shard in held]
    for rank, move in enumerate(moves):
        moved[rank][move.shifted_to] = held[rank][move.shifted]
        for sender in np.unique(move.received_from):
            arrived = in_flight.pop((int(sender), rank))
            slots = move.received[move.received_from == sender]
            assert len(slots) == len(arrived)
            moved[rank][slots] = arrived
    assert not in_flight
    for got, wanted in zip(moved, _shards(holdings, after), strict=True):
        assert np.array_equal(got, wanted)


def _sigma(chance: float, tries: int) -> float:
    return float(np.sqrt(chance * (1 - chance) / tries))


def _chi_square(counts: Any, expected: Any) -> float:
    return float(np.sum((counts - expected) ** 2 / expected))


def _chi_square_limit(freedom: int) -> float:
    return freedom + _FIVE_SIGMA * float(np.sqrt(2 * freedom))
