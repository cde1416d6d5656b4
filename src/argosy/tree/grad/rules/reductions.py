"""Functions that make one number of many, along axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from argosy.tree.grad.record import OUT, apply, by
from argosy.tree.grad.tables import rule
from argosy.tree.grad.traced import rank_of, shape_of

Axis = int | tuple[int, ...] | None


def _axes(ndim: int, axis: Axis) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    return tuple(i % ndim for i in (axis if isinstance(axis, tuple) else (axis,))) if ndim else ()


def _spread(g: Any, shape: tuple[int, ...], axis: Axis) -> Any:
    """The reduced axes again, with length 1: they broadcast."""
    if axis is None and shape_of(g) == ():
        return g
    axes = _axes(len(shape), axis)
    return np.reshape(g, tuple(1 if i in axes else n for i, n in enumerate(shape)))


def _count(shape: tuple[int, ...], axis: Axis) -> int:
    return int(np.prod([shape[i] for i in _axes(len(shape), axis)], dtype=np.int64))


@rule(np.sum)
def total(a: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    shape = shape_of(a)
    return apply(
        lambda v: np.sum(v, axis=axis, dtype=dtype, keepdims=keepdims),
        (by(lambda g: _spread(g, shape, axis)),),
        (a,),
    )


@rule(np.mean)
def mean(a: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    shape = shape_of(a)
    count = _count(shape, axis)
    return apply(
        lambda v: np.mean(v, axis=axis, dtype=dtype, keepdims=keepdims),
        (by(lambda g: _spread(g, shape, axis) / count),),
        (a,),
    )


@rule(np.average)
def average(a: Any, axis: Axis = None, weights: Any = None) -> Any:
    if weights is None:
        return np.mean(a, axis=axis)
    if rank_of(weights) != rank_of(a) and axis is not None:
        (along,) = _axes(rank_of(a), axis)
        weights = np.reshape(weights, tuple(-1 if i == along else 1 for i in range(rank_of(a))))
    whole = weights + np.zeros(shape_of(a))
    return np.sum(a * weights, axis=axis) / np.sum(whole, axis=axis)


def _extreme(function: Any) -> Any:
    def reduce(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
        shape = shape_of(a)

        def pull(g: Any, out: Any, a: Any) -> Any:
            hit = a == _spread(out, shape, axis)
            return _spread(g, shape, axis) * hit / np.sum(hit, axis=axis, keepdims=True)

        return apply(lambda v: function(v, axis=axis, keepdims=keepdims), (by(pull, OUT, 0),), (a,))

    return reduce


rule(np.max, np.amax)(_extreme(np.max))
rule(np.min, np.amin)(_extreme(np.min))


@rule(np.ptp)
def ptp(a: Any, axis: Axis = None) -> Any:
    return np.max(a, axis=axis) - np.min(a, axis=axis)


@rule(np.prod)
def prod(a: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    shape = shape_of(a)
    axes = _axes(len(shape), axis)

    def pull(g: Any, a: Any) -> Any:
        """Each element's gradient is the product of all others: those before it times those after it."""
        kept = [i for i in range(len(shape)) if i not in axes]
        order = (*kept, *axes)
        moved = np.transpose(a, order)
        flat = np.reshape(moved, (*(shape[i] for i in kept), -1))
        ones = np.ones((*flat.shape[:-1], 1), flat.dtype)
        before = np.cumprod(np.concatenate([ones, flat[..., :-1]], axis=-1), axis=-1)
        after = np.cumprod(np.concatenate([ones, flat[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
        others = np.transpose(np.reshape(before * after, moved.shape), np.argsort(order))
        return _spread(g, shape, axis) * others

    return apply(lambda v: np.prod(v, axis=axis, dtype=dtype, keepdims=keepdims), (by(pull, 0),), (a,))


@rule(np.cumsum)
def cumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Any:
    if axis is None:
        a, axis = np.ravel(a), 0
    along = axis
    return apply(
        lambda v: np.cumsum(v, axis=along, dtype=dtype),
        (by(lambda g: np.flip(np.cumsum(np.flip(g, along), axis=along), along)),),
        (a,),
    )


@rule(np.cumprod)
def cumprod(a: Any, axis: int | None = None) -> Any:
    """As a stack of products, so that zeros are right; costs one product per element of the axis."""
    if axis is None:
        a, axis = np.ravel(a), 0
    a = np.moveaxis(a, axis, 0)
    parts = [a[0]]
    for i in range(1, len(a)):
        parts.append(parts[-1] * a[i])
    return np.moveaxis(np.stack(parts), 0, axis)


@rule(np.var)
def var(a: Any, axis: Axis = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    shape = shape_of(a)
    count = _count(shape, axis) - ddof

    def pull(g: Any, a: Any) -> Any:
        return _spread(g, shape, axis) * (2 / count) * (a - np.mean(a, axis=axis, keepdims=True))

    return apply(
        lambda v: np.var(v, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims),
        (by(pull, 0),),
        (a,),
    )


@rule(np.std)
def std(a: Any, axis: Axis = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    shape = shape_of(a)
    count = _count(shape, axis) - ddof

    def pull(g: Any, out: Any, a: Any) -> Any:
        wide = _spread(out, shape, axis)
        slope = np.where(wide == 0, 0.0, _spread(g, shape, axis) / np.where(wide == 0, 1.0, wide))
        return slope * (a - np.mean(a, axis=axis, keepdims=True)) / count

    return apply(
        lambda v: np.std(v, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims),
        (by(pull, OUT, 0),),
        (a,),
    )


@rule(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002
    matrix = (axis is None and rank_of(x) == 2) or (isinstance(axis, tuple) and len(axis) == 2)
    if ord is None or (ord == 2 and not matrix) or (ord == "fro" and matrix):
        return _euclid(x, ord, axis, keepdims)
    if matrix:
        if axis is None and ord in (2, -2, "nuc"):
            s = np.linalg.svd(x, compute_uv=False)
            value = np.sum(s) if ord == "nuc" else np.max(s) if ord == 2 else np.min(s)
            return np.reshape(value, (1, 1)) if keepdims else value
        rows, columns = axis if axis is not None else (0, 1)
        inner = np.sum(np.abs(x), axis=rows if abs(ord) == 1 else columns, keepdims=True)
        outer = columns if abs(ord) == 1 else rows
        reduce = np.max if ord > 0 else np.min
        value = reduce(inner, axis=outer, keepdims=True)
        return value if keepdims else np.squeeze(value, axis=(rows, columns))
    size = np.abs(x)
    if ord == np.inf:
        return np.max(size, axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return np.min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.linalg.norm(np.where(size != 0, 1.0, 0.0), 0, axis, keepdims)
    powered = np.sum(size**ord, axis=axis, keepdims=keepdims)
    return powered ** (1 / ord) if ord != 1 else powered


def _euclid(x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:  # noqa: A002
    shape = shape_of(x)

    def pull(g: Any, out: Any, x: Any) -> Any:
        wide = _spread(out, shape, axis)
        zero = wide == 0
        return np.where(zero, 0.0, _spread(g, shape, axis) / np.where(zero, 1.0, wide)) * x

    return apply(lambda v: np.linalg.norm(v, ord, axis, keepdims), (by(pull, OUT, 0),), (x,))
