"""Functions that move elements about: views of one array, and arrays made of several."""

from __future__ import annotations

from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np

from argosy.tree.grad.nodes import Gradients, Node
from argosy.tree.grad.record import apply, by, fresh, view
from argosy.tree.grad.tables import rule
from argosy.tree.grad.tape import refusal
from argosy.tree.grad.traced import Step, Traced, holds_node, innermost, is_array, rank_of, shape_of


def _reshaped(x: Any, call: Any) -> Any:
    def back(g: Any, gradients: Gradients, node: Node) -> None:
        gradients.add(node, np.reshape(g, node.shape))

    return view(x, Step(call, back)) if isinstance(x, Traced) else call(x)


@rule(np.reshape, always=True)
def reshape(a: Any, shape: Any, order: str = "C") -> Any:
    if order == "C":
        return _reshaped(a, lambda v: np.reshape(v, shape))
    if order != "F":
        raise refusal(f"np.reshape with order={order!r}", "use order='C' or 'F'")
    lengths = shape if isinstance(shape, tuple | list) else (shape,)
    return np.transpose(np.reshape(np.transpose(a), tuple(lengths)[::-1]))


@rule(np.ravel, always=True)
def ravel(a: Any, order: str = "C") -> Any:
    return reshape(a, -1, order)


@rule(np.squeeze, always=True)
def squeeze(a: Any, axis: Any = None) -> Any:
    return _reshaped(a, lambda v: np.squeeze(v, axis))


@rule(np.expand_dims, always=True)
def expand_dims(a: Any, axis: Any) -> Any:
    return _reshaped(a, lambda v: np.expand_dims(v, axis))


@rule(np.atleast_1d, always=True)
def atleast_1d(a: Any) -> Any:
    return a if rank_of(a) else np.reshape(a, (1,))


@rule(np.atleast_2d, always=True)
def atleast_2d(a: Any) -> Any:
    return a if rank_of(a) > 1 else np.reshape(a, (1, -1))


@rule(np.transpose, always=True)
def transpose(a: Any, axes: Any = None) -> Any:
    inverse = None if axes is None else np.argsort([i % len(axes) for i in axes])

    def back(g: Any, gradients: Gradients, node: Node) -> None:
        gradients.add(node, np.transpose(g, inverse))

    return view(a, Step(lambda v: np.transpose(v, axes), back))


@rule(np.swapaxes, always=True)
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    order = list(range(rank_of(a)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return transpose(a, order)


@rule(np.moveaxis, always=True)
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    lengths = np.empty(tuple(range(1, rank_of(a) + 1)), np.dtype("V0"))
    return transpose(a, [n - 1 for n in np.moveaxis(lengths, source, destination).shape])


@rule(np.flip, always=True)
def flip(m: Any, axis: Any = None) -> Any:
    axes = range(rank_of(m)) if axis is None else [i % rank_of(m) for i in ([axis] if isinstance(axis, int) else axis)]
    return m[tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(rank_of(m)))]


@rule(np.flipud, always=True)
def flipud(m: Any) -> Any:
    return flip(m, 0)


@rule(np.fliplr, always=True)
def fliplr(m: Any) -> Any:
    return flip(m, 1)


@rule(np.rot90, always=True)
def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    for _ in range(k % 4):
        m = swapaxes(flip(m, axes[1]), *axes)
    return m


@rule(np.matrix_transpose, np.linalg.matrix_transpose, always=True)
def matrix_transpose(x: Any, /) -> Any:
    return swapaxes(x, -1, -2)


@rule(np.broadcast_to, always=True)
def broadcast_to(array: Any, shape: Any) -> Any:
    def back(g: Any, gradients: Gradients, node: Node) -> None:
        gradients.add(node, g)

    return view(array, Step(lambda v: np.broadcast_to(v, shape), back))


@rule(np.broadcast_arrays, always=True)
def broadcast_arrays(*args: Any) -> Any:
    shape = np.broadcast_shapes(*(shape_of(a) for a in args))
    return tuple(np.broadcast_to(a, shape) for a in args)


@rule(np.diagonal, always=True)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    a = np.moveaxis(a, (axis1, axis2), (-2, -1))
    rows, columns = a.shape[-2:]
    i = np.arange(max(0, -offset), max(0, -offset, min(rows, columns - offset)))

    def back(g: Any, gradients: Gradients, node: Node) -> None:
        gradients.buffer(node)[..., i, i + offset] += g

    return view(a, Step(lambda v: np.diagonal(v, offset, -2, -1), back))


@rule(np.diag, always=True)
def diag(v: Any, k: int = 0) -> Any:
    if rank_of(v) == 2:
        return diagonal(v, k)
    size = len(v) + abs(k)
    out = fresh(np.zeros((size, size), v.dtype))
    i = np.arange(len(v))
    out[i + max(0, -k), i + max(0, k)] = v
    return out


@rule(np.trace, np.linalg.trace)
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return np.sum(np.diagonal(a, offset, axis1, axis2), axis=-1)


def _lower(m: Any, k: int) -> Any:
    rows, columns = shape_of(m)[-2:]
    return np.tri(rows, columns, k, dtype=np.bool_)


@rule(np.tril)
def tril(m: Any, k: int = 0) -> Any:
    return np.where(_lower(m, k), m, 0.0)


@rule(np.triu)
def triu(m: Any, k: int = 0) -> Any:
    return np.where(_lower(m, k - 1), 0.0, m)


@rule(np.copy)
def copy(a: Any, order: Any = "K") -> Any:
    def call(v: Any) -> Any:
        return np.copy(v, order) if is_array(v) else v

    return apply(call, (by(lambda g: g),), (a,))


def _pieces(arrays: Any, axis: int) -> Any:
    """Where each array lies in the joined one."""
    ends = np.cumsum([0, *(shape_of(a)[axis] for a in arrays)])
    return [(slice(None),) * axis + (slice(int(i), int(j)),) for i, j in pairwise(ends)]


@rule(np.concatenate)
def concatenate(arrays: Any, axis: int | None = 0) -> Any:
    arrays = list(arrays)
    if axis is None:
        arrays, axis = [np.ravel(a) for a in arrays], 0
    along = axis % rank_of(arrays[0])
    makers = [by(itemgetter(at)) for at in _pieces(arrays, along)]
    return apply(lambda *values: np.concatenate(values, axis=along), makers, arrays)


@rule(np.stack)
def stack(arrays: Any, axis: int = 0) -> Any:
    arrays = list(arrays)
    along = axis % (rank_of(arrays[0]) + 1)
    makers = [by(itemgetter((slice(None),) * along + (i,))) for i in range(len(arrays))]
    return apply(lambda *values: np.stack(values, axis=along), makers, arrays)


@rule(np.vstack)
def vstack(tup: Any) -> Any:
    return concatenate([np.atleast_2d(a) for a in tup])


@rule(np.hstack)
def hstack(tup: Any) -> Any:
    arrays = [np.atleast_1d(a) for a in tup]
    return concatenate(arrays, 0 if rank_of(arrays[0]) == 1 else 1)


@rule(np.column_stack)
def column_stack(tup: Any) -> Any:
    return concatenate([a if rank_of(a) > 1 else np.reshape(a, (-1, 1)) for a in tup], 1)


@rule(np.append)
def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    if axis is None:
        return concatenate([np.ravel(arr), np.ravel(values)])
    return concatenate([arr, values], axis)


@rule(np.split, np.array_split, always=True)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    places = np.array_split(np.arange(shape_of(ary)[axis]), indices_or_sections)
    ends = np.cumsum([0, *(len(p) for p in places)])
    if not isinstance(indices_or_sections, int):
        ends = np.array([0, *indices_or_sections, shape_of(ary)[axis]])
    lead = (slice(None),) * (axis % rank_of(ary))
    return [ary[(*lead, slice(int(i), int(j)))] for i, j in pairwise(ends)]


@rule(np.vsplit, always=True)
def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    return split(ary, indices_or_sections, 0)


@rule(np.hsplit, always=True)
def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    return split(ary, indices_or_sections, 1 if rank_of(ary) > 1 else 0)


def _gathered(a: Any, index: Any) -> Any:
    """The elements of the flat array at these places, in the shape of `index`."""
    return np.ravel(a)[index]


def _places(a: Any) -> Any:
    return np.arange(np.size(a)).reshape(shape_of(a))


@rule(np.repeat)
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    return _gathered(a, np.repeat(_places(a), repeats, axis))


@rule(np.tile)
def tile(A: Any, reps: Any) -> Any:  # noqa: N803 (the name is NumPy's)
    return _gathered(A, np.tile(_places(A), reps))


@rule(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    return _gathered(a, np.roll(_places(a), shift, axis))


@rule(np.take)
def take(a: Any, indices: Any, axis: int | None = None) -> Any:
    return _gathered(a, np.take(_places(a), np.asarray(indices), axis))


@rule(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    return _gathered(arr, np.take_along_axis(_places(arr), np.asarray(indices), axis))


@rule(np.delete)
def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    return _gathered(arr, np.delete(_places(arr), obj, axis))


@rule(np.sort)
def sort(a: Any, axis: int | None = -1, kind: Any = None) -> Any:
    return np.take_along_axis(a if axis is not None else np.ravel(a), np.argsort(a, axis=axis, kind=kind), axis)


@rule(np.diff)
def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    for _ in range(n):
        lead = (slice(None),) * (axis % rank_of(a))
        a = a[(*lead, slice(1, None))] - a[(*lead, slice(None, -1))]
    return a


@rule(np.pad)
def pad(array: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Any:
    if mode != "constant":
        return _gathered(array, np.pad(_places(array), pad_width, mode=mode))  # type: ignore[call-overload]
    whole = np.pad(np.zeros(shape_of(array), array.dtype), pad_width, constant_values=constant_values)
    inside = np.pad(np.ones(shape_of(array), bool), pad_width)
    out = fresh(whole)
    out[inside] = np.ravel(array)
    return out


@rule(np.copyto, always=True)
def copyto(dst: Any, src: Any, *, where: Any = True) -> None:
    if not isinstance(dst, Traced):
        if holds_node(src):
            raise refusal("np.copyto writes something traced into a plain array", "start from a copy of it")
        np.copyto(dst, innermost(src), where=innermost(where))
    else:
        dst[...] = src if where is True else np.where(where, src, dst)


@rule(np.fill_diagonal, always=True)
def fill_diagonal(a: Any, val: Any) -> None:
    i = np.arange(min(shape_of(a)))
    a[(i,) * rank_of(a)] = val


@rule(np.full_like)
def full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    out = fresh(np.empty(shape_of(a), dtype or a.dtype))
    out[...] = fill_value
    return out
