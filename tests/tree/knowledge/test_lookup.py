"""What is known, what is not, and what a call with certain arguments does."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import numpy as np
import pytest

from argosy.tree.knowledge import (
    Behaviour,
    of_attribute,
    of_container_method,
    of_function,
    of_generator_method,
    of_method,
)


class OfTheUser:
    __hash__ = None  # type: ignore[assignment]

    def __call__(self) -> None: ...


def of_the_user() -> None: ...


@pytest.mark.parametrize(
    "function",
    [
        *(
            print,
            input,
            open,
            exec,
            eval,
            locals,
            globals,
            vars,
            dir,
            getattr,
            setattr,
            compile,
            super,
            memoryview,
            filter,
        ),
        *(np.save, np.load, np.seterr, np.geterr, np.set_printoptions, np.get_printoptions, np.nditer, np.vectorize),
        *(
            np.frompyfunc,
            np.fromfile,
            np.memmap,
            np.matrix,
            np.errstate,
            np.lib.stride_tricks.as_strided,
            np.array2string,
        ),
        *(
            time.time,
            time.sleep,
            sys.exit,
            OfTheUser,
            OfTheUser(),
            of_the_user,
            lambda: 0,
            [],
            {},
            None,
            3,
            np.zeros(2),
        ),
        *([].append, np.zeros(2).sort, np.object_, np.void, np.random.default_rng(0).normal, np.add.resolve_dtypes),
    ],
    ids=lambda value: re.sub(" at 0[xX][0-9a-fA-F]+", "", repr(value)),  # the same in every process
)
def test_what_may_do_anything_is_not_known(function: object) -> None:
    assert of_function(function) is None


def test_names_that_nobody_has_are_not_known() -> None:
    assert of_method("resize") is None
    assert of_method("tofile") is None
    assert of_method("setflags") is None
    assert of_method("append") is None
    assert of_attribute("flat") is None
    assert of_attribute("base") is None
    assert of_container_method("tuple", "append") is None
    assert of_container_method("dict", "append") is None
    assert of_generator_method("bit_generator") is None


def test_less_is_known_to_happen_when_nobody_asks_for_more() -> None:
    known = of_function(np.nan_to_num)
    assert known is not None
    assert known.when(1, ()) == Behaviour(result="fresh", takes="arrays")
    assert known.when(2, ()) is known
    assert known.when(1, ("copy",)) is known
    assert known.when(1, ("nan",)).writes == ()


def test_overwriting_the_input_is_an_option_beside_out() -> None:
    known = of_function(np.median)
    assert known is not None
    assert set(known.when(1, ("overwrite_input",)).writes) == {0, "a", 2, "out"}
    assert set(known.when(1, ("axis",)).writes) == {2, "out"}


def test_a_function_in_the_place_of_numpys_is_not_known() -> None:
    code = """
import functools, numpy
mine = numpy.sum = functools.wraps(numpy.sum)(lambda *a, **k: print("mine"))
from argosy.tree.knowledge import of_function
assert of_function(mine) is None
assert of_function(numpy.mean) is not None
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=50)
