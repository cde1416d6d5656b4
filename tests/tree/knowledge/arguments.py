"""Small arguments of many kinds, made anew for each call.

Arrays are looked for by the names of parameters, so that a fair share of the calls that are tried go through.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import numpy as np

Maker = Callable[[], Any]

TIMES = int(os.environ.get("ARGOSY_LAWS", "1"))
SEED = os.environ.get("ARGOSY_SEED") or (os.urandom(4).hex() if "ARGOSY_LAWS" in os.environ else "")
"""The same arguments in every run, unless somebody looks for trouble."""


class Recorder:
    """A function that counts how often it is called and returns its first argument, or a number."""

    def __init__(self) -> None:
        self.num_calls = 0

    def __call__(self, *arguments: Any, **_: Any) -> Any:
        self.num_calls += 1
        return arguments[0] if arguments else 1.0


def grid(*shape: int) -> np.ndarray:
    return np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)


MATRICES: list[Maker] = [
    lambda: grid(3, 3) + 5 * np.eye(3),
    lambda: np.asfortranarray(grid(3, 3) + 4 * np.eye(3)),
    lambda: grid(2, 3),
    lambda: grid(6, 8)[::2, 1:4],
    lambda: grid(3, 3)[::-1].T,
    lambda: np.arange(9).reshape(3, 3) % 4,
    lambda: grid(3, 3) * (1 + 2j),
    lambda: grid(1, 1),
    lambda: grid(1, 3),
    lambda: np.zeros((0, 3)),
    lambda: grid(3, 3) > 4,
    lambda: (grid(3, 3) + np.eye(3)).astype(np.float32),
]
LINES: list[Maker] = [
    lambda: grid(4),
    lambda: grid(3)[::-1],
    lambda: grid(8)[1::2],
    lambda: np.array([0.0, 0.0, 1.5, np.nan, 0.0]),
    lambda: np.array([np.inf, -1.5, -0.0]),
    lambda: grid(3) + 1j,
    lambda: np.array([0.25, 0.5, 1.0]),
    lambda: grid(3).astype(">f8"),
    lambda: np.array(["b", "a", "xyz"]),
    lambda: np.array(["2020-01-01", "2021-05-05"], dtype="datetime64[D]"),
    lambda: grid(1),
    lambda: np.zeros(0),
    lambda: grid(3).astype(np.float32),
]
INTEGERS: list[Maker] = [
    lambda: np.array([2, 0, 1, 1]),
    lambda: np.array([0, 1, 2]),
    lambda: np.array([1, 0], dtype=np.uint8),
    lambda: np.array([[0, 1], [1, 0]]),
    lambda: np.array([], dtype=np.intp),
    lambda: np.array(1),
]
MASKS: list[Maker] = [
    lambda: np.array([True, False, True]),
    lambda: np.array([True, True, True, False]),
    lambda: grid(3, 3) > 4,
    lambda: np.array(True),
    lambda: True,
]
OTHER_ARRAYS: list[Maker] = [
    lambda: np.array(2.5),
    lambda: np.array(3),
    lambda: grid(2, 2, 2),
    lambda: grid(2, 3, 2).transpose(2, 0, 1),
    lambda: np.zeros((2, 0, 1)),
]
ARRAYS = MATRICES + LINES + INTEGERS + MASKS[:3] + OTHER_ARRAYS
NUMBERS: list[Maker] = [lambda n=n: n for n in (0, 1, 2, 3, -1, 0.5, 2.5, 1j, True, np.float64(1.5), np.int64(2))]
COUNTS: list[Maker] = [*(lambda n=n: n for n in (0, 1, 2, 3, 5)), lambda: np.array(1), lambda: np.array(-1)]
AXES: list[Maker] = [
    *(lambda axis=axis: axis for axis in (0, 1, -1, None, (), (0,), (0, 1), (1, 0))),
    *(lambda: np.array(0), lambda: np.array(-1), lambda: np.array([0, 1])),
]
SHAPES: list[Maker] = [lambda shape=shape: shape for shape in ((), 2, (3,), (2, 2), (3, 3), (4,), (-1,), (0,), (1, 3))]
DTYPES: list[Maker] = [
    lambda dtype=dtype: dtype for dtype in (None, float, "f4", int, complex, bool, np.float64, ">f8")
]
STRINGS: list[Maker] = [lambda text=text: text for text in ("abc", "", "C", "F", "b", "linear", "f8", "wrap", "{0}")]
SEQUENCES: list[Maker] = [
    lambda: [grid(3), grid(3)],
    lambda: (grid(3, 3), grid(3, 3)),
    lambda: [grid(2)],
    lambda: [1.0, 2.0, 3.0],
    lambda: [[1.0, 2.0], [3.0, 4.0]],
    lambda: [np.array([0, 1]), np.array([1, 0])],
    lambda: [np.array([True, False, True]), np.array([False, False, True])],
    lambda: ((1, 2), (0, 1)),
    lambda: [2, 0, 1],
    lambda: [("a", grid(2)), ("b", [1])],
    lambda: ["a", "b"],
    list,
]
OTHERS: list[Maker] = [
    lambda: {"a": grid(2), "b": 1},
    lambda: {1, 2},
    lambda: iter([1.0, 2.0]),
    lambda: iter([grid(2), grid(2)]),
    lambda: None,
    lambda: slice(1, 3),
    lambda: range(3),
    lambda: b"ab",
    Recorder,
]
ANYTHING = [*ARRAYS, *NUMBERS, *SHAPES, *STRINGS, *SEQUENCES * 2, *OTHERS]
FUNCTIONS: list[Maker] = [Recorder, lambda: None]
FLAGS: list[Maker] = [lambda flag=flag: flag for flag in (True, False)]


def words(*values: object) -> list[Maker]:
    return [lambda value=value: value for value in values]


BY_NAME: dict[str, list[Maker]] = {
    **dict.fromkeys(("a", "arr", "ar1", "ary", "m", "x", "array", "A", "p", "v"), ARRAYS),
    **dict.fromkeys(("b", "x1", "x2", "y", "B", "ar2", "p1", "p2", "v2", "values", "vals"), ARRAYS + NUMBERS),
    **dict.fromkeys(("axis", "axes", "axisa", "axisb", "axisc"), AXES),
    **dict.fromkeys(
        ("axis1", "axis2", "source", "destination", "start", "k", "offset", "N", "M"), COUNTS + AXES[:3] + AXES[-3:]
    ),
    **dict.fromkeys(("shape", "newshape", "new_shape", "dimensions", "dims", "size", "s", "window_shape"), SHAPES),
    **dict.fromkeys(("n", "num", "repeats", "shift", "kth", "ddof", "ndmin", "m", "deg", "decimals"), COUNTS),
    **dict.fromkeys(("ind", "indices", "obj", "multi_index", "sections", "indices_or_sections"), INTEGERS + COUNTS),
    **dict.fromkeys(("condition", "mask", "where", "condlist"), MASKS + INTEGERS + SEQUENCES),
    **dict.fromkeys(("arrays", "tup", "choices", "choicelist", "keys", "seq", "sample", "tuple"), SEQUENCES + MATRICES),
    **dict.fromkeys(("dtype", "arg1", "arg2", "from_", "to", "dtype1"), DTYPES),
    "q": words(50, 0.5, 1) + LINES,
    "order": words("C", "F", "A", "K", None),
    "kind": words("quicksort", "stable", None),
    **dict.fromkeys(
        ("mode",), words("wrap", "clip", "raise", "full", "same", "constant", "edge", "reflect", "reduced")
    ),
    "method": words("linear", "lower", "nearest", "median_unbiased"),
    "ord": words(None, 1, 2, np.inf, "fro", 0),
    "norm": words(None, "ortho"),
    "copy": words(True, False, None),
    "bins": [*LINES, *COUNTS, lambda: [grid(3), grid(4)], lambda: "auto"],
    **dict.fromkeys(("weights", "aweights", "fweights", "w", "mean", "initial", "minlength"), ARRAYS + COUNTS),
    "requirements": words(None, "C", "F", ["W"]),
    **dict.fromkeys(("key", "func", "func1d", "mask_func", "function"), FUNCTIONS),
    "funclist": [lambda: [Recorder(), Recorder()], lambda: [1.0, 2.0]],
    "pad_width": words(0, 1, (1, 0), ((0, 1), (1, 0))),
    "operands": ARRAYS,
}


def _state() -> Any:
    return np.random.RandomState(5).get_state()


Call = tuple[tuple[Any, ...], dict[str, Any]]

# Calls that are not found by chance.
RECIPES: dict[str, list[Callable[[], Call]]] = {
    "builtins.isinstance": [lambda: ((grid(2), np.ndarray), {}), lambda: ((1.0, (int, float)), {})],
    "builtins.issubclass": [lambda: ((bool, int), {})],
    "builtins.next": [lambda: ((iter([grid(2)]),), {}), lambda: ((iter([]), grid(2)), {})],
    "builtins.ord": [lambda: (("a",), {})],
    "builtins.range": [lambda: ((1, np.int64(5), 2), {})],
    "builtins.sum": [lambda: (([], grid(2)), {}), lambda: (([grid(2)],), {})],
    "math.atanh": [lambda: ((np.array(0.5),), {})],
    "math.dist": [lambda: ((grid(2), iter([1.0, 2.0])), {})],
    "numpy.choose": [lambda: ((np.array([1, 0]), [grid(2), grid(2)]), {})],
    "numpy.copyto": [lambda: ((grid(2, 3), grid(3)), {}), lambda: ((grid(3), 1.0), {"where": grid(3) > 1})],
    "numpy.dsplit": [lambda: ((grid(2, 2, 2), 2), {})],
    "numpy.einsum": [
        lambda: (("ii->i", grid(3, 3)), {}),
        lambda: (("ij->ji", grid(2, 3)), {}),
        lambda: (("ij,jk", grid(2, 3), grid(3, 2)), {"optimize": True}),
        lambda: ((grid(3, 3), [0, 0], [0]), {}),
        lambda: (("ij->i", grid(2, 3)), {"out": np.zeros(2)}),
    ],
    "numpy.fliplr": [lambda: ((grid(2, 3),), {})],
    "numpy.histogram2d": [lambda: ((grid(3), grid(3)), {}), lambda: ((grid(3), grid(3), [grid(3), grid(4)]), {})],
    "numpy.indices": [lambda: (((2, 3),), {}), lambda: (((2, 3),), {"sparse": True})],
    "numpy.interp": [lambda: ((grid(3), grid(4), grid(4)), {}), lambda: ((grid(3), grid(4), grid(4)), {"period": 2.0})],
    "numpy.isdtype": [lambda: ((np.dtype(float), "integral"), {})],
    "numpy.linalg.lstsq": [lambda: ((grid(3, 2), grid(3)), {}), lambda: ((grid(3, 2), grid(3, 2)), {"rcond": 0.1})],
    "numpy.linalg.matrix_power": [lambda n=n: ((grid(2, 2), n), {}) for n in (0, 1, 2, 3, 4, -1)],
    "numpy.linalg.multi_dot": [lambda: (([grid(2, 2)] * 3,), {"out": np.zeros((2, 2))})],
    "numpy.moveaxis": [lambda: ((grid(2, 3), 0, 1), {})],
    "numpy.promote_types": [lambda: (("f4", "i8"), {})],
    "numpy.put_along_axis": [lambda: ((grid(2, 2), np.array([[0], [1]]), 9.0, 1), {})],
    "numpy.ravel_multi_index": [lambda: (((np.array([0, 1]), np.array([1, 0])), (2, 2)), {})],
    "numpy.rollaxis": [lambda: ((grid(2, 3), 0, np.array(-1)), {})],
    "numpy.rot90": [lambda k=k: ((grid(2, 2), np.array(k)), {}) for k in range(5)],
    "numpy.select": [lambda: (([grid(3) > 1, grid(3) > 2], [grid(3), grid(3)]), {"default": grid(3)})],
    "numpy.take_along_axis": [lambda: ((grid(2, 2), np.array([[0], [1]]), 1), {})],
    "numpy.tensordot": [lambda n=n: ((grid(2, 2), grid(2, 2), n), {}) for n in (0, 1, 2)],
    "numpy.unpackbits": [lambda: ((np.array([3, 4], dtype=np.uint8),), {})],
    "numpy.random.Generator": [lambda: ((np.random.PCG64(3),), {})],
    "numpy.random.default_rng": [lambda: ((np.random.default_rng(3),), {})],
    "numpy.random.hypergeometric": [lambda: ((np.array([3, 4]), 2, 3), {})],
    "numpy.random.multivariate_normal": [lambda: ((grid(2), np.eye(2)), {"size": 2})],
    "numpy.random.permutation": [lambda: ((np.zeros(0),), {}), lambda: ((grid(2, 2),), {})],
    "numpy.random.set_state": [lambda: ((_state(),), {})],
    "numpy.random.triangular": [lambda: ((np.zeros(2), grid(2), 3.0), {})],
}


def value_for(name: str, parameter: inspect.Parameter | None, random: Random) -> Any:
    if name == "out":
        return None  # one that does not fit crashes some versions of NumPy; one that fits is tried elsewhere
    if name in BY_NAME and random.random() < 0.85:
        return random.choice(BY_NAME[name])()
    if parameter is not None and isinstance(parameter.default, bool) and random.random() < 0.85:
        return random.choice(FLAGS)()
    return random.choice(ANYTHING)()


def draw_numbers(random: Random) -> tuple[list[Any], dict[str, Any]]:
    """Arguments for a function of numbers."""
    return [random.choice(NUMBERS + OTHER_ARRAYS[:2])() for _ in range(random.randint(1, 3))], {}


def draw(parameters: Mapping[str, inspect.Parameter], random: Random) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments for a function with these parameters."""
    in_order = [p for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = [p for p in parameters.values() if p.kind is p.VAR_POSITIONAL]
    needed = sum(p.default is p.empty for p in in_order)
    num_positional = random.choice((needed, needed, random.randint(0, len(in_order))))
    positional = [value_for(p.name, p, random) for p in in_order[:num_positional]]
    if rest and num_positional == len(in_order):
        positional += [value_for(rest[0].name, None, random) for _ in range(random.randint(0, 3))]
    by_name = [
        p
        for p in [*in_order[num_positional:], *parameters.values()]
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
        and p not in in_order[:num_positional]
        and p.name != "like"
    ]
    chosen = random.sample(by_name, min(len(by_name), random.choice((0, 0, 0, 1, 1, 2, 3))))
    return positional, {p.name: value_for(p.name, p, random) for p in chosen}
