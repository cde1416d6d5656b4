"""Simulations, learning, and loops over numbers and text."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def life(grid: Array, generations: int) -> Array:
    """One cell after another, on a small torus."""
    rows, columns = grid.shape
    for _ in range(generations):
        new = np.zeros_like(grid)
        for i in range(rows):
            for j in range(columns):
                alive = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if di or dj:
                            alive += grid[(i + di) % rows, (j + dj) % columns]
                new[i, j] = 1 if alive == 3 or (alive == 2 and grid[i, j]) else 0
        grid = new
    return grid


def life_rolled(grid: Array, generations: int) -> Array:
    """A whole small grid at a time."""
    for _ in range(generations):
        around = np.zeros_like(grid)
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                if di != 0 or dj != 0:
                    around += np.roll(np.roll(grid, di, axis=0), dj, axis=1)
        grid = ((around == 3) | ((grid == 1) & (around == 2))).astype(int)
    return grid


def automaton(rule: int, width: int, steps: int) -> Array:
    cells = np.zeros((steps, width), dtype=int)
    cells[0, width // 2] = 1
    for t in range(1, steps):
        for i in range(width):
            left, middle, right = cells[t - 1, i - 1], cells[t - 1, i], cells[t - 1, (i + 1) % width]
            cells[t, i] = (rule >> (4 * left + 2 * middle + right)) & 1
    return cells


def perceptron(x: Array, y: Array, epochs: int) -> tuple[Array, int]:
    w, b, mistakes = np.zeros(x.shape[1]), 0.0, 0
    for _ in range(epochs):
        for features, label in zip(x, y, strict=True):
            if label * (features @ w + b) <= 0:
                w = w + label * features
                b = b + label
                mistakes += 1
    return w, mistakes


def online_kmeans(points: Array, centres: Array) -> Array:
    centres = centres.copy()
    counts = np.ones(len(centres))
    for point in points:
        nearest = np.argmin(((centres - point) ** 2).sum(axis=1))
        counts[nearest] += 1
        centres[nearest] += (point - centres[nearest]) / counts[nearest]
    return centres


def small_network(x: Array, y: Array, steps: int, seed: int) -> tuple[Array, float]:
    """Two layers, by hand."""
    draw = np.random.default_rng(seed)
    w1, b1 = 0.5 * draw.normal(size=(2, 8)), np.zeros(8)
    w2, b2 = 0.5 * draw.normal(size=8), 0.0
    loss = 0.0
    for _ in range(steps):
        hidden = np.tanh(x @ w1 + b1)
        out = 1 / (1 + np.exp(-(hidden @ w2 + b2)))
        loss = float(-np.mean(y * np.log(out) + (1 - y) * np.log(1 - out)))
        error = (out - y) / len(y)
        d_w2 = hidden.T @ error
        d_hidden = np.outer(error, w2) * (1 - hidden**2)
        d_w1 = x.T @ d_hidden
        w1 -= 0.5 * d_w1
        b1 -= 0.5 * d_hidden.sum(axis=0)
        w2 -= 0.5 * d_w2
        b2 -= 0.5 * error.sum()
    return w1, loss


def annealing(values: list[float], steps: int, seed: int) -> tuple[float, list[int]]:
    """Split numbers in two halves of the same sum."""
    random.seed(seed)
    signs = [1] * len(values)
    gap = sum(values)
    heat = 10.0
    for _ in range(steps):
        k = random.randrange(len(values))
        new = gap - 2 * signs[k] * values[k]
        if abs(new) < abs(gap) or random.random() < math.exp((abs(gap) - abs(new)) / heat):
            signs[k] = -signs[k]
            gap = new
        heat *= 0.9999
    return gap, signs


def genetic(length: int, num_parents: int, generations: int, seed: int) -> int:
    draw = np.random.default_rng(seed)
    population = draw.integers(0, 2, (num_parents, length))
    for _ in range(generations):
        fitness = population.sum(axis=1)
        following = np.empty_like(population)
        for child in range(num_parents):
            a, b = draw.integers(0, num_parents, 2)
            mother = population[a] if fitness[a] > fitness[b] else population[b]
            c, d = draw.integers(0, num_parents, 2)
            father = population[c] if fitness[c] > fitness[d] else population[d]
            cut = draw.integers(1, length)
            following[child, :cut] = mother[:cut]
            following[child, cut:] = father[cut:]
            flips = draw.random(length) < 0.01
            following[child, flips] = 1 - following[child, flips]
        population = following
    return int(population.sum(axis=1).max())


def q_learning(episodes: int, seed: int) -> Array:
    """A walk along a corridor with a prize at its end."""
    draw = np.random.default_rng(seed)
    q = np.zeros((10, 2))
    for _ in range(episodes):
        state = 0
        while state != 9:
            action = int(draw.integers(2)) if draw.random() < 0.2 else int(np.argmax(q[state]))
            new = min(9, state + 1) if action == 1 else max(0, state - 1)
            reward = 1.0 if new == 9 else -0.01
            q[state, action] += 0.1 * (reward + 0.9 * q[new].max() - q[state, action])
            state = new
    return q


def collatz(n: int) -> tuple[int, int]:
    best, longest = 1, 1
    for start in range(1, n):
        k, steps = start, 1
        while k != 1:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            steps += 1
        if steps > longest:
            best, longest = start, steps
    return best, longest


def mandelbrot(size: int, most: int) -> Array:
    picture = np.zeros((size, size), dtype=int)
    for i in range(size):
        for j in range(size):
            c = complex(-2 + 3 * j / size, -1.5 + 3 * i / size)
            z = 0j
            for n in range(most):
                if abs(z) > 2:
                    break
                z = z * z + c
                picture[i, j] = n
    return picture


def quicksort(values: list[float]) -> list[float]:
    if len(values) <= 1:
        return values
    pivot = values[len(values) // 2]
    left = [v for v in values if v < pivot]
    middle = [v for v in values if v == pivot]
    right = [v for v in values if v > pivot]
    return quicksort(left) + middle + quicksort(right)


def insertion_sort(values: Array) -> Array:
    a = values.copy()
    for i in range(1, len(a)):
        value = a[i]
        j = i - 1
        while j >= 0 and a[j] > value:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = value
    return a


def count_words(text: str) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for line in text.split("\n"):
        for word in line.split():
            word = word.strip(".,;!?").lower()
            if word:
                counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:20]


def caesar(text: str, rounds: int) -> str:
    for shift in range(1, rounds + 1):
        out = []
        for letter in text:
            if letter.isalpha():
                base = ord("a") if letter.islower() else ord("A")
                out.append(chr((ord(letter) - base + shift) % 26 + base))
            else:
                out.append(letter)
        text = "".join(out)
    return text


def run_lengths(text: str) -> list[tuple[str, int]]:
    runs = []
    i = 0
    while i < len(text):
        j = i
        while j < len(text) and text[j] == text[i]:
            j += 1
        runs.append((text[i], j - i))
        i = j
    return runs


def histogram(values: Array, bins: int) -> tuple[Array, dict[str, int]]:
    counts = np.zeros(bins, dtype=int)
    sides = {"low": 0, "high": 0}
    for value in values:
        k = min(int(value * bins), bins - 1)
        counts[k] += 1
        if value < 0.5:
            sides["low"] += 1
        else:
            sides["high"] += 1
    return counts, sides


def moving_average(values: Array, width: int) -> Array:
    out = np.empty(len(values) - width + 1)
    for i in range(len(out)):
        out[i] = values[i : i + width].mean()
    return out


def convolve(picture: Array, kernel: Array) -> Array:
    rows, columns = picture.shape
    k = len(kernel)
    out = np.zeros((rows - k + 1, columns - k + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(picture[i : i + k, j : j + k] * kernel)
    return out


def nearest_neighbours(train: Array, labels: Array, test: Array, k: int) -> list[int]:
    found = []
    for point in test:
        distances = np.sqrt(((train - point) ** 2).sum(axis=1))
        nearest = labels[np.argsort(distances)[:k]]
        found.append(int(np.bincount(nearest).argmax()))
    return found


def correlations(x: Array) -> Array:
    n = x.shape[1]
    out = np.eye(n)
    for i in range(n):
        for j in range(i + 1, n):
            a, b = x[:, i] - x[:, i].mean(), x[:, j] - x[:, j].mean()
            out[i, j] = out[j, i] = (a @ b) / np.sqrt((a @ a) * (b @ b))
    return out


def option_price(paths: int, steps: int, seed: int) -> float:
    draw = np.random.default_rng(seed)
    total = 0.0
    for _ in range(paths):
        price = 100.0
        for z in draw.normal(size=steps):
            price *= math.exp(-0.00005 + 0.01 * z)
        total += max(price - 100.0, 0.0)
    return total / paths


_draw = np.random.default_rng
_WORDS = ["the", "Quick", "brown", "fox;", "jumps", "over", "a", "lazy", "dog.", "And", "sleeps!"]


def _words(n: int) -> str:
    return "".join(_WORDS[k] + ("\n" if k == 3 else " ") for k in _draw(0).integers(0, len(_WORDS), n))


PROGRAMS = {
    "life": (life, lambda: (_draw(0).integers(0, 2, (24, 24)), 200)),
    "life, rolled": (life_rolled, lambda: (_draw(0).integers(0, 2, (32, 32)), 1200)),
    "automaton": (automaton, lambda: (110, 300, 1000)),
    "perceptron": (perceptron, lambda: (_draw(0).normal(size=(500, 6)), np.sign(_draw(1).normal(size=500)), 200)),
    "online k-means": (online_kmeans, lambda: (_draw(0).normal(size=(30_000, 3)), _draw(1).normal(size=(5, 3)))),
    "small network": (small_network, lambda: (
        _draw(0).normal(size=(100, 2)), (_draw(1).random(100) < 0.5).astype(float), 5000, 3)),
    "annealing": (annealing, lambda: ([float(v) for v in _draw(0).random(60)], 300_000, 1)),
    "genetic": (genetic, lambda: (40, 50, 200, 2)),
    "Q-learning": (q_learning, lambda: (3000, 3)),
    "Collatz": (collatz, lambda: (30_000,)),
    "Mandelbrot": (mandelbrot, lambda: (240, 60)),
    "quicksort": (quicksort, lambda: ([float(v) for v in _draw(0).random(100_000)],)),
    "insertion sort": (insertion_sort, lambda: (_draw(0).random(2500),)),
    "count words": (count_words, lambda: (_words(1_000_000),)),
    "Caesar": (caesar, lambda: (_words(8000), 60)),
    "run lengths": (run_lengths, lambda: (_words(150_000).replace("e", "o"),)),
    "histogram": (histogram, lambda: (_draw(0).random(500_000), 40)),
    "moving average": (moving_average, lambda: (_draw(0).random(80_000), 25)),
    "convolution": (convolve, lambda: (_draw(0).random((260, 260)), _draw(1).random((3, 3)))),
    "nearest neighbours": (nearest_neighbours, lambda: (
        _draw(0).random((400, 3)), _draw(1).integers(0, 4, 400), _draw(2).random((5000, 3)), 5)),
    "correlations": (correlations, lambda: (_draw(0).random((100, 180)),)),
    "option price": (option_price, lambda: (4000, 250, 5)),
}  # fmt: skip
