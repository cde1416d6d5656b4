"""Programs of the literature: regression, clustering, factorisation, components, small networks."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


def _table(n, m, seed=0):
    return np.random.default_rng(seed).normal(size=(n, m))


def _labelled(n=40, m=4):
    x = _table(n, m)
    return x, (x @ np.arange(1.0, m + 1) > 0).astype(float)


@program(lambda: (*_labelled(), 20))
def logistic_regression(x, y, steps):
    w = np.zeros(x.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-(x @ w)))
        g = x.T @ (p - y)
        w = w - 0.05 * g
    return w, p


@program(lambda: (*_labelled(), 1e-3))
def logistic_regression_until_it_settles(x, y, small):
    w = np.zeros(x.shape[1])
    losses = []
    while True:
        p = 1 / (1 + np.exp(-x @ w))
        losses.append(-np.mean(y * np.log(p + 1e-12) + (1 - y) * np.log(1 - p + 1e-12)))
        w -= 0.1 * x.T @ (p - y) / len(y)
        if len(losses) > 1 and losses[-2] - losses[-1] < small:
            break
    return w, losses


@program(lambda: (_table(30, 3), _table(30, 1, 1)[:, 0]))
def linear_regression(x, y):
    a = np.column_stack([np.ones(len(x)), x])
    exact = np.linalg.solve(a.T @ a, a.T @ y)
    w = np.zeros(4)
    for _ in range(30):
        w -= 0.01 * a.T @ (a @ w - y)
    return exact, w, np.abs(w - exact).max()


@program(lambda: (_table(40, 2), 3, 5))
def k_means(x, k, steps):
    centres = x[:k].copy()
    for _ in range(steps):
        far = np.stack([((x - c) ** 2).sum(axis=1) for c in centres], axis=1)
        label = far.argmin(axis=1)
        for j in range(k):
            mine = label == j
            if mine.any():
                centres[j] = x[mine].mean(axis=0)
    return centres, label


@program(lambda: (_table(8, 6), 2, 4))
def als(r, k, steps):
    rng = np.random.default_rng(4)
    u, v = rng.random((8, k)), rng.random((6, k))
    ridge = 0.1 * np.eye(k)
    for _ in range(steps):
        for i in range(8):
            u[i] = np.linalg.solve(v.T @ v + ridge, v.T @ r[i])
        for j in range(6):
            v[j] = np.linalg.solve(u.T @ u + ridge, u.T @ r[:, j])
    return u, v, ((r - u @ v.T) ** 2).sum()


@program(lambda: (_table(8, 6), _table(8, 6, 1) > 0, 3))
def als_with_missing_ratings(r, known, steps):
    u, v = np.ones((8, 2)), np.arange(12.0).reshape(6, 2) / 10
    for _ in range(steps):
        for i in range(8):
            seen = known[i]
            if not seen.any():
                continue
            part = v[seen]
            u[i] = np.linalg.solve(part.T @ part + 0.1 * np.eye(2), part.T @ r[i, seen])
        u, v, r, known = v, u, r.T, known.T
        for i in range(len(u)):
            part = v[known[i]]
            u[i] = np.linalg.solve(part.T @ part + 0.1 * np.eye(2), part.T @ r[i, known[i]])
        u, v, r, known = v, u, r.T, known.T
    return u, v


@program(lambda: (_table(20, 5), 2))
def pca(x, k):
    x = x - x.mean(axis=0)
    c = x.T @ x / (len(x) - 1)
    w, v = np.linalg.eigh(c)
    order = np.argsort(w)[::-1][:k]
    return x @ v[:, order], w[order]


@program(lambda: (_table(20, 5),))
def pca_by_power_iteration(x):
    x -= x.mean(axis=0)
    c = x.T @ x
    parts = []
    for _ in range(2):
        v = np.ones(5)
        change, n = 1.0, 0
        while change > 1e-6 and n < 200:
            new = c @ v
            new /= np.linalg.norm(new)
            change = np.abs(new - v).max()
            v = new
            n += 1
        c = c - np.outer(v, v) * (v @ c @ v)
        parts.append((v, n))
    return parts


@program(lambda: (*_labelled(20, 3), 10))
def a_small_network(x, y, steps):
    rng = np.random.default_rng(8)
    params = {"w1": rng.normal(size=(3, 6)), "b1": np.zeros(6), "w2": rng.normal(size=6), "b2": 0.0}
    for _ in range(steps):
        h = np.tanh(x @ params["w1"] + params["b1"])
        p = 1 / (1 + np.exp(-(h @ params["w2"] + params["b2"])))
        d = (p - y) / len(y)
        dh = np.outer(d, params["w2"]) * (1 - h * h)
        grads = {"w2": h.T @ d, "b2": d.sum(), "w1": x.T @ dh, "b1": dh.sum(axis=0)}
        for name in params:
            params[name] -= 0.5 * grads[name]
    return params, p


@program(lambda: (*_labelled(24, 3), 6))
def stochastic_gradient_descent(x, y, size):
    w = np.zeros(3)
    rng = np.random.default_rng(0)
    for _ in range(3):
        order = rng.permutation(len(x))
        for start in range(0, len(x), size):
            batch = order[start : start + size]
            error = x[batch] @ w - y[batch]
            w -= 0.1 * x[batch].T @ error / size
    return w


@program(lambda: (_table(12, 2), _table(5, 2, 1), 3))
def nearest_neighbours(x, queries, k):
    out = np.zeros((5, k), dtype=int)
    for i in range(5):
        far = ((x - queries[i]) ** 2).sum(axis=1)
        out[i] = np.argsort(far, kind="stable")[:k]
    return out


@program(lambda: (_table(15, 3), 4))
def folds(x, k):
    y = x @ [1.0, -2.0, 0.5]
    scores = []
    for i in range(k):
        held = np.arange(len(x)) % k == i
        w, *_ = np.linalg.lstsq(x[~held], y[~held], rcond=None)
        scores.append(float(((x[held] @ w - y[held]) ** 2).mean()))
    best = min(range(k), key=scores.__getitem__)
    return scores, best


@program(lambda: (_table(10, 3), 5))
def two_trainings_side_by_side(x, steps):
    y = x.sum(axis=1)
    a, b = np.zeros(3), np.zeros(3)
    for _ in range(steps):
        a = a - 0.01 * x.T @ (x @ a - y)
    for _ in range(steps):
        b = b - 0.05 * x.T @ (x @ b - y)
    if ((x @ a - y) ** 2).sum() < ((x @ b - y) ** 2).sum():
        best, name = a, "a"
    else:
        best, name = b, "b"
    print("kept", name)
    return best


@program(lambda: (_table(30, 2), 3))
def expectation_maximisation(x, steps):
    means = x[:2].copy()
    weights = np.full(2, 0.5)
    for _ in range(steps):
        p = np.stack([w * np.exp(-0.5 * ((x - m) ** 2).sum(axis=1)) for w, m in zip(weights, means, strict=True)])
        p /= p.sum(axis=0)
        for j in range(2):
            means[j] = (p[j][:, None] * x).sum(axis=0) / p[j].sum()
        weights = p.mean(axis=1)
    return means, weights
