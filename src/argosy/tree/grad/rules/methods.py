"""The methods of an ndarray, as functions of it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from argosy.tree.grad.record import apply, by
from argosy.tree.grad.rules import shapes
from argosy.tree.grad.tables import METHODS
from argosy.tree.grad.traced import is_array

_SAME = (
    "sum", "mean", "max", "min", "prod", "cumsum", "cumprod", "var", "std", "dot", "trace", "diagonal", "ravel",
    "squeeze", "swapaxes", "repeat", "take", "clip", "argmax", "argmin", "argsort", "argpartition", "searchsorted",
    "nonzero", "any", "all", "round", "copy",
)  # fmt: skip
METHODS.update({name: getattr(np, name) for name in _SAME})


def _method(call: Any) -> Any:
    METHODS[call.__name__] = call
    return call


@_method
def reshape(x: Any, *shape: Any, order: str = "C") -> Any:
    return shapes.reshape(x, shape[0] if len(shape) == 1 else shape, order)


@_method
def transpose(x: Any, *axes: Any) -> Any:
    return shapes.transpose(x, (axes[0] if len(axes) == 1 else axes) or None)


@_method
def flatten(x: Any, order: str = "C") -> Any:
    return np.copy(shapes.ravel(x, order))


@_method
def astype(x: Any, dtype: Any, **options: Any) -> Any:
    if not options.get("copy", True) and x.dtype == np.dtype(dtype):
        return x
    kind = np.dtype(dtype).kind
    return apply(
        lambda v: v.astype(dtype, **options) if hasattr(v, "astype") else np.dtype(dtype).type(v),
        (by(lambda g: g),) if kind in "fc" else None,
        (x,),
    )


@_method
def item(x: Any, *index: Any) -> Any:
    if not index:
        if x.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        if is_array(x):
            x = shapes.ravel(x)[0]
    else:
        x = x[index[0] if len(index) == 1 and isinstance(index[0], tuple) else index]
    return apply(lambda v: v.item() if hasattr(v, "item") else v, (by(lambda g: g),), (x,))


@_method
def tolist(x: Any) -> Any:
    return [each.tolist() if hasattr(each, "tolist") else each for each in x] if x.shape else item(x)


@_method
def fill(x: Any, value: Any) -> None:
    x[...] = value


@_method
def sort(x: Any, axis: int = -1, kind: Any = None) -> None:
    x[...] = np.sort(x, axis=axis, kind=kind)


@_method
def conj(x: Any) -> Any:
    return operator.pos(x)
