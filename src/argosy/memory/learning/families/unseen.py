"""Runs that were written down by somebody who had seen neither the policy nor the other families: for judging, once it
was done."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argosy.memory.learning.families.family import Made


def elimination(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """A multifrontal sparse solver: fronts factored up an elimination tree, then solves, then a new matrix."""
    order = rng.permutation(objects)
    vector, fronts = order[0], order[1:]
    count, reach = len(fronts), int(rng.integers(1, 6))
    parent = [min(count - 1, i + 1 + int(rng.integers(reach))) for i in range(count)]
    work = 1 + rng.integers(0, 3, count)
    dense, gather, sweep = rng.uniform(1.5, 4.0), rng.uniform(0.3, 1.0), rng.uniform(0.5, 1.5)
    rounds = int(rng.integers(1, 5))
    log: list[tuple[str, dict[int, float]]] = []
    while len(log) < windows:
        for i in range(count):
            children = {int(fronts[j]): gather for j in range(i) if parent[j] == i}
            log.append(("assemble", {**children, int(fronts[i]): 1.0}))
            log += [("factor", {int(fronts[i]): dense})] * int(work[i])
        for _ in range(rounds):
            log += [("lower", {int(fronts[i]): sweep, int(vector): 1.0}) for i in range(count)]
            log += [("upper", {int(fronts[i]): sweep, int(vector): 1.0}) for i in reversed(range(count))]
            log.append(("residual", {int(vector): 2.0, **{int(f): 0.4 for f in fronts}}))
    passes = np.zeros((windows, objects))
    for row, (_, touched) in zip(passes, log, strict=False):
        row[list(touched)] = list(touched.values())
    return passes, [name for name, _ in log[:windows]]


def training(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """Layer-wise network training with gradient accumulation, lower layers unfrozen later, and evaluations."""
    layers, order = max(1, (objects - 1) // 3), rng.permutation(objects)
    weight, value, moment = (order[(k * layers + np.arange(layers)) % objects] for k in range(3))
    data, cost = order[-1], rng.uniform(0.7, 2.5, layers)
    micro, every, batches = int(rng.integers(1, 4)), int(rng.integers(2, 7)), int(rng.integers(1, 5))
    frozen, thaw = int(rng.integers(0, layers)), int(rng.integers(2, 7))
    log: list[tuple[str, list[int], list[float]]] = []
    step = 0
    while len(log) < windows:
        ahead = [
            ("forward", [weight[k], value[k], value[k - 1] if k else data], [cost[k], 1.0, 0.8]) for k in range(layers)
        ]
        low = max(0, frozen - step // thaw)
        back = [
            ("backward", [weight[k], value[k], value[k - 1] if k else data], [1.6 * cost[k], 1.5, 1.0])
            for k in reversed(range(low, layers))
        ]
        log += (ahead + back) * micro
        log += [("update", [weight[k], moment[k]], [1.0, 2.0]) for k in range(low, layers)]
        step += 1
        log += [("evaluate", who, much) for _, who, much in ahead] * (batches if step % every == 0 else 0)
    passes = np.zeros((windows, objects))
    for row, (_, who, much) in zip(passes, log, strict=False):
        row[who] = much
    return passes, [name for name, _, _ in log[:windows]]


def adjoint_sweep(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """Gradient descent by a time-dependent adjoint that keeps few checkpoints and recomputes between them."""
    order = rng.permutation(objects)
    held = order[2 : 2 + int(rng.integers(2, max(3, objects - 2)))] if objects > 2 else order[:1]
    kinds = ("advance", "reverse", "store", "restore", "search", "update")
    base = {kind: np.where(rng.random(objects) < 0.4, rng.uniform(0.3, 2.0, objects), 0.0) for kind in kinds}
    for kind, state, adjoint in zip(kinds, (2.0, 1.0, 1.0, 1.0, 2.0, 0.0), (0.0, 2.5, 0.0, 0.0, 0.0, 1.0), strict=True):
        base[kind][held] = 0.0
        base[kind][order[:2]] = state, adjoint
    steps, share, log = int(rng.integers(5, 18)), rng.uniform(0.35, 0.65), [("store", held[0])]
    while len(log) < windows:
        tasks = [(0, steps, 0)]
        while tasks:
            low, high, slot = tasks.pop()
            free = slot + 1 < len(held) and high - low > 1
            middle = low + max(1, int(share * (high - low))) if free else high - 1
            log += [("restore", held[slot])] * (log[-1] != ("store", held[slot]))
            log += [("advance", -1)] * (middle - low)
            log.append(("store", held[slot + 1]) if free else ("reverse", -1))
            tasks += [(low, middle, slot)] if middle > low else []
            tasks += [(middle, high, slot + 1)] if free else []
        log += [("update", -1)] * int(rng.integers(1, 4)) + [("search", -1)] * (steps * int(rng.integers(0, 3)))
        steps += int(rng.integers(0, 3))
    passes = np.array([base[kind] + (np.arange(objects) == slot) for kind, slot in log[:windows]])
    return passes, [kind for kind, _ in log[:windows]]


def adaptive_mesh(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """A subcycled block-adaptive flow solver whose fine blocks follow wandering, sometimes newborn, fronts."""
    place, deepest, every = rng.permutation(objects), int(rng.integers(1, 4)), int(rng.integers(1, 5))
    where = rng.uniform(0, objects, int(rng.integers(1, 4)))
    speed = rng.normal(0, rng.uniform(0.1, 0.8), len(where))
    width, work, ghost = rng.uniform(0.4, 1.5), rng.uniform(1.0, 3.0), rng.uniform(0.3, 0.6)
    project, level, step = rng.random() < 0.5, np.zeros(objects, int), 0
    log: list[tuple[str, NDArray[np.float64]]] = []
    while len(log) < windows:
        if step % every == 0:
            gap = np.abs((np.arange(objects) + 0.5)[:, None] - where).min(axis=1)
            fresh = np.clip(deepest - (gap / width).astype(int), 0, deepest)
            log.append(("regrid", np.where(fresh != level, 2.0, 0.3)))
            level = fresh
        cycle = [0]
        for depth in range(1, deepest + 1):
            cycle = [part for at in cycle for part in ([at, depth, depth] if at == depth - 1 else [at])]
        for depth in (k for k in cycle if (level == k).any()):
            near = np.convolve(level == depth, [1, 1, 1])[1:-1] > 0
            log.append((f"advance{depth}", np.where(level == depth, work, ghost * near)))
        log += [("project", np.full(objects, 1.0))] if project else []
        speed, step = speed + rng.normal(0, 0.1, len(where)), step + 1
        where = np.where(rng.random(len(where)) < 0.03, rng.uniform(0, objects, len(where)), where + speed) % objects
    return np.array([row for _, row in log[:windows]])[:, place], [name for name, _ in log[:windows]]


def query_batches(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """A database serving query templates whose mix shifts between lookups, reports and maintenance."""
    heat = rng.permutation(1.0 / np.arange(1, objects + 1) ** rng.uniform(0.4, 1.3))
    heat /= heat.sum()
    templates = np.zeros((int(rng.integers(4, 10)), objects))
    heavy = np.arange(len(templates)) < rng.integers(1, len(templates) - 1)
    for row, wide in zip(templates, heavy, strict=True):
        joined = rng.choice(objects, min(objects, int(rng.integers(2, 6) if wide else rng.integers(1, 4))), False, heat)
        row[joined] = rng.uniform(0.8, 3.0, len(joined)) if wide else rng.uniform(0.3, 0.9, len(joined))
    passes, names = np.zeros((windows, objects)), [""] * windows
    at, tidy = 0, rng.uniform(0.05, 0.25)
    while at < windows:
        end = min(windows, at + int(rng.integers(12, 50)))
        reports, mix = rng.random() < 0.4, rng.dirichlet(np.full(len(templates), 0.5))
        mix = mix * np.where(heavy == reports, 1.0, 0.05) + 1e-6
        vacuum = rng.permutation(objects)[: end - at] if rng.random() < tidy else np.zeros(0, int)
        for k in range(at, end):
            chosen = rng.choice(len(templates), 1 if reports else int(rng.integers(2, 5)), p=mix / mix.sum())
            passes[k] = np.minimum((templates[chosen] * rng.uniform(0.8, 1.2, (len(chosen), 1))).sum(axis=0), 4.0)
            names[k] = f"report{chosen[0]}" if reports else "lookups"
        for k, table in enumerate(vacuum, at):
            passes[k, table], names[k] = passes[k, table] + 2.0, "vacuum"
        at = end
    return passes, names


def graph_traversal(rng: np.random.Generator, windows: int, objects: int) -> Made:
    """Breadth-first searches over graph partitions, pushing or pulling as the frontier grows, then a ranking."""
    point = rng.random((objects, 2))
    apart = np.linalg.norm(point[:, None] - point, axis=2)
    link = np.exp(-apart * objects**0.5 / rng.uniform(0.15, 0.6))
    link += rng.uniform(0, 0.02) * rng.random((objects, objects))
    spread, pull, rank = rng.uniform(0.6, 4.0), rng.uniform(0.15, 0.4), int(rng.integers(0, 6))
    hub, mapped = rng.dirichlet(np.full(objects, 0.4)), rng.integers(objects)
    passes, names = np.zeros((windows, objects)), ["rank"] * windows
    at = 0
    while at < windows:
        for _ in range(int(rng.integers(1, 5))):
            unseen, front = np.ones(objects), np.zeros(objects)
            front[rng.choice(objects, p=hub)] = rng.uniform(0.1, 0.5)
            while at < windows and front.max() > 0.05:
                unseen = np.maximum(unseen - front, 0.0)
                dense = front.mean() > pull
                passes[at] = np.where(front > 0.05, 0.3 + 2.5 * front, 0.0) + dense * 1.2 * unseen * (unseen > 0.05)
                passes[at, mapped], names[at] = passes[at, mapped] + 0.5, "pull" if dense else "push"
                front = unseen * (1 - np.exp(-spread * (link @ front) * rng.uniform(0.6, 1.4, objects)))
                at += 1
        passes[at : at + rank], at = 1.0, at + rank
    return passes, names
