"""All ufuncs and their methods, called with arrays of all their types, do no more than what is known of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tree.knowledge.probe import EMPTY_HANDED, probe

from argosy.tree.knowledge import of_function

UFUNCS = {u.__name__: u for module in (np, np.strings) for u in vars(module).values() if isinstance(u, np.ufunc)}
SHAPES = ((3,), (2, 3), (), (0,), (1,))


def array_of(code: str, shape: tuple[int, ...]) -> np.ndarray:
    """An array of this type, every second element of a longer one."""
    numbers = np.arange(1, 1 + 2 * int(np.prod(shape))) % 7
    dtype = {"U": "U2", "m": "m8[D]", "M": "M8[D]"}.get(code, code)
    return numbers.astype(dtype)[::2].reshape(shape)


def types_of(ufunc: np.ufunc) -> list[str]:
    types = [signature.split("->")[0] for signature in ufunc.types if "O" not in signature]
    return [*types, "U" * ufunc.nin, "S" * ufunc.nin]


def arguments_of(ufunc: np.ufunc) -> Iterator[list[Any]]:
    for types in types_of(ufunc):
        if set(types) & set("d?lU"):
            for shape in SHAPES:
                yield [array_of(code, shape) for code in types]
            yield [array_of(code, shape) for code, shape in zip(types, ((3, 3), (3,)), strict=False)]
        yield [array_of(code, (3, 3))[:, ::-1].T for code in types]


def tried(ufunc: Any, method: str | None, positional: list[Any], keywords: dict[str, Any]) -> Any:
    """The result, or None when there is none."""
    function = getattr(ufunc, method) if method else ufunc
    known = of_function(function)
    assert known is not None
    try:
        return probe(function, known, positional, keywords)
    except EMPTY_HANDED:
        return None


@pytest.mark.parametrize("name", UFUNCS)
def test_a_ufunc_changes_nothing_but_out_and_its_result_is_new(name: str) -> None:
    ufunc = UFUNCS[name]
    num_done = 0
    for positional in arguments_of(ufunc):
        result = tried(ufunc, None, positional, {})
        if result is None:
            continue
        num_done += 1
        results = result if isinstance(result, tuple) else (result,)
        if all(isinstance(one, np.ndarray) for one in results):
            outs = [np.zeros_like(one) for one in results]
            assert tried(ufunc, None, positional, {"out": tuple(outs)}) is not None
            assert tried(ufunc, None, [*positional, *outs], {}) is not None
        if ufunc.signature is None and positional[0].shape == (2, 3):
            tried(ufunc, None, positional, {"where": np.array(True), "order": "F"})
            tried(ufunc, None, positional, {"dtype": float})
    assert num_done > 0


@pytest.mark.parametrize("name", [name for name, ufunc in UFUNCS.items() if ufunc.nin == 2 and ufunc.nout == 1])
def test_the_methods_of_a_ufunc_change_nothing_but_out_and_their_results_are_new(name: str) -> None:
    ufunc = UFUNCS[name]
    for code in "?ld":
        for shape in SHAPES:
            a = array_of(code, shape)
            for keywords in ({}, {"axis": -1}, {"axis": ()}, {"keepdims": True}, {"axis": 0, "initial": 1}):
                tried(ufunc, "reduce", [a], keywords)
            for method, more in (("reduce", []), ("accumulate", []), ("reduceat", [[0, 1]]), ("outer", [a.copy()])):
                result = tried(ufunc, method, [a, *more], {})
                if isinstance(result, np.ndarray):
                    assert tried(ufunc, method, [a, *more], {"out": np.zeros_like(result)}) is not None
                    if method != "outer":
                        out = np.zeros_like(result)
                        assert tried(ufunc, method, [a, *more, 0, None, out], {}) is not None
            tried(ufunc, "at", [a.copy(), [0, 0], array_of(code, (2,))], {})


def test_add_at_is_known_to_write_its_first_argument() -> None:
    known = of_function(np.add.at)
    assert known is not None
    assert 0 in known.writes


def test_a_ufunc_of_the_user_is_not_known() -> None:
    mine = np.frompyfunc(lambda x: x, 1, 1)
    assert of_function(mine) is None
    assert of_function(mine.outer) is None
