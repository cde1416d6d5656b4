"""Two parts of arrays that have an element in common are never said to be apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from argosy.tree.regions import overlap, region_of

shapes = st.lists(st.integers(0, 5), min_size=1, max_size=3).map(tuple)


@st.composite
def indices(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """A basic index that the shape has elements for, or none."""
    parts: list[Any] = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        bound = st.none() | st.integers(-size - 1, size + 1)
        ways: list[st.SearchStrategy[Any]] = [st.builds(slice, bound, bound, st.sampled_from([None, 1, 2, 3, -1, -2]))]
        if size:
            ways += [st.integers(-size, size - 1), st.integers(-size, size - 1).map(np.int64)]
        parts.append(draw(st.one_of(ways)))
        if draw(st.integers(0, 5)) == 0:
            parts.append(None)
    if draw(st.booleans()):
        parts.append(...)
    return parts[0] if len(parts) == 1 and draw(st.booleans()) else tuple(parts)


def touched(array: np.ndarray, numbers: np.ndarray, index: Any) -> set[int]:
    """The elements of the array at the index, by their numbers."""
    assert array.shape == numbers.shape
    return set(np.asarray(numbers[index]).ravel().tolist())


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_two_indices_with_an_element_in_common_overlap(data: st.DataObject) -> None:
    shape = data.draw(shapes)
    array = np.zeros(shape)
    numbers = np.arange(array.size).reshape(shape)
    one, other = data.draw(indices(shape)), data.draw(indices(shape))
    regions = region_of(array, one), region_of(array, other)
    assert None not in regions
    if touched(array, numbers, one) & touched(array, numbers, other):
        assert overlap(*regions)
        assert overlap(*reversed(regions))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_an_index_of_a_view_and_one_of_its_base_overlap_where_they_share_an_element(data: st.DataObject) -> None:
    shape = data.draw(shapes)
    base = np.zeros(shape)
    numbers = np.arange(base.size).reshape(shape)
    through = data.draw(indices(shape))
    view, view_numbers = base[through], numbers[through]
    if type(view) is not np.ndarray or not view.ndim:
        return
    one, other = data.draw(indices(shape)), data.draw(indices(view.shape))
    if touched(base, numbers, one) & touched(view, view_numbers, other):
        assert overlap(region_of(base, one), region_of(view, other))
        assert overlap(region_of(view, other), region_of(base, one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0, 1),
        (-1, 0),
        (slice(0, 3), slice(3, 6)),
        (slice(0, None, 2), slice(1, None, 2)),
        (slice(None, None, -2), slice(0, None, 2)),
        ((slice(None), 0), (slice(None), 1)),
        ((None, 0), 1),
        ((0, ...), (np.int64(1), ...)),
    ],
    ids=str,
)
def test_indices_that_are_apart_are_seen_to_be(one: Any, other: Any) -> None:
    array = np.zeros((6, 4))
    assert not overlap(region_of(array, one), region_of(array, other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (slice(0, None, 2), slice(1, 5)),
        (slice(0, None, 2), slice(1, None, 3)),
        (slice(None, None, -2), slice(1, None, 2)),
        (slice(None, None, -1), 0),
        ((slice(None), 0), (1, slice(0, 1))),
        ((), -1),
        ((..., 0), 3),
    ],
    ids=str,
)
def test_indices_with_an_element_in_common_are_not_apart(one: Any, other: Any) -> None:
    array = np.zeros((6, 4))
    assert overlap(region_of(array, one), region_of(array, other))


def test_arrays_of_memory_of_their_own_are_apart() -> None:
    assert not overlap(region_of(np.zeros(3), 0), region_of(np.zeros(3), 0))


@pytest.mark.parametrize("index", [True, "a", 1.0, [0, 1], np.array([0]), np.array(True), 6, -7, slice("a", None)])
def test_other_indices_have_no_region(index: Any) -> None:
    assert region_of(np.zeros(6), index) is None


def test_only_arrays_have_regions() -> None:
    assert region_of([1, 2], 0) is None
    assert region_of(np.ma.zeros(3), 0) is None


def test_no_region_is_everything() -> None:
    region = region_of(np.zeros(3), 0)
    assert overlap(None, region)
    assert overlap(region, None)
    assert overlap(None, None)


def test_a_step_of_zero_is_left_to_the_statement_itself_to_complain_about() -> None:
    assert region_of(np.zeros(6), slice(0, 3, 0)) is None


def test_an_array_of_no_axes_overlaps_what_it_is_a_view_of() -> None:
    base = np.zeros(1)
    assert overlap(region_of(base.reshape(()), ...), region_of(base, 0))
    assert overlap(region_of(base, 0), region_of(base.reshape(()), ()))


def test_rows_of_sliding_windows_share_elements() -> None:
    windows = as_strided(np.zeros(6), (4, 3), (8, 8))
    assert overlap(region_of(windows, 0), region_of(windows, 1))
