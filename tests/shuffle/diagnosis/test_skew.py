"""Skew between shards: none where chance did it, all where shards cannot differ further, less with each exchange."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.shuffle.diagnosis.glance import MOST_READ, glance, glance_at
from argosy.shuffle.diagnosis.skew import _distance_by_chance, _log_factorial, feature_skew, label_skew
from argosy.shuffle.holdings import kept


@pytest.mark.parametrize(
    ("num_samples", "num_ranks", "num_classes"), [(10_000, 16, 10), (3000, 300, 10), (5000, 7, 1), (2000, 2, 900)]
)
def test_random_shards_have_no_skew(num_samples: int, num_ranks: int, num_classes: int) -> None:
    for seed in range(10):
        numbers = np.random.default_rng(seed)
        found = label_skew(
            [glance(each) for each in np.array_split(numbers.integers(num_classes, size=num_samples), num_ranks)]
        )
        assert found is not None
        assert found.skew == 0
        assert found.measured == pytest.approx(found.by_chance, abs=0.03)


def test_chance_is_what_random_dealing_gives_in_the_mean() -> None:
    numbers = np.random.default_rng(0)
    labels = np.repeat(np.arange(5), [1, 4, 20, 75, 200])
    found = [
        label_skew([glance(each) for each in np.split(numbers.permutation(labels), [10, 60, 61, 200])])
        for _ in range(300)
    ]
    measured = [each.measured for each in found if each is not None]
    assert found[0] is not None
    assert abs(np.mean(measured) - found[0].by_chance) < 5 * np.std(measured) / np.sqrt(300)
    assert np.std(measured) < np.sqrt(1 / (2 * 300))


@settings(max_examples=50, deadline=None)
@given(total=st.integers(1, 9), data=st.data())
def test_the_mean_distance_by_chance_is_that_over_all_draws(total: int, data: st.DataObject) -> None:
    marked, drawn = data.draw(st.integers(0, total)), data.draw(st.integers(1, total))
    numbers = [sum(each < marked for each in draw) for draw in combinations(range(total), drawn)]
    wanted = np.mean(np.abs(np.array(numbers) - marked * drawn / total))
    got = _distance_by_chance(np.array([float(marked)]), np.array([[float(drawn)]]), float(total))
    assert got.item() == pytest.approx(wanted, abs=1e-9)


def test_logarithms_of_factorials_are_right_to_twelve_digits() -> None:
    exact = np.cumsum(np.log(np.arange(1, 2001)))
    assert _log_factorial(np.arange(1.0, 2001.0)) == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize(("num_ranks", "num_classes"), [(10, 10), (64, 10), (4, 8), (2, 2)])
def test_class_sorted_shards_are_as_skewed_as_can_be(num_ranks: int, num_classes: int) -> None:
    labels = np.repeat(np.arange(num_classes), 6400 // num_classes)
    found = label_skew([glance(each) for each in np.array_split(labels, num_ranks)])
    assert found is not None
    assert 0.9 < found.skew <= 1


def test_an_exchange_leaves_of_a_skew_what_the_law_says() -> None:
    num_ranks, each, fraction, epochs = 16, 2000, 0.2, 4
    labels = np.arange(num_ranks * each) // (num_ranks * each // 8)
    features = (labels + np.random.default_rng(1).normal(size=len(labels)))[:, None]
    holdings = kept((each,) * num_ranks, fraction=fraction, seed=5)

    def skews(epoch: int) -> list[float]:
        shards = [holdings.held(holdings.slots(rank), epoch) for rank in range(num_ranks)]
        glances = [glance(labels[shard], features[shard]) for shard in shards]
        return [found.skew for found in (label_skew(glances), feature_skew(glances)) if found is not None]

    # Beside a large skew chance adds to the distance a little less than alone.
    assert skews(epochs) == pytest.approx([skew * (1 - fraction) ** epochs for skew in skews(0)], abs=0.04)


def test_features_that_differ_between_shards_are_found_among_many_that_do_not() -> None:
    numbers = np.random.default_rng(2)
    shards = [numbers.normal(size=(200, 50)) for _ in range(8)]
    alike = feature_skew([glance(features=each) for each in shards])
    for rank, each in enumerate(shards):
        each[:, 7] += rank
    apart = feature_skew([glance(features=each) for each in shards])
    assert alike is not None
    assert alike.skew == 0
    assert apart is not None
    # The means 0 to 7 have the variance 5.25, and each shard 1.
    assert apart.skew == pytest.approx(np.sqrt(5.25 / 6.25), abs=0.03)


def test_labels_of_text_classes_and_measures_are_all_understood() -> None:
    words = [np.array(["cat"] * 90 + ["dog"] * 10), np.array(["dog"] * 90 + ["owl"] * 10)]
    objects = [each.astype(object) for each in words]
    measures = [np.random.default_rng(rank).normal(rank, 1, 3000) for rank in range(2)]
    rows = [np.eye(2)[[rank] * 50] for rank in range(2)]
    for shards in (words, objects, measures, rows):
        found = label_skew([glance(each) for each in shards])
        assert found is not None
        assert found.skew > 0.4


def test_a_rank_without_samples_says_nothing_and_a_rank_without_labels_hides_all() -> None:
    shards: list[Any] = [np.zeros(50, int), np.empty(0, int), np.ones(50, int)]
    found = label_skew([glance(each) for each in shards])
    assert found is not None
    assert found.skew == pytest.approx(1)
    assert label_skew([glance(np.zeros(5)), glance(None, np.zeros((5, 2)))]) is None
    assert feature_skew([glance(np.zeros(5)), glance(None, np.zeros((5, 2)))]) is None
    assert label_skew([]) is None


def test_constant_features_and_values_that_are_no_numbers_are_left_out() -> None:
    numbers = np.random.default_rng(3)
    shards = [np.column_stack([np.full(100, 1e8), numbers.normal(size=100)]) for _ in range(4)]
    shards[1][:50, 1] = np.nan
    shards[2][0, 1] = np.inf
    found = feature_skew([glance(features=each) for each in shards])
    assert found is not None
    assert found.skew == 0
    constant = feature_skew([glance(features=np.ones((10, 3))) for _ in range(4)])
    assert constant is not None
    assert constant.skew == 0


def test_a_large_sample_is_summed_up_and_a_large_dataset_read_in_part() -> None:
    class Images:
        num_read = 0

        def __len__(self) -> int:
            return 10**7

        def __getitem__(self, index: int) -> tuple[Any, int]:
            self.num_read += 1
            return np.full((3, 20, 21), index % 2, np.float32), index % 2

    images = Images()
    seen = glance_at(images)
    assert images.num_read <= MOST_READ + 1
    assert seen.num_samples == 10**7
    assert seen.features is not None
    assert seen.features.means.shape == (256,)
    assert seen.features.means == pytest.approx(np.full(256, 0.5), abs=0.05)
    assert seen.classes is not None
    assert seen.classes.values.tolist() == [0, 1]


def test_a_list_of_pairs_is_a_dataset_and_a_list_of_numbers_are_labels() -> None:
    pairs = glance_at([([1.0, 2.0], 0), ([3.0, 4.0], 1)])
    assert pairs.features is not None
    assert pairs.features.means.tolist() == [2, 3]
    assert glance_at([0, 1, 1]).features is None
    assert glance_at([("a text", 0), ("another", 1)]).features is None


def test_what_are_no_pairs_or_do_not_match_is_refused() -> None:
    with pytest.raises(TypeError, match="pairs"):
        glance_at([(1, 2, 3), (4, 5, 6)])
    with pytest.raises(ValueError, match="3 labels for 2 rows"):
        glance([1, 2, 3], np.zeros((2, 4)))
    with pytest.raises(TypeError, match="must be numbers"):
        glance(None, np.array([["a"], ["b"]]))
