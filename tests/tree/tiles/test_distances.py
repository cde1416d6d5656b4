"""Short axes: tiles are arranged so that the cut axis is fastest, and sums still have the bits of the whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree.tiles.whole import all_tiles, assert_same, cut_of, is_cut_and_same, whole_of

from argosy.tree.tiles import Limits, short_sums

ARRANGED = Limits(
    min_nbytes=0, tile_nbytes=4000, rows_multiple=4, short_axis=200, short_result_axis=200, tiles_per_thread=1
)

SOURCES = (
    "np.sqrt(((points - centroids[:, np.newaxis]) ** 2).sum(axis=2))",
    "((points[:, None] - centroids) ** 2).sum(axis=-1)",
    "np.linalg.norm(points - centroids[0], axis=1)",
    "np.argmin(((points - centroids[:, None]) ** 2).sum(axis=2), axis=0)",
    "np.abs(points - centroids[0]).mean(axis=1, keepdims=True)",
    "(points - centroids[0]) / (1.5 + np.abs(centroids[1]))",
    "(points - points.mean(axis=0)) ** 2",
)


@given(
    st.sampled_from(SOURCES),
    st.integers(20, 70),
    st.one_of(st.integers(1, 20), st.integers(120, 128)),
    st.integers(2, 6),
    st.sampled_from(("f4", "f8")),
    st.sampled_from(("C", "F")),
    st.integers(0, 1000),
)
@settings(max_examples=60, deadline=None)
def test_distances_have_the_bits_of_the_whole(
    source: str, num_points: int, num_dims: int, num_centroids: int, dtype: str, order: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal((num_points, num_dims)) * np.exp2(rng.integers(-9, 9, (num_points, num_dims)))
    points = np.asarray(numbers, dtype=dtype, order=order)
    centroids = rng.standard_normal((num_centroids, num_dims)).astype(dtype)
    assert is_cut_and_same(source, {"points": points, "centroids": centroids}, ARRANGED, threads=1)


@pytest.mark.parametrize("source", SOURCES[:3])
def test_a_short_axis_is_not_the_inner_loop_of_a_tile(source: str) -> None:
    rng = np.random.default_rng(0)
    variables = {"points": rng.random((500, 3)), "centroids": rng.random((4, 3))}
    cut = cut_of(source, variables, ARRANGED)
    assert cut is not None
    assert cut.is_arranged
    assert_same(all_tiles(cut), whole_of(source, variables))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", ["sum", "mean", "norm"])
def test_the_order_of_additions_is_known_up_to_128_numbers(name: str, dtype: str) -> None:
    assert all(short_sums.agrees(name, np.dtype(dtype), length) for length in range(1, short_sums.LONGEST + 1))
    assert not short_sums.agrees(name, np.dtype(dtype), short_sums.LONGEST + 1)


def test_a_sum_in_another_order_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    in_order = short_sums._one_after_another
    monkeypatch.setattr(short_sums, "_one_after_another", lambda total, rows: in_order(total, rows[::-1]))
    assert not short_sums.agrees.__wrapped__("sum", np.dtype("f8"), 20)
