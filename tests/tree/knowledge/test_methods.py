"""Every known method is called on objects of all the types that have it, and does no more than what is known of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from random import Random
from typing import Any, Literal, get_args

import numpy as np
import pytest
from tree.knowledge.arguments import ARRAYS, SEED, TIMES, Maker, draw, grid
from tree.knowledge.probe import EMPTY_HANDED, is_atom, probe

from argosy.tree.knowledge import Behaviour, of_attribute, of_container_method, of_generator_method, of_method

Container = Literal["list", "dict", "set", "tuple"]

PLAIN: list[Maker] = [
    *ARRAYS,
    *(lambda x=x: x for x in (True, 7, 2.5, 1 + 2j, "a b,c", "", b"ab", range(1, 9, 2), slice(1, 5))),
    *(lambda x=x: x for x in (np.float64(1.5), np.float32(2), np.int64(3), np.bool(True), np.complex128(1j))),
    *(lambda x=x: x for x in (np.str_("ab"), np.datetime64("2020-01-01"))),
]
CONTAINERS: dict[Container, list[Maker]] = {
    "list": [lambda: [grid(2), grid(2)], lambda: [3, 1, 2], list, lambda: [[2], [1]]],
    "dict": [lambda: {"a": grid(2), "abc": [1]}, lambda: {1: 2.0}, dict],
    "set": [lambda: {1, 2, 3}, lambda: {"a"}, set],
    "tuple": [lambda: (grid(2), 1), lambda: (1, 2), tuple],
}


OF_DISTRIBUTIONS: list[Callable[[], list[Any]]] = [
    lambda: [np.array(0.25)],
    lambda: [grid(2), 0.5],
    lambda: [np.array(0.25), 0.5, grid(1)],
    lambda: [grid(2), np.eye(2)],
    lambda: [np.array([3, 4]), 2],
    lambda: [np.zeros(0)],
]
ATTRIBUTES = [name for name in dir(np.ndarray) + dir(int) + dir(slice) if of_attribute(name) is not None]


def methods_of(makers: list[Maker], known: Callable[[str], object | None]) -> list[str]:
    names = {name for make in makers for name in dir(make())}
    return sorted(name for name in names if not name.startswith("_") and known(name) is not None)


def arguments_for(self: Any, method: Callable[..., Any], random: Random) -> tuple[list[Any], dict[str, Any]]:
    if isinstance(self, str | bytes | tuple | list | dict | set | range) and len(self) and random.random() < 0.3:
        return [random.choice(list(self))], {}
    if isinstance(self, np.random.Generator) and random.random() < 0.5:
        return random.choice(OF_DISTRIBUTIONS)(), {}
    try:
        return draw(inspect.signature(method).parameters, random)
    except ValueError:
        return draw({"anything": inspect.Parameter("anything", inspect.Parameter.VAR_POSITIONAL)}, random)


def tried(name: str, makers: list[Maker], known: Behaviour) -> int:
    """How many calls of the method of this name went through."""
    random = Random(name + SEED)
    having = [make for make in makers if hasattr(make(), name)]
    num_done = 0
    for _ in range(150 * TIMES):
        if num_done == 15 * TIMES:
            break
        self = random.choice(having)()
        method = getattr(self, name)
        positional, keywords = arguments_for(self, method, random)
        try:
            result = probe(method, known, positional, keywords, self)
            num_done += 1
            if "out" in known.writes and isinstance(result, np.ndarray) and "out" not in keywords:
                place = next((at for at in known.writes if isinstance(at, int)), None)
                if place is not None and len(positional) == place:
                    probe(method, known, [*positional, np.zeros_like(result)], keywords, self)
                probe(method, known, positional[:place], {**keywords, "out": np.zeros_like(result)}, self)
        except EMPTY_HANDED:
            continue
    return num_done


@pytest.mark.parametrize("name", methods_of(PLAIN, of_method))
def test_a_method_does_no_more_than_is_known_of_its_name(name: str) -> None:
    known = of_method(name)
    assert known is not None
    assert tried(name, PLAIN, known) > 0


@pytest.mark.parametrize("container", get_args(Container))
def test_a_method_of_a_container_does_no_more_than_is_known(container: Container) -> None:
    names = methods_of(CONTAINERS[container], lambda name: of_container_method(container, name))
    assert names
    for name in names:
        known = of_container_method(container, name)
        assert known is not None
        assert tried(name, CONTAINERS[container], known) > 0, name


@pytest.mark.parametrize("name", methods_of([lambda: np.random.default_rng(0)], of_generator_method))
def test_a_method_of_a_generator_does_no_more_than_is_known(name: str) -> None:
    known = of_generator_method(name)
    assert known is not None
    assert "self" in known.writes
    assert tried(name, [lambda: np.random.default_rng(1)], known) > 0


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_an_attribute_that_is_known_as_an_atom_is_one(name: str) -> None:
    for make in PLAIN:
        value = make()
        if hasattr(type(value), name) and not (name == "mT" and np.ndim(value) < 2):
            found = getattr(value, name)
            assert is_atom(found) or of_attribute(name) == "alias"


def test_what_writes_the_object_itself_is_known_to() -> None:
    for name in ("fill", "partition", "put", "setfield", "sort"):
        known = of_method(name)
        assert known is not None
        assert "self" in known.writes
    shuffle = of_generator_method("shuffle")
    assert shuffle is not None
    assert set(shuffle.writes) == {"self", 0, "x"}
