"""Whole programs, against torch: the same program is run with torch's functions and gone back by torch."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from argosy.tree.grad.reverse import value_and_grad

RNG = np.random.default_rng(3)
X = RNG.normal(size=(20, 4))
Y = (RNG.normal(size=20) > 0).astype(float)
RATINGS = RNG.uniform(1, 5, (6, 5))
SEEN = RNG.uniform(size=(6, 5)) > 0.4


def _names(**functions: Any) -> ModuleType:
    made = ModuleType("names")
    vars(made).update(functions)
    return made


NUMPY = _names(
    exp=np.exp,
    log=np.log,
    log1p=np.log1p,
    sqrt=np.sqrt,
    tanh=np.tanh,
    sum=np.sum,
    mean=np.mean,
    zeros=np.zeros,
    abs=np.abs,
    where=np.where,
    stack=np.stack,
    matmul=np.matmul,
    norm=np.linalg.norm,
    solve=np.linalg.solve,
    eye=np.eye,
    maximum=np.maximum,
    outer=np.outer,
    amax=lambda a, axis: np.max(a, axis=axis),
    concatenate=np.concatenate,
    amin=lambda a, axis: np.min(a, axis=axis),
    const=np.array,
    sin=np.sin,
    cos=np.cos,
    argmin=np.argmin,
    einsum=np.einsum,
    var=np.var,
    inv=np.linalg.inv,
    det=np.linalg.det,
    clip=np.clip,
)


def _double(*shape: Any) -> torch.Tensor:
    return torch.zeros(*shape, dtype=torch.float64)


TORCH = _names(
    exp=torch.exp,
    log=torch.log,
    log1p=torch.log1p,
    sqrt=torch.sqrt,
    tanh=torch.tanh,
    sum=torch.sum,
    mean=torch.mean,
    zeros=_double,
    abs=torch.abs,
    where=torch.where,
    stack=torch.stack,
    matmul=torch.matmul,
    norm=torch.linalg.norm,
    solve=torch.linalg.solve,
    eye=lambda n: torch.eye(n, dtype=torch.float64),
    maximum=torch.maximum,
    outer=torch.outer,
    amax=lambda a, axis: torch.amax(a, dim=axis),
    concatenate=torch.cat,
    amin=lambda a, axis: torch.amin(a, dim=axis),
    const=lambda a: torch.as_tensor(np.array(a)),
    sin=torch.sin,
    cos=torch.cos,
    argmin=lambda a, axis: torch.argmin(a, dim=axis),
    einsum=torch.einsum,
    var=lambda a: torch.var(a, correction=0),
    inv=torch.linalg.inv,
    det=torch.linalg.det,
    clip=torch.clip,
)

PROGRAMS: dict[str, tuple[Callable[..., Any], np.ndarray]] = {}


def program(x: np.ndarray) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(f: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[f.__name__] = (f, x)
        return f

    return add


@program(RNG.normal(size=4))
def logistic_regression(w: Any, xp: Any) -> Any:
    z = xp.matmul(xp.const(X), w)
    p = 1 / (1 + xp.exp(-z))
    y = xp.const(Y)
    return -xp.mean(y * xp.log(p) + (1 - y) * xp.log(1 - p)) + 0.01 * xp.sum(w**2)


@program(RNG.normal(size=4))
def logistic_regression_trained_by_its_own_gradient(w: Any, xp: Any) -> Any:
    data, y = xp.const(X), xp.const(Y)
    for _ in range(5):
        p = 1 / (1 + xp.exp(-(data @ w)))
        w = w - 0.5 * (data.T @ (p - y)) / len(y)
    return xp.sum((data @ w - y) ** 2)


@program(RNG.normal(size=(5,)))
def linear_regression_with_a_bias(w: Any, xp: Any) -> Any:
    residual = xp.const(X) @ w[:4] + w[4] - xp.const(Y)
    return xp.mean(residual**2)


@program(np.array(0.3))
def ridge_regression_in_closed_form(strength: Any, xp: Any) -> Any:
    data, y = xp.const(X), xp.const(Y)
    w = xp.solve(data.T @ data + strength * xp.eye(4), data.T @ y)
    return xp.sum((data @ w - y) ** 2) + xp.norm(w)


@program(RNG.normal(size=(3, 4)))
def k_means_loss(centers: Any, xp: Any) -> Any:
    away = xp.const(X)[:, None, :] - centers[None, :, :]
    return xp.sum(xp.amin(xp.sum(away**2, 2), 1))


@program(RNG.normal(size=(3, 4)))
def k_means_with_steps(centers: Any, xp: Any) -> Any:
    points = xp.const(X)
    for _ in range(3):
        nearest = xp.argmin(xp.sum((points[:, None, :] - centers[None, :, :]) ** 2, 2), axis=1)
        moved = []
        for k in range(3):
            mine = points[nearest == k]
            moved.append(xp.sum(mine, 0) / (len(mine) + 1) + centers[k] / (len(mine) + 1))
        centers = xp.stack(moved)
    return xp.sum(centers**2) + xp.sum(xp.sin(centers))


@program(RNG.normal(size=(6, 2)))
def als_objective(users: Any, xp: Any) -> Any:
    ratings, seen = xp.const(RATINGS), xp.const(SEEN)
    items = []
    for j in range(5):
        mine = users[seen[:, j]]
        items.append(xp.solve(mine.T @ mine + 0.1 * xp.eye(2), mine.T @ ratings[seen[:, j], j]))
    away = xp.where(seen, ratings - users @ xp.stack(items).T, 0 * ratings)
    return xp.sum(away**2) + 0.1 * xp.sum(users**2)


@program(RNG.uniform(size=12))
def heat_stencil_with_stores(u: Any, xp: Any) -> Any:
    u = 1 * u
    for _ in range(6):
        new = xp.zeros(12)
        new[0] = u[0]
        new[-1] = u[-1]
        new[1:-1] = u[1:-1] + 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = new
    return xp.sum(u**2)


@program(RNG.uniform(size=(5, 6)))
def heat_stencil_in_place_on_a_plane(u: Any, xp: Any) -> Any:
    u = 1 * u
    for _ in range(4):
        step = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += 0.1 * step
    return xp.sum(u**3)


@program(RNG.normal(size=(4, 4)))
def pca_by_power_iteration_until_it_stands(a: Any, xp: Any) -> Any:
    a = a @ a.T
    v = xp.const(np.ones(4)) / 2.0
    before, now, rounds = 0.0, 1.0, 0
    while abs(now - before) > 1e-7 and rounds < 200:
        v = a @ v
        v = v / xp.norm(v)
        before, now = now, v @ a @ v
        rounds += 1
    return now


@program(np.array(2.7))
def newton_square_root_until_it_is_near(x: Any, xp: Any) -> Any:
    guess = x
    while xp.abs(guess * guess - x) > 1e-9:
        guess = 0.5 * (guess + x / guess)
    return guess**3


@program(RNG.normal(size=(3, 5)) / 2)
def recurrent_network(w: Any, xp: Any) -> Any:
    state = xp.zeros(3)
    for t in range(10):
        state = xp.tanh(w[:, :3] @ state + w[:, 3] * float(Y[t]) + w[:, 4])
    return xp.sum(state**2)


@program(RNG.normal(size=(3, 5)) / 2)
def recurrent_network_that_stores_all_states(w: Any, xp: Any) -> Any:
    states = xp.zeros((11, 3))
    for t in range(10):
        states[t + 1, :] = xp.tanh(w[:, :3] @ (1 * states[t]) + w[:, 3] * float(Y[t]) + w[:, 4])
    return xp.sum(states[5:] ** 2) + xp.mean(states)


@program(RNG.normal(size=8))
def recursive_sum_of_halves(x: Any, xp: Any) -> Any:
    def total(part: Any) -> Any:
        if len(part) == 1:
            return part[0] ** 2
        half = len(part) // 2
        return total(part[:half]) * 0.5 + xp.sin(total(part[half:]))

    return total(x)


@program(RNG.normal(size=6))
def early_return(x: Any, xp: Any) -> Any:
    so_far = 0 * x[0]
    for i in range(len(x)):
        so_far = so_far + x[i] ** 2
        if so_far > 1.0:
            return so_far * x[i]
    return so_far


@program(RNG.normal(size=9))
def a_loop_with_break_continue_and_else(x: Any, xp: Any) -> Any:
    out = 0.0
    for i in range(9):
        if x[i] < 0:
            continue
        out = out + x[i] * i
        if out > 5:
            break
    else:
        out = out * 2
    return out * xp.exp(0.1 * x[0])


@program(RNG.normal(size=(4, 3)))
def softmax_cross_entropy(w: Any, xp: Any) -> Any:
    z = xp.const(X) @ w
    z = z - xp.amax(z, 1)[:, None]
    logs = z - xp.log(xp.sum(xp.exp(z), 1))[:, None]
    return -xp.mean(logs[np.arange(20), (np.arange(20) * 7) % 3])


@program(RNG.normal(size=(4 * 6 + 6,)))
def two_layers_of_a_network(flat: Any, xp: Any) -> Any:
    first, second = flat[:24].reshape(4, 6), flat[24:]
    hidden = xp.maximum(xp.const(X) @ first, xp.const(np.zeros((20, 6))))
    return xp.mean((hidden @ second - xp.const(Y)) ** 2)


@program(RNG.normal(size=(5, 3)))
def batch_normalization(x: Any, xp: Any) -> Any:
    columns = [(x[:, j] - xp.mean(x[:, j])) / xp.sqrt(xp.var(x[:, j]) + 1e-5) for j in range(3)]
    return xp.sum(xp.stack(columns) ** 3)


@program(RNG.normal(size=(3, 3)) + 3 * np.eye(3))
def log_likelihood_of_a_gaussian(root: Any, xp: Any) -> Any:
    cov = root @ root.T + xp.eye(3)
    points = xp.const(X[:, :3])
    return xp.sum(xp.einsum("ni,ij,nj->n", points, xp.inv(cov), points)) + 20 * xp.log(xp.det(cov))


@program(RNG.normal(size=(4, 4)))
def attention(w: Any, xp: Any) -> Any:
    x = xp.const(X)
    scores = (x @ w) @ x.T / 2.0
    weights = xp.exp(scores - xp.amax(scores, 1)[:, None])
    weights = weights / xp.sum(weights, 1)[:, None]
    return xp.sum((weights @ x) ** 2)


@program(np.array([0.3, 1.1]))
def a_pendulum_by_leapfrog(start: Any, xp: Any) -> Any:
    angle, speed = start[0], start[1]
    for _ in range(50):
        speed = speed - 0.05 * xp.sin(angle)
        angle = angle + 0.1 * speed
        speed = speed - 0.05 * xp.sin(angle)
    return angle**2 + 0.5 * speed**2


@program(RNG.normal(size=7))
def masks_and_absolute_values_at_zero(x: Any, xp: Any) -> Any:
    x = x * xp.const(np.array([1.0, 0, 1, 0, 1, 1, 0]))
    return xp.sum(xp.abs(x)) + xp.sum(xp.where(x > 0, x**2, -x)) + xp.sum(xp.maximum(x, -x)) + xp.norm(0 * x)


@program(RNG.normal(size=6))
def a_prefix_table_filled_from_itself(x: Any, xp: Any) -> Any:
    table = xp.zeros(7)
    for i in range(6):
        table[i + 1] = 1 * table[i] * 0.9 + x[i]
    return xp.sum(table * table)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_the_gradient_of_torch(name: str) -> None:
    f, x = PROGRAMS[name]
    value, slopes = value_and_grad(f)(x.copy(), NUMPY)
    tensor = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    expected = f(tensor, TORCH)
    expected.backward()
    np.testing.assert_allclose(value, f(x.copy(), NUMPY), rtol=1e-13)
    np.testing.assert_allclose(value, expected.item(), rtol=1e-10)
    assert tensor.grad is not None
    np.testing.assert_allclose(slopes, tensor.grad.numpy(), rtol=1e-7, atol=1e-10)


def test_there_are_at_least_twenty_programs() -> None:
    assert len(PROGRAMS) >= 20
