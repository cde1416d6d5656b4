"""Dynamic programs, graphs and search: loops over tables, lists, dicts and heaps."""

from __future__ import annotations

import heapq
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Graph = dict[int, list[tuple[int, float]]]


def viterbi(seen: Array, start: Array, moves: Array, shows: Array) -> list[int]:
    n, states = len(seen), len(start)
    best = np.zeros((n, states))
    came = np.zeros((n, states), dtype=int)
    best[0] = np.log(start) + np.log(shows[:, seen[0]])
    for t in range(1, n):
        for s in range(states):
            ways = best[t - 1] + np.log(moves[:, s])
            came[t, s] = np.argmax(ways)
            best[t, s] = ways[came[t, s]] + np.log(shows[s, seen[t]])
    path = [int(np.argmax(best[-1]))]
    for t in range(n - 1, 0, -1):
        path.append(int(came[t, path[-1]]))
    return path[::-1]


def forward_backward(seen: Array, start: Array, moves: Array, shows: Array) -> Array:
    n, states = len(seen), len(start)
    forward = np.zeros((n, states))
    backward = np.ones((n, states))
    forward[0] = start * shows[:, seen[0]]
    forward[0] /= forward[0].sum()
    for t in range(1, n):
        forward[t] = (forward[t - 1] @ moves) * shows[:, seen[t]]
        forward[t] /= forward[t].sum()
    for t in range(n - 2, -1, -1):
        backward[t] = moves @ (shows[:, seen[t + 1]] * backward[t + 1])
        backward[t] /= backward[t].sum()
    both = forward * backward
    return both / both.sum(axis=1, keepdims=True)


def needleman_wunsch(a: str, b: str) -> tuple[float, str]:
    table = np.zeros((len(a) + 1, len(b) + 1))
    table[:, 0] = -np.arange(len(a) + 1)
    table[0, :] = -np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            match = table[i - 1, j - 1] + (1 if a[i - 1] == b[j - 1] else -1)
            table[i, j] = max(match, table[i - 1, j] - 1, table[i, j - 1] - 1)
    i, j, out = len(a), len(b), []
    while i > 0 and j > 0:
        if table[i, j] == table[i - 1, j - 1] + (1 if a[i - 1] == b[j - 1] else -1):
            out.append(a[i - 1])
            i, j = i - 1, j - 1
        elif table[i, j] == table[i - 1, j] - 1:
            out.append("-")
            i -= 1
        else:
            j -= 1
    return float(table[-1, -1]), "".join(reversed(out))


def edit_distance(words: list[str], word: str) -> list[int]:
    found = []
    for other in words:
        above = list(range(len(other) + 1))
        for i, one in enumerate(word, 1):
            row = [i]
            for j, two in enumerate(other, 1):
                row.append(min(row[j - 1] + 1, above[j] + 1, above[j - 1] + (one != two)))
            above = row
        found.append(above[-1])
    return found


def knapsack(weights: list[int], values: list[int], capacity: int) -> int:
    best = [0] * (capacity + 1)
    for weight, value in zip(weights, values, strict=True):
        for room in range(capacity, weight - 1, -1):
            taken = best[room - weight] + value
            if taken > best[room]:
                best[room] = taken
    return best[capacity]


def knapsack_rows(weights: Array, values: Array, capacity: int) -> float:
    """The same with a row of the table at a time."""
    table = np.zeros((len(weights) + 1, capacity + 1))
    for i in range(1, len(weights) + 1):
        w = weights[i - 1]
        table[i, :w] = table[i - 1, :w]
        table[i, w:] = np.maximum(table[i - 1, w:], table[i - 1, : capacity + 1 - w] + values[i - 1])
    return float(table[-1, -1])


def common_subsequence(a: str, b: str) -> int:
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                table[i + 1, j + 1] = table[i, j] + 1
            else:
                table[i + 1, j + 1] = max(table[i, j + 1], table[i + 1, j])
    return int(table[-1, -1])


def floyd_warshall(distances: Array) -> Array:
    d = distances.copy()
    n = len(d)
    for k in range(n):
        for i in range(n):
            d[i, :] = np.minimum(d[i, :], d[i, k] + d[k, :])
    return d


def dijkstra(graph: Graph, sources: list[int]) -> list[float]:
    sums = []
    for source in sources:
        distance = {source: 0.0}
        heap = [(0.0, source)]
        while heap:
            so_far, node = heapq.heappop(heap)
            if so_far > distance[node]:
                continue
            for other, length in graph[node]:
                there = so_far + length
                if there < distance.get(other, float("inf")):
                    distance[other] = there
                    heapq.heappush(heap, (there, other))
        sums.append(sum(distance.values()))
    return sums


def breadth_first(graph: Graph, rounds: int) -> int:
    total = 0
    for source in range(rounds):
        depth = {source: 0}
        waiting = deque([source])
        while waiting:
            node = waiting.popleft()
            for other, _ in graph[node]:
                if other not in depth:
                    depth[other] = depth[node] + 1
                    waiting.append(other)
        total += max(depth.values())
    return total


def union_find(n: int, pairs: list[tuple[int, int]]) -> int:
    parent = list(range(n))
    groups = n
    for a, b in pairs:
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a != b:
            parent[a] = b
            groups -= 1
    return groups


def sieve(n: int) -> int:
    prime = [True] * (n + 1)
    prime[0] = prime[1] = False
    for p in range(2, int(n**0.5) + 1):
        if prime[p]:
            for multiple in range(p * p, n + 1, p):
                prime[multiple] = False
    return sum(prime)


def matrix_chain(sizes: list[int]) -> int:
    n = len(sizes) - 1
    cost = [[0] * n for _ in range(n)]
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i][j] = min(cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j))
    return cost[0][n - 1]


def pagerank(links: list[list[int]], rounds: int) -> Array:
    n = len(links)
    rank = np.ones(n) / n
    for _ in range(rounds):
        new = np.full(n, 0.15 / n)
        for page, targets in enumerate(links):
            share = 0.85 * rank[page] / len(targets)
            for target in targets:
                new[target] += share
        rank = new
    return rank


def two_opt(places: Array) -> tuple[float, list[int]]:
    n = len(places)
    apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=-1))
    tour = list(range(n))
    better = True
    while better:
        better = False
        for i in range(1, n - 2):
            for j in range(i + 1, n - 1):
                before = apart[tour[i - 1], tour[i]] + apart[tour[j], tour[j + 1]]
                after = apart[tour[i - 1], tour[j]] + apart[tour[i], tour[j + 1]]
                if after < before - 1e-12:
                    tour[i : j + 1] = tour[i : j + 1][::-1]
                    better = True
    return float(sum(apart[tour[k], tour[k - 1]] for k in range(n))), tour


def fits(board: list[list[int]], row: int, column: int, digit: int) -> bool:
    for k in range(9):
        if board[row][k] == digit or board[k][column] == digit:
            return False
    top, left = 3 * (row // 3), 3 * (column // 3)
    for i in range(top, top + 3):
        for j in range(left, left + 3):
            if board[i][j] == digit:
                return False
    return True


def sudoku(board: list[list[int]]) -> bool:
    for row in range(9):
        for column in range(9):
            if board[row][column] == 0:
                for digit in range(1, 10):
                    if fits(board, row, column, digit):
                        board[row][column] = digit
                        if sudoku(board):
                            return True
                        board[row][column] = 0
                return False
    return True


def queens(n: int) -> int:
    count = 0
    stack: list[tuple[int, ...]] = [()]
    while stack:
        placed = stack.pop()
        if len(placed) == n:
            count += 1
            continue
        row = len(placed)
        for column in range(n):
            if all(column != c and abs(column - c) != row - r for r, c in enumerate(placed)):
                stack.append((*placed, column))  # noqa: PERF401
    return count


def permutations(values: list[int], start: int) -> int:
    """Heap-like recursion with a count of those that rise at the end."""
    if start == len(values) - 1:
        return int(values[-1] > values[-2])
    total = 0
    for i in range(start, len(values)):
        values[start], values[i] = values[i], values[start]
        total += permutations(values, start + 1)
        values[start], values[i] = values[i], values[start]
    return total


def _chain(seed: int, states: int, symbols: int, n: int) -> tuple[Array, Array, Array, Array]:
    draw = np.random.default_rng(seed)
    moves, shows = draw.random((states, states)), draw.random((states, symbols))
    moves, shows = moves / moves.sum(axis=1, keepdims=True), shows / shows.sum(axis=1, keepdims=True)
    return draw.integers(0, symbols, n), np.ones(states) / states, moves, shows


def _text(seed: int, n: int, letters: str = "ACGT") -> str:
    return "".join(letters[k] for k in np.random.default_rng(seed).integers(0, len(letters), n))


def _graph(seed: int, n: int, each: int) -> Graph:
    draw = np.random.default_rng(seed)
    return {k: [(int(o), float(draw.random())) for o in draw.integers(0, n, each)] for k in range(n)}


_PUZZLE = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"


def _board() -> list[list[int]]:
    digits = [0 if letter == "." else int(letter) for letter in _PUZZLE]
    digits[0] = digits[10] = digits[40] = digits[4] = digits[13] = 0
    return [digits[9 * row : 9 * row + 9] for row in range(9)]


_draw = np.random.default_rng

PROGRAMS = {
    "Viterbi": (viterbi, lambda: _chain(0, 6, 8, 8000)),
    "forward-backward": (forward_backward, lambda: _chain(0, 6, 8, 15_000)),
    "Needleman-Wunsch": (needleman_wunsch, lambda: (_text(0, 450), _text(1, 450))),
    "edit distance": (edit_distance, lambda: ([_text(k, 40) for k in range(400)], _text(999, 40))),
    "knapsack": (knapsack, lambda: (
        [int(k) for k in _draw(0).integers(5, 60, 100)], [int(k) for k in _draw(1).integers(1, 99, 100)], 20_000)),
    "knapsack, rows": (knapsack_rows, lambda: (_draw(0).integers(5, 60, 8000), _draw(1).random(8000), 2000)),
    "common subsequence": (common_subsequence, lambda: (_text(0, 600), _text(1, 600))),
    "Floyd-Warshall": (floyd_warshall, lambda: (_draw(0).random((300, 300)),)),
    "Dijkstra": (dijkstra, lambda: (_graph(0, 2000, 6), list(range(20)))),
    "breadth first": (breadth_first, lambda: (_graph(0, 2000, 5), 150)),
    "union-find": (union_find, lambda: (
        100_000, [(int(a), int(b)) for a, b in _draw(0).integers(0, 100_000, (400_000, 2))])),
    "sieve": (sieve, lambda: (2_000_000,)),
    "matrix chain": (matrix_chain, lambda: ([int(k) for k in _draw(0).integers(2, 50, 180)],)),
    "PageRank": (pagerank, lambda: ([[int(k) for k in _draw(s).integers(0, 500, 6)] for s in range(500)], 400)),
    "2-opt": (two_opt, lambda: (_draw(0).random((200, 2)),)),
    "Sudoku": (sudoku, lambda: (_board(),)),
    "queens": (queens, lambda: (9,)),
    "permutations": (permutations, lambda: ([*range(9)], 0)),
}  # fmt: skip
