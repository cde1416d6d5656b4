"""Samplers and estimators as loops over small arrays: statistics as it is written down."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def gibbs_changepoint(counts: Array, sweeps: int, seed: int) -> Array:
    """Where a rate of events changes, by Gibbs sampling."""
    draw = np.random.default_rng(seed)
    n = len(counts)
    where, early, late = n // 2, 1.0, 1.0
    kept = np.zeros((sweeps, 3))
    for sweep in range(sweeps):
        early = draw.gamma(2.0 + counts[:where].sum(), 1.0 / (where + 1.0))
        late = draw.gamma(2.0 + counts[where:].sum(), 1.0 / (n - where + 1.0))
        weights = np.zeros(n)
        for k in range(n):
            weights[k] = counts[:k].sum() * np.log(early) - k * early + counts[k:].sum() * np.log(late) - (n - k) * late
        weights = np.exp(weights - weights.max())
        where = int(draw.choice(n, p=weights / weights.sum()))
        kept[sweep] = (where, early, late)
    return kept


def gibbs_mixture(data: Array, num_groups: int, sweeps: int, seed: int) -> tuple[Array, Array]:
    """A mixture of normals: groups, then means, one point after another."""
    draw = np.random.default_rng(seed)
    n = len(data)
    means = draw.normal(size=num_groups)
    group = np.zeros(n, dtype=int)
    for _ in range(sweeps):
        for i in range(n):
            weights = np.exp(-0.5 * (data[i] - means) ** 2)
            weights = weights / weights.sum()
            group[i] = np.searchsorted(np.cumsum(weights), draw.random())
        for k in range(num_groups):
            mine = data[group == k]
            spread = 1.0 / (len(mine) + 0.1)
            means[k] = draw.normal(mine.sum() * spread, np.sqrt(spread))
    return means, group


def gibbs_ising(size: int, beta: float, sweeps: int, seed: int) -> Array:
    """Spins on a torus, one after another."""
    draw = np.random.default_rng(seed)
    spins = np.where(draw.random((size, size)) < 0.5, -1, 1)
    for _ in range(sweeps):
        for i in range(size):
            for j in range(size):
                around = spins[(i + 1) % size, j] + spins[i - 1, j] + spins[i, (j + 1) % size] + spins[i, j - 1]
                up = 1.0 / (1.0 + np.exp(-2.0 * beta * around))
                spins[i, j] = 1 if draw.random() < up else -1
    return spins


def gibbs_regression(x: Array, y: Array, sweeps: int, seed: int) -> Array:
    """Bayesian linear regression: weights given the noise, the noise given the weights."""
    draw = np.random.default_rng(seed)
    n, d = x.shape
    noise = 1.0
    gram, moments = x.T @ x, x.T @ y
    kept = []
    for _ in range(sweeps):
        precision = gram / noise + np.eye(d)
        lower = np.linalg.cholesky(precision)
        mean = np.linalg.solve(precision, moments / noise)
        weights = mean + np.linalg.solve(lower.T, draw.normal(size=d))
        residual = y - x @ weights
        noise = (1.0 + 0.5 * (residual @ residual)) / draw.gamma(1.0 + n / 2)
        kept.append([*weights, noise])
    return np.array(kept)


def topics(documents: list[list[int]], num_words: int, num_topics: int, sweeps: int, seed: int) -> tuple[Array, Array]:
    """Topics of documents by collapsed Gibbs sampling: one word after another gets a topic anew."""
    draw = np.random.default_rng(seed)
    by_document = np.zeros((len(documents), num_topics))
    by_word = np.zeros((num_topics, num_words))
    totals = np.zeros(num_topics)
    assigned = []
    for d, words in enumerate(documents):
        mine = []
        for word in words:
            z = int(draw.integers(num_topics))
            mine.append(z)
            by_document[d, z] += 1
            by_word[z, word] += 1
            totals[z] += 1
        assigned.append(mine)
    for _ in range(sweeps):
        for d, words in enumerate(documents):
            for i, word in enumerate(words):
                z = assigned[d][i]
                by_document[d, z] -= 1
                by_word[z, word] -= 1
                totals[z] -= 1
                weights = (by_document[d] + 0.1) * (by_word[:, word] + 0.01) / (totals + 0.01 * num_words)
                z = int(np.searchsorted(np.cumsum(weights), draw.random() * weights.sum()))
                assigned[d][i] = z
                by_document[d, z] += 1
                by_word[z, word] += 1
                totals[z] += 1
    return by_document, by_word


def topics_over_a_matrix(counts: Array, num_topics: int, sweeps: int, seed: int) -> tuple[Array, Array]:
    """The same over a matrix of counts, as an LDA trainer takes it."""
    draw = np.random.default_rng(seed)
    num_documents, num_words = counts.shape
    word_topics = np.zeros((num_words, num_topics))
    document_topics = np.zeros((num_documents, num_topics))
    totals = np.zeros(num_topics)
    where, words = np.nonzero(counts)
    z = draw.integers(0, num_topics, len(where))
    for m in range(len(where)):
        word_topics[words[m], z[m]] += 1
        document_topics[where[m], z[m]] += 1
        totals[z[m]] += 1
    for _ in range(sweeps):
        for m in range(len(where)):
            w, d, t = words[m], where[m], z[m]
            word_topics[w, t] -= 1
            document_topics[d, t] -= 1
            totals[t] -= 1
            p = (word_topics[w, :] + 0.1) / (totals + 0.1 * num_words) * (document_topics[d, :] + 0.5)
            p = np.cumsum(p / np.sum(p))
            t = int(np.argmax(p > draw.random()))
            z[m] = t
            word_topics[w, t] += 1
            document_topics[d, t] += 1
            totals[t] += 1
    return word_topics / totals, document_topics


def metropolis(data: Array, steps: int, seed: int) -> Array:
    """Mean and log-deviation of a normal, by random-walk Metropolis."""
    draw = np.random.default_rng(seed)
    at = np.zeros(2)
    value = -0.5 * np.sum(data**2)
    kept = np.empty((steps, 2))
    for step in range(steps):
        to = at + 0.1 * draw.normal(size=2)
        there = -len(data) * to[1] - 0.5 * np.sum(((data - to[0]) / np.exp(to[1])) ** 2)
        if np.log(draw.random()) < there - value:
            at, value = to, there
        kept[step] = at
    return kept


def leapfrog(position: Array) -> Array:
    return -position + 0.1 * np.sin(position)


def hamiltonian(steps: int, dimensions: int, seed: int) -> Array:
    """Hamiltonian Monte Carlo with a dozen leaps each."""
    draw = np.random.default_rng(seed)
    x = np.zeros(dimensions)
    out = []
    for _ in range(steps):
        p = draw.normal(size=dimensions)
        new, q = x.copy(), p.copy()
        for _ in range(12):
            q = q + 0.05 * leapfrog(new)
            new = new + 0.1 * q
            q = q + 0.05 * leapfrog(new)
        before = 0.5 * (p @ p) + 0.5 * (x @ x)
        after = 0.5 * (q @ q) + 0.5 * (new @ new)
        if draw.random() < math.exp(min(0.0, before - after)):
            x = new
        out.append(x.sum())
    return np.array(out)


def particle_filter(observed: Array, num_particles: int, seed: int) -> Array:
    draw = np.random.default_rng(seed)
    particles = draw.normal(size=num_particles)
    estimates = []
    for value in observed:
        particles = 0.9 * particles + 0.3 * draw.normal(size=num_particles)
        weights = np.exp(-0.5 * (value - particles) ** 2)
        weights /= weights.sum()
        estimates.append(float(weights @ particles))
        if 1.0 / np.sum(weights**2) < num_particles / 2:
            particles = particles[
                np.searchsorted(np.cumsum(weights), draw.random(num_particles)).clip(0, num_particles - 1)
            ]
    return np.array(estimates)


def kalman(observed: Array) -> tuple[Array, Array]:
    """Position and speed from noisy positions."""
    move = np.array([[1.0, 1.0], [0.0, 1.0]])
    look = np.array([[1.0, 0.0]])
    q, r = 0.01 * np.eye(2), np.array([[0.5]])
    state, spread = np.zeros(2), np.eye(2)
    states = np.zeros((len(observed), 2))
    for t in range(len(observed)):
        state = move @ state
        spread = move @ spread @ move.T + q
        surprise = observed[t] - look @ state
        s = look @ spread @ look.T + r
        gain = spread @ look.T @ np.linalg.inv(s)
        state = state + gain @ surprise
        spread = (np.eye(2) - gain @ look) @ spread
        states[t, :] = state
    return states, spread


def em_mixture(data: Array, num_groups: int, rounds: int) -> tuple[Array, Array, Array]:
    n = len(data)
    means = np.linspace(data.min(), data.max(), num_groups)
    spreads = np.ones(num_groups)
    shares = np.ones(num_groups) / num_groups
    for _ in range(rounds):
        belongs = np.zeros((n, num_groups))
        for k in range(num_groups):
            belongs[:, k] = shares[k] * np.exp(-0.5 * ((data - means[k]) / spreads[k]) ** 2) / spreads[k]
        belongs /= belongs.sum(axis=1, keepdims=True)
        for k in range(num_groups):
            total = belongs[:, k].sum()
            means[k] = (belongs[:, k] * data).sum() / total
            spreads[k] = np.sqrt((belongs[:, k] * (data - means[k]) ** 2).sum() / total)
            shares[k] = total / n
    return means, spreads, shares


def bootstrap(data: Array, rounds: int, seed: int) -> tuple[float, float]:
    draw = np.random.default_rng(seed)
    medians = []
    for _ in range(rounds):
        sample = data[draw.integers(0, len(data), len(data))]
        medians.append(np.median(sample))
    medians.sort()
    return float(medians[rounds // 20]), float(medians[-rounds // 20])


def random_walks(num_walks: int, steps: int, seed: int) -> dict[int, int]:
    """How often each place is where a walk ends."""
    random.seed(seed)
    ends: dict[int, int] = {}
    for _ in range(num_walks):
        at = 0
        for _ in range(steps):
            if random.random() < 0.5:
                at += 1
            else:
                at -= 1
        ends[at] = ends.get(at, 0) + 1
    return ends


def queue(num_customers: int, seed: int) -> tuple[float, float]:
    """One counter, customers at random: mean wait and the longest."""
    draw = np.random.default_rng(seed)
    arrived = free = total = longest = 0.0
    for _ in range(num_customers):
        arrived = arrived + draw.exponential(1.0)
        begins = max(arrived, free)
        wait = begins - arrived
        total = total + wait
        if wait > longest:
            longest = wait
        free = begins + draw.exponential(0.8)
    return total / num_customers, longest


_draw = np.random.default_rng
_documents = [[int(word) for word in _draw(number).integers(0, 60, 40)] for number in range(12)]

PROGRAMS = {
    "Gibbs: change point": (gibbs_changepoint, lambda: (_draw(0).poisson(3.0, 80), 300, 1)),
    "Gibbs: mixture": (gibbs_mixture, lambda: (_draw(0).normal(size=150), 4, 150, 1)),
    "Gibbs: Ising": (gibbs_ising, lambda: (24, 0.4, 100, 2)),
    "Gibbs: regression": (gibbs_regression, lambda: (_draw(0).normal(size=(60, 5)), _draw(1).normal(size=60), 6000, 2)),
    "Gibbs: topics": (topics, lambda: (_documents, 60, 8, 40, 3)),
    "Gibbs: topics, matrix": (topics_over_a_matrix, lambda: (_draw(3).poisson(0.5, (40, 50)), 6, 20, 3)),
    "Metropolis": (metropolis, lambda: (_draw(0).normal(size=50), 20_000, 4)),
    "Hamiltonian": (hamiltonian, lambda: (3000, 4, 5)),
    "particle filter": (particle_filter, lambda: (_draw(0).normal(size=8000), 200, 6)),
    "Kalman filter": (kalman, lambda: (_draw(0).normal(size=8000).cumsum(),)),
    "EM of a mixture": (em_mixture, lambda: (_draw(0).normal(size=500), 4, 2000)),
    "bootstrap": (bootstrap, lambda: (_draw(0).normal(size=200), 6000, 7)),
    "random walks": (random_walks, lambda: (3000, 1000, 8)),
    "queue": (queue, lambda: (200_000, 9)),
}
