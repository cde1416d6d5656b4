"""How the mini-apps' inner loops become machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]
"""One object of a store, or a small array beside them."""

_Result = TypeVar("_Result")


def compiled(function: Callable[..., _Result]) -> Callable[..., _Result]:
    """Compiled when first called, and kept on disk. One thread and one order of additions: the same bits every time."""
    return cast("Callable[..., _Result]", njit(cache=True, nogil=True, error_model="numpy")(function))
