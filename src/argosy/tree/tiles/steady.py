"""Whether a function gives each element the same bits wherever the element lies in an array.

NumPy has several loops for one function (vectors, the tail after the last whole vector, strides, one element at a
time), and for exp, power, complex multiplication and others they may differ in the last bit. A tile may only be
computed apart from the whole where they agree. That depends on the processor and on NumPy's build, so it is tried
out, once per process, function and dtypes.
"""

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from enum import Flag, auto

import numpy as np
from numpy.typing import NDArray

_NUM_ELEMENTS = 203  # no multiple of any vector, and a few of the widest
_CUTS = (
    (*range(0, 203, 7), 203),
    (*range(0, 203, 31), 203),
    (0, 1, 2, 4, 7, 11, 40, 41, 57, 121, 185, 200, 203),
)
_STEPS = (1, 2, 3, -1, -2)
_FEW_STEPS = (1, 2, -1)
_SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan, 1e-310, 88.5, 709.5, -745.0, 1e30)

Array = NDArray[np.generic]


class Steadiness(Flag):
    """On what the bits of an element do not depend."""

    NONE = 0
    FORWARD = auto()
    """The length of the array, the place in it, and the strides, as long as none is negative."""
    BACKWARD = auto()
    """Whether strides are negative."""
    REPEATED = auto()
    """Whether one element stands for many, with stride 0, or is there as often."""


@functools.cache
def steadiness(function: Callable[..., Array], dtypes: tuple[np.dtype[np.generic], ...]) -> Steadiness:
    """Of a function of arrays of these dtypes. Integer and bool arguments with such a result have only one answer."""
    found = Steadiness.FORWARD | Steadiness.BACKWARD | Steadiness.REPEATED
    with np.errstate(all="ignore"):
        operands = [_sample(dtype, seed) for seed, dtype in enumerate(dtypes)]
        if all(dtype.kind in "biu" for dtype in (*dtypes, function(*operands).dtype)):
            return found
        steps = _STEPS if len(operands) < 3 else _FEW_STEPS
        for variant in itertools.product(*(_variants(operand, steps) for operand in operands)):
            arrays = [array for _, array in variant]
            answer = function(*arrays)
            if not _parts_agree(function, arrays, answer):
                return Steadiness.NONE
            in_line = function(*(array.copy() if step else array for step, array in variant))
            if answer.tobytes() != in_line.tobytes():
                found &= ~(Steadiness.BACKWARD if min(step for step, _ in variant) < 0 else Steadiness.FORWARD)
            elif in_line.tobytes() != function(*(array.copy() for array in arrays)).tobytes():
                found &= ~Steadiness.REPEATED
    return found if Steadiness.FORWARD in found else Steadiness.NONE


@functools.cache
def is_same(one: Callable[[Array], Array], other: Callable[[Array], Array], dtype: np.dtype[np.generic]) -> bool:
    """Whether two functions of an array of this dtype are one."""
    sample = _sample(dtype, 0)
    with np.errstate(all="ignore"):
        first, second = one(sample), other(sample)
    return first.dtype == second.dtype and first.tobytes() == second.tobytes()


def _parts_agree(function: Callable[..., Array], arrays: Sequence[Array], answer: Array) -> bool:
    """Computed in pieces of any length and at any offset, the answer is the same."""
    for cuts in _CUTS:
        pieces = [function(*(array[start:stop] for array in arrays)) for start, stop in itertools.pairwise(cuts)]
        if np.concatenate(pieces).tobytes() != answer.tobytes():
            return False
    return True


def _variants(array: Array, steps: Sequence[int]) -> Iterator[tuple[int, Array]]:
    """The same elements with other strides, then one of them repeated with stride 0: a finite one and another."""
    for step in steps:
        room = np.empty(len(array) * abs(step) + 1, array.dtype)[1:]
        view = room[:: abs(step)] if step > 0 else room[:: abs(step)][::-1]
        view[...] = array
        yield step, view
    for place in (np.argmax(np.isfinite(array)), np.argmin(np.isfinite(array))):
        yield 0, np.broadcast_to(array[place], array.shape)


def _sample(dtype: np.dtype[np.generic], seed: int) -> Array:
    """Numbers of all sizes, and those that are handled apart: infinities, zeros, not-a-number, near overflow."""
    rng = np.random.default_rng(seed)
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        sample = np.empty(_NUM_ELEMENTS, dtype)
        sample.real, sample.imag = _sample(part, seed), _sample(part, seed + 100)
        return sample
    if dtype.kind in "biu":
        return rng.integers(0, 100, _NUM_ELEMENTS).astype(dtype)
    numbers = rng.standard_normal(_NUM_ELEMENTS) * np.exp2(rng.integers(-12, 12, _NUM_ELEMENTS))
    places = rng.integers(0, _NUM_ELEMENTS, _NUM_ELEMENTS // 4)
    numbers[places] = rng.choice(_SPECIAL, len(places))
    return numbers.astype(dtype)
