"""Linear algebra of real matrices, single or stacked.

`eigh` and `cholesky` read one half of a symmetric matrix; their gradient is spread over both halves, as torch has it.
Where singular values or eigenvalues coincide the vectors have no gradient, and it comes out as NaN or infinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from argosy.tree.grad.nodes import Pull
from argosy.tree.grad.record import OUT, apply, by, fresh
from argosy.tree.grad.tables import rule
from argosy.tree.grad.tape import refusal
from argosy.tree.grad.traced import rank_of, shape_of


def _turned(a: Any) -> Any:
    return np.swapaxes(a, -1, -2)


def _wide(a: Any) -> Any:
    """One number per matrix, to be multiplied with the matrix."""
    return np.reshape(a, (*shape_of(a), 1, 1))


@rule(np.linalg.inv)
def inv(a: Any) -> Any:
    return apply(np.linalg.inv, (by(lambda g, out: -_turned(out) @ g @ _turned(out), OUT),), (a,))


@rule(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    vector = rank_of(b) == 1

    def left(g: Any, out: Any, a: Any) -> Any:
        back = np.linalg.solve(_turned(a), np.expand_dims(g, -1) if vector else g)
        return -back @ _turned(np.expand_dims(out, -1) if vector else out)

    def right(g: Any, a: Any) -> Any:
        if vector:
            return np.linalg.solve(_turned(a), np.expand_dims(g, -1))[..., 0]
        return np.linalg.solve(_turned(a), g)

    return apply(np.linalg.solve, (by(left, OUT, 0), by(right, 0)), (a, b))


@rule(np.linalg.det)
def det(a: Any) -> Any:
    maker = by(lambda g, out, a: _wide(g * out) * _turned(np.linalg.inv(a)), OUT, 0)
    return apply(np.linalg.det, (maker,), (a,))


@rule(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    once = _Once(np.linalg.slogdet)
    sign = apply(lambda x: once(x)[0], None, (a,))
    maker = by(lambda g, a: _wide(g) * _turned(np.linalg.inv(a)), 0)
    return once.kind(sign, apply(lambda x: once(x)[1], (maker,), (a,)))


@rule(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Any:
    if n < 0:
        return matrix_power(np.linalg.inv(a), -n)
    out = fresh(np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape).copy())
    for _ in range(n):
        out = out @ a
    return out


@rule(np.linalg.cholesky)
def cholesky(a: Any, *, upper: bool = False) -> Any:
    def pull(g: Any, low: Any) -> Any:
        inner = np.tril(_turned(low) @ np.tril(g))
        eye = np.eye(shape_of(low)[-1])
        inner = inner * (1 - eye / 2)
        inverse = np.linalg.inv(low)
        full = _turned(inverse) @ inner @ inverse
        return (full + _turned(full)) / 2

    low = apply(np.linalg.cholesky, (by(pull, OUT),), (a,))
    return np.swapaxes(low, -1, -2) if upper else low


def _gaps(w: Any) -> Any:
    """1 / (w_j - w_i), and 0 on the diagonal."""
    eye = np.eye(shape_of(w)[-1])
    return (1 - eye) / (np.expand_dims(w, -2) - np.expand_dims(w, -1) + eye)


@rule(np.linalg.eigh)
def eigh(a: Any, UPLO: Any = "L") -> Any:  # noqa: N803 (the name is NumPy's)
    once = _Once(lambda x: np.linalg.eigh(x, UPLO))

    def values(g: Any) -> Any:
        _, v = once.parts
        return (v * np.expand_dims(g, -2)) @ _turned(v)

    def vectors(g: Any) -> Any:
        w, v = once.parts
        return v @ ((_turned(v) @ g) * _gaps(w)) @ _turned(v)

    return once.each(a, values, vectors)


@rule(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: Any = "L") -> Any:  # noqa: N803 (the name is NumPy's)
    return eigh(a, UPLO)[0]


@rule(np.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    if compute_uv and full_matrices and shape_of(a)[-1] != shape_of(a)[-2]:
        raise refusal("np.linalg.svd of a matrix that is not square, with full_matrices", "say full_matrices=False")
    once = _Once(lambda x: np.linalg.svd(x, full_matrices=False))

    def left(g: Any) -> Any:
        return _through_left(g, *once.parts)

    def numbers(g: Any) -> Any:
        u, _, vh = once.parts
        return (u * np.expand_dims(g, -2)) @ vh

    def right(g: Any) -> Any:
        u, s, vh = once.parts
        return _turned(_through_left(_turned(g), _turned(vh), s, _turned(u)))

    found = once.each(a, left, numbers, right)
    return found if compute_uv else found[1]


class _Once:
    """A function with several results: it runs once, and each result has its own way back."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self.parts: Any = None

    def __call__(self, x: Any) -> Any:
        if self.parts is None:
            self.parts = self._call(x)
        return self.parts

    @property
    def kind(self) -> Any:
        return type(self.parts)

    def each(self, a: Any, *pulls: Pull) -> Any:
        """The results are copies: what the way back needs stays as it is, whatever is stored into them."""
        made = [apply(lambda x, i=i: self(x)[i].copy(), (by(pull),), (a,)) for i, pull in enumerate(pulls)]
        return self.kind(*made)


def _through_left(g: Any, u: Any, s: Any, vh: Any) -> Any:
    """Into the matrix from its left singular vectors; the right ones are those of the transposed matrix."""
    inner = (_turned(u) @ g) * _gaps(s * s)
    inside = u @ ((inner + _turned(inner)) * np.expand_dims(s, -2)) @ vh
    outside = (g - u @ (_turned(u) @ g)) / np.expand_dims(s, -2)
    return inside + outside @ vh
