"""Each function that has a gradient, against central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tree.grad.differences import assert_gradient

RNG = np.random.default_rng(7)
M34 = RNG.uniform(0.2, 0.9, (3, 4))
V4 = RNG.uniform(0.2, 0.9, 4)
M33 = RNG.uniform(0.2, 0.9, (3, 3)) + 2 * np.eye(3)
S33 = M33 @ M33.T
T234 = RNG.uniform(0.2, 0.9, (2, 3, 4))
W = RNG.normal(size=200)


def weigh(a: Any) -> Any:
    """One number that every element counts in differently."""
    return np.sum(np.ravel(a) * W[: np.size(a)])


ELEMENTWISE: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "square": np.square,
    "reciprocal": np.reciprocal,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "arcsin": np.arcsin,
    "arccos": np.arccos,
    "arctan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "abs": lambda x: np.abs(x - 0.5),
    "negative": np.negative,
    "positive": np.positive,
    "fabs": lambda x: np.fabs(0.5 - x),
    "power": lambda x: x**3,
    "power of it": lambda x: 2.0**x,
    "power both": lambda x: x ** (x + 1),
    "power zero": lambda x: x**0,
    "power half": lambda x: x**0.5,
    "division": lambda x: x / (1 + x),
    "division by it": lambda x: 1 / x,
    "remainder": lambda x: (5 * x) % (x + 0.3),
    "maximum": lambda x: np.maximum(x, 0.55),
    "minimum": lambda x: np.minimum(0.55, x),
    "logaddexp": lambda x: np.logaddexp(x, 2 * x),
    "hypot": lambda x: np.hypot(x, x * x),
    "arctan2": lambda x: np.arctan2(x, 1 + x),
    "clip": lambda x: np.clip(x, 0.3, 0.7),
    "clip one side": lambda x: np.clip(x, None, 0.7),
    "clip by it": lambda x: np.clip(0.5, x, x + 0.1),
    "method clip": lambda x: x.clip(0.3, 0.7),
    "where": lambda x: np.where(x > 0.5, x * x, np.sin(x)),
    "sign": lambda x: np.sign(x) * x,
    "floor": lambda x: np.floor(5 * x) + x,
    "floordiv": lambda x: x * (x // 0.25),
    "astype": lambda x: x.astype(np.float64) * 2,
    "round": lambda x: x * np.round(x, 1),
    "divmod": lambda x: divmod(x, 0.4)[1],
    "out": lambda x: np.add(x, x * x, out=np.zeros(x.shape)),
    "float_power": lambda x: np.float_power(x, 2.5),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_an_elementwise_function(name: str) -> None:
    call = ELEMENTWISE[name]
    assert_gradient(lambda x: weigh(call(x)), M34)


REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.sum,
    "mean": np.mean,
    "max": np.max,
    "min": np.min,
    "prod": np.prod,
    "var": np.var,
    "std": np.std,
    "var ddof": lambda x, **k: np.var(x, ddof=1, **k),
    "std ddof": lambda x, **k: x.std(ddof=1, **k),
    "norm": np.linalg.norm,
}


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2)])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_along_axes(name: str, axis: Any, keepdims: bool) -> None:
    call = REDUCTIONS[name]
    keywords = {"axis": axis, "keepdims": keepdims} if keepdims or axis is not None else {}
    assert_gradient(lambda x: weigh(call(x, **keywords)), T234)


OTHERS: dict[str, tuple[Callable[[Any], Any], np.ndarray]] = {
    "cumsum": (lambda x: np.cumsum(x, axis=1), M34),
    "cumsum flat": (lambda x: x.cumsum(), M34),
    "cumprod": (lambda x: np.cumprod(x, axis=0), M34),
    "average": (lambda x: np.average(x, axis=1, weights=x[0]), M34),
    "ptp": (lambda x: np.ptp(x, axis=0), M34),
    "add.reduce": (lambda x: np.add.reduce(x), M34),
    "add.accumulate": (lambda x: np.add.accumulate(x), M34),
    "outer of a ufunc": (lambda x: np.subtract.outer(x, x), V4),
    "norm 1": (lambda x: np.linalg.norm(x, 1, axis=0), M34),
    "norm inf": (lambda x: np.linalg.norm(x, np.inf, axis=1), M34),
    "norm 3": (lambda x: np.linalg.norm(x, 3), V4),
    "norm fro": (lambda x: np.linalg.norm(x, "fro"), M34),
    "norm nuc": (lambda x: np.linalg.norm(x, "nuc"), M34),
    "norm 2 of a matrix": (lambda x: np.linalg.norm(x, 2), M34),
    "norm 1 of a matrix": (lambda x: np.linalg.norm(x, 1), M34),
    "prod with zeros": (lambda x: np.prod(x * (x > 0.4)), V4),
    "vec vec": (lambda x: x @ (x * x), V4),
    "mat vec": (lambda x: x @ x[0], M34),
    "vec mat": (lambda x: x[:, 0] @ x, M34),
    "mat mat": (lambda x: x @ x.T, M34),
    "batched": (lambda x: x @ np.swapaxes(x, 1, 2), T234),
    "batched vec": (lambda x: x @ x[0, 0], T234),
    "vec batched": (lambda x: x[0, :, 0] @ x, T234),
    "batched broadcast": (lambda x: x[0] @ np.swapaxes(x, 1, 2), T234),
    "dot": (lambda x: np.dot(x, x.T), M34),
    "dot method": (lambda x: x.dot(x[0]), M34),
    "dot of many": (lambda x: np.dot(x, np.swapaxes(x, 1, 2)), T234),
    "dot scalar": (lambda x: np.dot(x[0, 0], x), M34),
    "inner": (lambda x: np.inner(x, x), M34),
    "outer": (lambda x: np.outer(x, x[::-1]), V4),
    "vdot": (lambda x: np.vdot(x, x * x), M34),
    "tensordot": (lambda x: np.tensordot(x, x, axes=([0, 2], [0, 2])), T234),
    "tensordot 1": (lambda x: np.tensordot(x, x.T, axes=1), M34),
    "einsum": (lambda x: np.einsum("ij,kj->ik", x, x), M34),
    "einsum implicit": (lambda x: np.einsum("ij,jk", x, x.T), M34),
    "einsum sum": (lambda x: np.einsum("ij->j", x), M34),
    "einsum three": (lambda x: np.einsum("ij,ik,kj->i", x, M33, x), M34),
    "einsum dots": (lambda x: np.einsum("...ij,...kj->...ik", x, x[0]), T234),
    "einsum alone": (lambda x: np.einsum("ij,k->k", x, x[0]), M34),
    "inv": (np.linalg.inv, M33),
    "inv batched": (lambda x: np.linalg.inv(x[:, :, :3] + 2 * np.eye(3)), T234),
    "det": (np.linalg.det, M33),
    "slogdet": (lambda x: np.linalg.slogdet(x)[1], M33),
    "solve": (lambda x: np.linalg.solve(x, x[0]), M33),
    "solve matrix": (lambda x: np.linalg.solve(x, x * x), M33),
    "matrix_power": (lambda x: np.linalg.matrix_power(x, 3), M33),
    "solve batched": (lambda x: np.linalg.solve(x[:, :, :3] + 2 * np.eye(3), x), T234),
    "cholesky": (lambda x: np.linalg.cholesky(x @ x.T), M33),
    "trace": (lambda x: np.trace(x) + x.trace(1), M33),
    "eigh values": (lambda x: np.linalg.eigh(x @ x.T)[0], M33),
    "eigvalsh": (lambda x: np.linalg.eigvalsh(x + x.T), M33),
    "eigh vectors": (lambda x: np.linalg.eigh(x @ x.T).eigenvectors ** 2, M33),
    "svd values": (lambda x: np.linalg.svd(x, compute_uv=False), M34),
    "svd left": (lambda x: np.linalg.svd(x, full_matrices=False)[0] ** 2, M34),
    "svd left tall": (lambda x: np.linalg.svd(x.T, full_matrices=False)[0] ** 2, M34),
    "svd right": (lambda x: np.linalg.svd(x, full_matrices=False)[2] ** 2, M34),
    "svd rebuilt": (lambda x: (lambda u, s, vh: (u * s**2) @ vh)(*np.linalg.svd(x, full_matrices=False)), M34),
    "reshape": (lambda x: x.reshape(2, -1) * 2, M34),
    "reshape F": (lambda x: np.reshape(x, (2, 6), order="F"), M34),
    "ravel": (lambda x: x.ravel()[3:] * x.flatten()[:-3], M34),
    "T": (lambda x: x.T[1] * x[0, 0], M34),
    "transpose": (lambda x: x.transpose(2, 0, 1), T234),
    "transpose tuple": (lambda x: np.transpose(x, (1, 2, 0)), T234),
    "swapaxes": (lambda x: np.swapaxes(x, 0, -1), T234),
    "moveaxis": (lambda x: np.moveaxis(x, 0, 2), T234),
    "squeeze": (lambda x: np.squeeze(x[:, None]), M34),
    "expand": (lambda x: np.expand_dims(x, 1) * x, M34),
    "concatenate": (lambda x: np.concatenate([x, x * x], axis=1), M34),
    "stack": (lambda x: np.stack([x, M34, 2 * x], 1), M34),
    "vstack": (lambda x: np.vstack([x[0], x]), M34),
    "hstack": (lambda x: np.hstack([x, x]), M34),
    "column_stack": (lambda x: np.column_stack([x[:, 0], x]), M34),
    "append": (lambda x: np.append(x, 2 * x[0]), M34),
    "split": (lambda x: np.split(x, 2, axis=1)[1] * 3, M34),
    "array_split": (lambda x: np.array_split(x, [1], axis=1)[1], M34),
    "tile": (lambda x: np.tile(x, (2, 1)), M34),
    "repeat": (lambda x: np.repeat(x, 2, axis=1), M34),
    "roll": (lambda x: np.roll(x, 1, axis=0) * x, M34),
    "flip": (lambda x: np.flip(x, 1) * x, M34),
    "diag": (lambda x: np.diag(x), M34),
    "diag of a vector": (lambda x: np.diag(x, 1), V4),
    "diagonal": (lambda x: np.diagonal(x, 1), M34),
    "tril": (np.tril, M34),
    "triu": (lambda x: np.triu(x, 1), M34),
    "take": (lambda x: np.take(x, [0, 2, 2], axis=1), M34),
    "sort": (lambda x: np.sort(x, axis=1), M34),
    "take_along_axis": (lambda x: np.take_along_axis(x, np.argsort(x, 0), 0), M34),
    "diff": (lambda x: np.diff(x, 2), M34),
    "pad": (lambda x: np.pad(x, 1), M34),
    "pad edge": (lambda x: np.pad(x, ((0, 0), (1, 1)), mode="edge"), M34),
    "broadcast_to": (lambda x: np.broadcast_to(x, (2, 4)), V4),
    "copy": (lambda x: np.copy(x) * x.copy(), M34),
    "array of lists": (lambda x: np.array([[x[0], 2.0], [x[1] * x[0], x[2]]]), V4),
    "delete": (lambda x: np.delete(x, 1), V4),
    "sum of a list": (lambda x: np.sum([v * v for v in x]), V4),
    "full": (lambda x: np.full((2, 2), x[1]), V4),
    "full_like": (lambda x: np.full_like(M34, x[1]), V4),
    "item": (lambda x: x[0].item() * x[1:2].item(), V4),
    "slices": (lambda x: x[1:, ::2] * x[:-1, ::2], M34),
    "newaxis": (lambda x: x[:, None] - x[None, :], V4),
    "ellipsis": (lambda x: x[..., 1], T234),
    "fancy": (lambda x: x[[0, 0, 2]] * x[[1, 2, 2]], M34),
    "fancy pairs": (lambda x: x[[0, 1, 1], [2, 3, 3]], M34),
    "mixed": (lambda x: x[:, [1, 1, 0], 2], T234),
    "mask": (lambda x: x[x > 0.5] ** 2, M34),
    "mask of rows": (lambda x: x[np.array([True, False, True])], M34),
    "choice by ints": (lambda x: x[np.arange(3), np.argmax(x, axis=1)], M34),
    "atleast_2d": (lambda x: np.atleast_2d(x).T, V4),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_function(name: str) -> None:
    call, x = OTHERS[name]
    assert_gradient(lambda x: weigh(call(x)), x)
