"""Kinds of values, and what is known of a value that is one or another."""

from __future__ import annotations

import copy
import math
import pathlib
import re
from functools import reduce
from itertools import permutations
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.tree.kinds import (
    ARRAY,
    ATOM,
    MADE,
    NEVER,
    RESULT,
    RNG,
    UNKNOWN,
    VALUE,
    AnyKind,
    Box,
    Closure,
    Declared,
    Known,
    boxed,
    holds_only_atoms,
    is_plain,
    is_still,
    join,
    kind_of,
)  # fmt: skip

leaves: list[AnyKind] = [
    *(ATOM, ARRAY, VALUE, RNG, NEVER, RESULT, MADE, UNKNOWN),
    *(Known(len), Known(math), Declared(pathlib.PosixPath)),
]
kinds = st.recursive(
    st.sampled_from(leaves),
    lambda inner: st.builds(boxed, st.sampled_from(["list", "tuple", "dict", "set", "iterator"]), inner),
    max_leaves=3,
)
keys = st.integers(0, 3) | st.text(max_size=2) | st.tuples(st.integers(0, 3), st.booleans())
atoms = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.binary(max_size=3),
    st.sampled_from([range(3), ..., np.float64(1), np.int8(3), np.bool_(True), np.dtype("f4"), slice(1, 2)]),
)  # fmt: skip
arrays = st.sampled_from([(3,), (0,), (2, 2), ()]).map(np.zeros)
values = st.recursive(
    atoms | arrays | st.sampled_from([len, math, np.sin, int]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(keys, inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(kinds, kinds)
def test_a_join_does_not_depend_on_the_order(one: AnyKind, other: AnyKind) -> None:
    assert join(one, other) == join(other, one)


@settings(max_examples=60, deadline=None)
@given(st.lists(kinds, min_size=3, max_size=3))
def test_a_join_of_three_is_the_same_however_it_is_made_or_else_says_that_nothing_is_known(
    three: list[AnyKind],
) -> None:
    joined = {reduce(join, order) for order in permutations(three)}
    assert len(joined - {UNKNOWN}) <= 1


@settings(max_examples=60, deadline=None)
@given(kinds, kinds)
def test_a_join_joined_again_with_one_of_its_parts_stays(one: AnyKind, other: AnyKind) -> None:
    both = join(one, other)
    assert join(both, one) == both
    assert join(one, one) == one
    assert join(NEVER, one) == one


@settings(max_examples=60, deadline=None)
@given(kinds, kinds)
def test_what_holds_of_a_join_holds_of_both(one: AnyKind, other: AnyKind) -> None:
    both = join(one, other)
    for holds in (is_plain, is_still):
        if holds(both):
            assert holds(one)
            assert holds(other)


@settings(max_examples=60, deadline=None)
@given(values)
def test_equal_structures_are_of_one_kind_and_kinds_can_be_keys(value: Any) -> None:
    kind = kind_of(value)
    again = kind_of(copy.deepcopy(value))
    assert kind == again
    assert hash(kind) == hash(again)


@settings(max_examples=60, deadline=None)
@given(values, values)
def test_a_list_of_two_holds_the_join_of_their_kinds(one: Any, other: Any) -> None:
    kind = kind_of([one, other])
    assert kind is UNKNOWN or kind == Box("list", join(kind_of(one, 1), kind_of(other, 1)))


def parts_of(value: Any) -> list[Any]:
    inner = (
        list(value) if isinstance(value, (list, tuple, set)) else list(value.values()) if type(value) is dict else []
    )
    return [value, *[part for element in inner for part in parts_of(element)]]


@settings(max_examples=60, deadline=None)
@given(values)
def test_what_is_still_has_nothing_in_it_that_can_be_changed(value: Any) -> None:
    if is_still(kind_of(value)):
        assert not any(type(part) in (list, dict, set, np.ndarray, bytearray) for part in parts_of(value))


@settings(max_examples=60, deadline=None)
@given(values)
def test_what_can_be_changed_is_not_still(value: Any) -> None:
    if any(type(part) in (list, dict, np.ndarray) for part in parts_of(value)):
        assert not is_still(kind_of(value))


class OfTheUser:
    pass


class OfInts(int):
    pass


class Stays:
    __argosy_value__ = True


@pytest.mark.parametrize(
    "value",
    [
        *(OfTheUser(), OfInts(3), {1: OfTheUser()}, [OfTheUser()], {OfTheUser(): 1}, bytearray(2), iter([])),
        *(np.array([None]), np.zeros(2, "i4,f4"), np.ma.zeros(2), np.zeros(1, "i4,f4")[0]),
        *(MappingProxyType({}), slice([], None), list(range(300)), [[[[[1]]]]], np.random.RandomState(0)),
        (number for number in range(2)),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_may_run_code_of_others_is_unknown(value: Any) -> None:
    assert kind_of(value) is UNKNOWN


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (np.zeros(3), ARRAY),
        (np.zeros(()), VALUE),
        (np.array(["a"]), ARRAY),
        (np.random.default_rng(0), RNG),
        ([], Box("list", NEVER)),
        ((), Box("tuple", ATOM)),
        ([1, "a", None], Box("list", ATOM)),
        ([1, np.zeros(2)], Box("list", VALUE)),
        ({"a": np.zeros(2)}, Box("dict", ARRAY)),
        (frozenset({1}), Box("set", ATOM)),
        ([[], [np.zeros(2)]], Box("list", Box("list", ARRAY))),
        (len, Known(len)),
        (np, Known(np)),
        (np.add, Known(np.add)),
        (OfTheUser, Known(OfTheUser)),
        (Stays(), Declared(Stays)),
        (pathlib.PosixPath("a"), Declared(pathlib.PosixPath)),
    ],
    ids=lambda value: re.sub(" at 0[xX][0-9a-fA-F]+", "", str(value)),  # the same in every process
)
def test_the_kind_of_a_value(value: Any, kind: AnyKind) -> None:
    assert kind_of(value) == kind


def make(captured: Any) -> Any:
    def inner() -> Any:
        return captured

    return inner


def test_closures_of_one_code_are_of_one_kind_when_they_captured_the_same_kinds() -> None:
    one, two, three = kind_of(make(1)), kind_of(make(2)), kind_of(make(np.zeros(2)))
    assert isinstance(one, Closure)
    assert one == two
    assert hash(one) == hash(two)
    assert one != three
    assert not is_still(three)


def test_a_function_that_captured_itself_has_a_kind() -> None:
    def down(n: int) -> int:
        return n and down(n - 1)

    assert isinstance(kind_of(down), Closure)


def test_boxes_are_not_known_deeper_than_three() -> None:
    kind: Any = ATOM
    for _ in range(3):
        kind = boxed("list", kind)
    assert isinstance(kind, Box)
    assert boxed("list", kind) is UNKNOWN


@pytest.mark.parametrize(
    ("held", "only"),
    [
        ([], True),
        ([1, 2.0, "a", None, True], True),
        ([np.float64(1.0), np.int8(2)], True),
        ([(1, 2), (3, "a"), ()], True),
        ([[1], [2]], False),
        ([1, [2]], False),
        ([(1, [2])], False),
        ([(1, (2, [3]))], False),
        ([1, (2, [3])], False),
        ([np.zeros(2)], False),
        ([object()], False),
        ([(1, object())], False),
        ([np.void(b"a")], False),
    ],
)
def test_only_atoms_or_only_tuples_of_atoms(held: list[Any], only: bool) -> None:
    assert holds_only_atoms(held) is only
