"""Products of vectors and matrices."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from argosy.tree.grad.nodes import Pull
from argosy.tree.grad.record import apply, by
from argosy.tree.grad.tables import UFUNCS, Maker, rule
from argosy.tree.grad.tape import refusal
from argosy.tree.grad.traced import rank_of, shape_of


def _turned(a: Any) -> Any:
    return np.swapaxes(a, -1, -2)


def _into_left(rank: int, g: Any, b: Any) -> Any:
    if rank_of(b) == 1:
        return np.expand_dims(g, -1) * b
    if rank == 1:
        return np.matmul(b, g) if rank_of(b) == 2 else np.matmul(b, np.expand_dims(g, -1))[..., 0]
    return np.matmul(g, _turned(b))


def _into_right(rank: int, g: Any, a: Any) -> Any:
    if rank_of(a) == 1:
        return g * a if rank == 1 else np.expand_dims(a, -1) * np.expand_dims(g, -2)
    if rank == 1:
        return np.matmul(g, a) if rank_of(a) == 2 else np.matmul(_turned(a), np.expand_dims(g, -1))[..., 0]
    return np.matmul(_turned(a), g)


def _left(out: Any, a: Any, b: Any) -> Pull:
    return by(partial(_into_left, rank_of(a)), 1)(out, a, b)


def _right(out: Any, a: Any, b: Any) -> Pull:
    return by(partial(_into_right, rank_of(b)), 0)(out, a, b)


UFUNCS[np.matmul] = (_left, _right)


@rule(np.dot)
def dot(a: Any, b: Any) -> Any:
    if rank_of(a) == 0 or rank_of(b) == 0:
        return np.multiply(a, b)
    if rank_of(a) <= 2 and rank_of(b) <= 2:
        return apply(np.dot, (_left, _right), (a, b))
    return np.tensordot(a, b, axes=(-1, -2 if rank_of(b) > 1 else 0))


@rule(np.vdot)
def vdot(a: Any, b: Any) -> Any:
    return np.dot(np.ravel(a), np.ravel(b))


@rule(np.inner)
def inner(a: Any, b: Any) -> Any:
    if rank_of(a) == 0 or rank_of(b) == 0:
        return np.multiply(a, b)
    return np.tensordot(a, b, axes=(-1, -1))


@rule(np.outer)
def outer(a: Any, b: Any) -> Any:
    return np.expand_dims(np.ravel(a), 1) * np.ravel(b)


@rule(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Both are turned into matrices, as NumPy does."""
    first, second = (range(-axes, 0), range(axes)) if isinstance(axes, int) else axes
    summed_a = [i % rank_of(a) for i in ([first] if isinstance(first, int) else first)]
    summed_b = [i % rank_of(b) for i in ([second] if isinstance(second, int) else second)]
    free_a = [i for i in range(rank_of(a)) if i not in summed_a]
    free_b = [i for i in range(rank_of(b)) if i not in summed_b]
    rows = [shape_of(a)[i] for i in free_a]
    columns = [shape_of(b)[i] for i in free_b]
    width = int(np.prod([shape_of(a)[i] for i in summed_a], dtype=np.int64))
    left = np.reshape(np.transpose(a, [*free_a, *summed_a]), (int(np.prod(rows, dtype=np.int64)), width))
    right = np.reshape(np.transpose(b, [*summed_b, *free_b]), (width, int(np.prod(columns, dtype=np.int64))))
    return np.reshape(np.dot(left, right), (*rows, *columns))


@rule(np.einsum)
def einsum(subscripts: Any, *operands: Any, optimize: Any = False) -> Any:
    if not isinstance(subscripts, str):
        raise refusal("np.einsum with lists for subscripts", "write the subscripts as a string")
    inputs, result = _spelled(subscripts, [rank_of(x) for x in operands])
    if any(len(set(letters)) != len(letters) for letters in inputs):
        raise refusal("np.einsum with an index that one operand has twice", "take np.diagonal first")

    def maker(i: int) -> Maker:
        rest = [k for k in range(len(operands)) if k != i]
        alone = [c for c in inputs[i] if c not in result and all(c not in inputs[k] for k in rest)]
        places = tuple(inputs[i].index(c) for c in alone)
        into = "".join(c for c in inputs[i] if c not in alone)
        spec = ",".join([result, *(inputs[k] for k in rest)]) + "->" + into
        return by(lambda g, *others: np.expand_dims(np.einsum(spec, g, *others, optimize=optimize), places), *rest)

    return apply(
        lambda *values: np.einsum(subscripts, *values, optimize=optimize),
        [maker(i) for i in range(len(operands))],
        operands,
    )


def _spelled(subscripts: str, ranks: list[int]) -> tuple[list[str], str]:
    """Every operand's letters and the result's, with `...` written out and the result named."""
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    unused = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in subscripts]
    terms = left.split(",")
    widths = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks, strict=True)]
    dots = unused[: max([w for w, t in zip(widths, terms, strict=True) if "..." in t], default=0)]
    spelled = [t.replace("...", "".join(dots[len(dots) - w :])) for t, w in zip(terms, widths, strict=True)]
    if arrow:
        return spelled, right.replace("...", "".join(dots))
    letters = left.replace(",", "").replace("...", "")
    return spelled, "".join(dots) + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
