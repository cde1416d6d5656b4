"""What was kept can be put back, whatever was done to it meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tree.programs.runner.portrait import portrait

import argosy
from argosy.tree import running
from argosy.tree.saved import save, save_global_generator

LAYOUTS = (
    lambda a: a,
    lambda a: a.T,
    lambda a: a[..., ::-1],
    lambda a: a[::2],
)


def put_back(saved: Any) -> None:
    for one in reversed(saved):
        one()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_an_array_gets_back_what_it_had_at_an_index_and_keeps_what_it_has_elsewhere(data: st.DataObject) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=4))
    dtype = data.draw(st.sampled_from(["f8", "i4", "c16", "bool", "M8[s]", "U3"]))
    whole = np.arange(int(np.prod(shape))).astype("i8").reshape(shape).astype(dtype)
    array = data.draw(st.sampled_from(LAYOUTS))(whole)
    index = data.draw(hnp.basic_indices(array.shape, allow_newaxis=True, allow_ellipsis=True) | st.none())
    before = array.copy()
    inside = np.zeros(array.shape, bool)
    inside[... if index is None else index] = True
    saved = save(array, index)
    array[...] = np.ones(1, "i8").astype(dtype)[0]
    after = array.copy()
    put_back(saved)
    assert np.array_equal(array[inside], before[inside])
    assert np.array_equal(array[~inside], after[~inside])


leaves = st.integers(0, 9) | st.just("x") | hnp.arrays("f8", 3, elements=st.floats(-1, 1))
nested = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3)
    ),
    max_leaves=10,
)


def spoil(value: Any, seen: set[int]) -> None:
    """Change all that can be changed in place, the inner things first."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, list | tuple | dict):
        for element in list(value.values() if isinstance(value, dict) else value):
            spoil(element, seen)
    if isinstance(value, np.ndarray):
        value += 7
    elif isinstance(value, list):
        value[:] = [*value[1:], "new", value]
    elif isinstance(value, dict):
        value["new"] = value.pop(next(iter(value), "none"), None)


@settings(max_examples=60, deadline=None)
@given(nested, st.booleans())
def test_containers_get_back_what_they_held_and_what_that_held(value: Any, twice: bool) -> None:
    if twice and isinstance(value, list):
        value += [value, *value[:1]]  # it holds itself, and something twice
    before = portrait([value])
    saved = save(value)
    spoil(value, set())
    put_back(saved)
    assert portrait([value]) == before


def test_where_only_containers_change_arrays_are_not_copied() -> None:
    array = np.zeros(3)
    held = {"a": array}
    value: list[Any] = [array, held]
    saved = save(value, boxes_only=True)
    array[:] = 5
    held["b"] = value.pop(0)
    put_back(saved)
    assert value[0] is array
    assert list(held) == ["a"]
    assert array.tolist() == [5, 5, 5]


def test_keys_of_a_dict_come_back_in_their_order() -> None:
    value = {"b": 1, "a": 2}
    saved = save(value)
    value["b"] = value.pop("b")
    put_back(saved)
    assert list(value) == ["b", "a"]


def test_elements_of_a_set_come_back() -> None:
    value = {1, 2}
    saved = save(value)
    value ^= {2, 3}
    put_back(saved)
    assert value == {1, 2}


def added_before_and_after(numbers: Any, a: Any) -> Any:
    numbers.add(16)
    b = np.linalg.inv(a)
    numbers.add(77)
    return b


def test_a_set_keeps_its_order_when_something_before_a_change_fails() -> None:
    """A copy of this set has another order than the set itself."""

    def left_by(function: Any) -> list[int]:
        numbers: set[int] = set()
        for number in (16, 1, 2, 3, 4):
            numbers.add(number)
        assert list(numbers.copy()) != list(numbers)
        with pytest.raises(np.linalg.LinAlgError):
            function(numbers, np.ones((300, 300)))
        return list(numbers)

    assert left_by(argosy.futurize(grain=0, threads=3)(added_before_and_after)) == left_by(added_before_and_after)


def test_a_read_only_array_is_nobodys_to_change() -> None:
    array = np.zeros(3)
    array.flags.writeable = False
    assert save(array) == []


def test_what_a_function_closes_over_comes_back() -> None:
    seen: list[int] = []
    table = np.zeros(2)

    def remember(x: int) -> None:
        seen.append(x)
        table[:] = x

    saved = save(remember)
    remember(4)
    put_back(saved)
    assert seen == []
    assert table.tolist() == [0, 0]


def test_a_function_that_closes_over_itself_ends() -> None:
    seen: list[int] = []

    def down(n: int) -> None:
        seen.append(n)
        if n:
            down(n - 1)

    saved = save(down)
    down(2)
    put_back(saved)
    assert seen == []


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox])
def test_a_generator_draws_the_same_again(bits: Any) -> None:
    generator = np.random.Generator(bits(3))
    generator.random(3)
    saved = save([generator])
    first = generator.random(5)
    put_back(saved)
    assert generator.random(5).tobytes() == first.tobytes()


def test_numpys_own_generator_draws_the_same_again() -> None:
    kept = np.random.get_state()
    try:
        saved = save_global_generator()
        first = np.random.standard_normal(3)
        saved()
        assert np.random.standard_normal(3).tobytes() == first.tobytes()
    finally:
        np.random.set_state(kept)


def store_rows(a: Any, one: Any, other: Any) -> Any:
    a[one, :3] = 1.0
    a[other + 1] = 2.0
    a[other * 2] = 3.0
    return a


def test_integers_of_numpy_tell_the_region_that_is_kept_where_they_cannot_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Any] = []

    def spied(value: Any, index: Any = None, boxes_only: bool = False) -> Any:
        kept.append(index)
        return save(value, index, boxes_only)

    monkeypatch.setattr(running, "save", spied)
    a, one, other = np.zeros((9, 4)), np.int64(1), np.int64(3)
    with np.errstate(divide="print"):  # so that nothing is known to be in its turn, and all is kept
        ours = argosy.futurize(store_rows, grain=0)(a.copy(), one, other)
    assert ours.tobytes() == store_rows(a.copy(), one, other).tobytes()
    assert kept == [(1, slice(None, 3, None)), 4, None]
