"""Every known function is called with many arguments, and does no more than what is known of it."""

from __future__ import annotations

import builtins
import cmath
import inspect
import math
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from tree.knowledge.arguments import RECIPES, SEED, TIMES, draw, draw_numbers
from tree.knowledge.probe import EMPTY_HANDED, fits, probe

from argosy.tree.knowledge import of_function

MODULES = (builtins, math, cmath, np, np.linalg, np.fft, np.random, np.lib.stride_tricks, np.strings)
NUM_DONE = 8 * TIMES


def known_functions() -> dict[str, Callable[..., Any]]:
    found: dict[int, tuple[str, Callable[..., Any]]] = {}
    for module in MODULES:
        for name, value in sorted(vars(module).items()):
            if not name.startswith("_") and of_function(value) is not None:
                found.setdefault(id(value), (f"{module.__name__}.{name}", value))
    return dict(found.values())


KNOWN = known_functions()
UFUNCS = {name: function for name, function in KNOWN.items() if isinstance(function, np.ufunc)}
OTHERS = {name: function for name, function in KNOWN.items() if name not in UFUNCS}


def parameters_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(function).parameters)
    except ValueError:
        rest = inspect.Parameter("anything", inspect.Parameter.VAR_POSITIONAL)
        return {"anything": rest}


def calls_of(name: str, function: Callable[..., Any]) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for recipe in RECIPES.get(name, ()):
        positional, keywords = recipe()
        yield list(positional), keywords
    random = Random(name + SEED)
    parameters = parameters_of(function)
    of_numbers = name.startswith(("math.", "cmath."))
    for _ in range(10 * NUM_DONE):
        yield draw_numbers(random) if of_numbers and random.random() < 0.7 else draw(parameters, random)


def try_calls(name: str, function: Callable[..., Any]) -> int:
    """How many calls went through."""
    known = of_function(function)
    assert known is not None
    num_done = 0
    for positional, keywords in calls_of(name, function):
        if not fits(known, {**dict(enumerate(positional)), **keywords}):
            continue
        try:
            result = probe(function, known, positional, keywords)
            num_done += 1
            if "out" in known.writes and isinstance(result, np.ndarray) and "out" not in keywords:
                probe(function, known, positional, {**keywords, "out": np.zeros_like(result)})
        except EMPTY_HANDED:
            continue
        if num_done == NUM_DONE:
            break
    return num_done


@pytest.mark.parametrize("name", OTHERS)
def test_a_function_does_no_more_than_is_known_of_it(name: str) -> None:
    assert try_calls(name, OTHERS[name]) > 0


def test_all_ufuncs_and_hundreds_of_other_functions_are_tried() -> None:
    assert {id(u) for u in vars(np).values() if isinstance(u, np.ufunc)} <= {id(u) for u in UFUNCS.values()}
    assert len(OTHERS) >= 500
    assert len([name for name in OTHERS if name.startswith("numpy.")]) >= 320
