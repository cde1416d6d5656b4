"""Which values may share memory, and who waits for whom because of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from argosy.tree.memory import Memory, Token
from argosy.tree.regions import region_of
from argosy.tree.states import DONE, RUNNING


def access(state: int = RUNNING) -> Any:
    return SimpleNamespace(state=state)


def same(memory: Memory, one: Any, other: Any) -> bool:
    first, second = memory.token_of(one), memory.token_of(other)
    assert first is not None
    assert second is not None
    return first.root() is second.root()


def views(array: Any) -> dict[str, Any]:
    return {
        "itself": array,
        "slice": array[1:],
        "view of a view": array[1:][::-1].T,
        "reshaped": array.reshape(-1),
        "another dtype": array.view("i8"),
        "over a memoryview": np.frombuffer(memoryview(array), "f8"),
    }


@pytest.mark.parametrize("first", list(views(np.zeros((4, 4)))))
@pytest.mark.parametrize("second", list(views(np.zeros((4, 4)))))
def test_an_array_and_its_views_are_one_whichever_is_met_first(first: str, second: str) -> None:
    array = np.zeros((4, 4))
    memory = Memory()
    assert same(memory, views(array)[first], views(array)[second])
    assert not same(memory, array, np.zeros((4, 4)))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_containers_that_hold_the_same_array_are_one(one: list[int], other: list[int]) -> None:
    arrays = [np.zeros(2) for _ in range(6)]
    memory = Memory()
    first, second = [arrays[number] for number in one], {"a": tuple(arrays[number][:1] for number in other)}
    assert same(memory, first, second) == bool(set(one) & set(other))
    for number in one:
        assert same(memory, first, arrays[number])


def test_buffers_of_others_are_known_by_their_address() -> None:
    memory, buffer = Memory(), bytearray(64)
    whole = np.frombuffer(buffer, "f8")
    assert same(memory, whole, np.frombuffer(buffer, "u1"))
    assert not same(memory, whole, np.frombuffer(bytearray(64), "f8"))


def test_a_function_is_one_with_what_it_closes_over() -> None:
    memory, array = Memory(), np.zeros(3)

    def inner() -> Any:
        return array

    def calls_itself(n: int) -> Any:
        return calls_itself(n - 1) if n else array

    assert same(memory, inner, array)
    assert same(memory, calls_itself, inner)
    assert not same(memory, inner, np.zeros(3))


def test_a_list_that_holds_itself_ends() -> None:
    memory = Memory()
    value: list[Any] = [np.zeros(2)]
    value.append(value)
    assert memory.token_of(value) is None  # of a kind that nobody knows: it is touched in turn only


@pytest.mark.parametrize("value", [1, 2.5, "text", None, (1, "a"), range(3), np.float64(1)])
def test_what_never_changes_has_no_memory(value: Any) -> None:
    assert Memory().token_of(value) is None


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_of_two_that_touch_an_element_one_of_them_writing_the_later_waits(data: st.DataObject) -> None:
    array = np.zeros(data.draw(hnp.array_shapes(max_dims=2, max_side=5)))
    token = Memory().token_of(array)
    assert token is not None
    before: list[tuple[Any, bool, Any]] = []
    for _ in range(6):
        index, writes = data.draw(hnp.basic_indices(array.shape) | st.none()), data.draw(st.booleans())
        touched = np.zeros(array.shape, bool)
        touched[... if index is None else index] = True
        region = None if index is None else region_of(array, index)
        waits = reached(token.waits_for(writes, region))
        for other, wrote, where in before:
            if (writes or wrote) and (touched & where).any():
                assert id(other) in waits
        one = access()
        one.waits = waits
        token.add(one, writes, region)
        before.append((one, writes, touched))


def reached(accesses: list[Any]) -> set[int]:
    """They, and whom they wait for."""
    return {id(one) for one in accesses}.union(*(one.waits for one in accesses))


def test_readers_do_not_wait_for_readers_nor_anybody_for_what_has_ended() -> None:
    token = Token()
    reader, writer, over = access(), access(), access()
    token.add(reader, False, None)
    assert token.waits_for(False, None) == []
    assert token.waits_for(True, None) == [reader]
    token.add(writer, True, None)
    assert token.waits_for(False, None) == [writer]
    token.add(over, False, None)
    over.state = writer.state = DONE
    assert token.waits_for(True, None) == []


def test_readers_that_have_ended_are_not_kept_for_ever() -> None:
    token = Token()
    for _ in range(10_000):
        token.add(access(DONE), False, None)
    assert len(token.readers) < 100


def test_united_tokens_wait_for_the_accesses_of_both_and_new_ones_share_nothing() -> None:
    one, other = Token(), Token()
    first, second = access(), access()
    one.add(first, True, None)
    other.add(second, False, None)
    root = one.unite(other)
    assert root is one.root() is other.root()
    assert set(map(id, root.waits_for(True, None))) == {id(first), id(second)}
    assert root.unite(other) is root
    assert Token().waits_for(True, None) == []


def test_hidden_states_are_told_apart_by_name() -> None:
    memory = Memory()
    assert memory.state("random") is memory.state("random")
    assert memory.state("random") is not memory.state("other")
