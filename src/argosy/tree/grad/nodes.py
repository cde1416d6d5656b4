"""The way back: from the gradient of a result to those of what it was made from.

A node stands for one value of the forward run and knows how to hand its gradient on. Nodes are numbered in the order
of the run, so going back from the highest number meets each node when its gradient is complete. A node that no result
depends on is freed as soon as its value is.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

Pull = Callable[[Any], Any]
"""From the gradient of a result to that of one input. It may have any shape that broadcasts with the input's."""
Back = Callable[[Any, "Gradients"], None]

_numbers = count(1)


class Node:
    __slots__ = ("back", "dtype", "number", "shape")

    def __init__(self, like: Any, back: Back | None = None) -> None:
        self.number = next(_numbers)
        if hasattr(like, "dtype"):
            self.shape: tuple[int, ...] = like.shape
            self.dtype: np.dtype[Any] = like.dtype
        else:
            self.shape, self.dtype = (), np.dtype(type(like))
        self.back = back


def linked(links: list[tuple[Node, Pull]]) -> Back:
    """By each of these ways into each of these nodes."""
    if len(links) == 1:
        ((only, only_pull),) = links
        return lambda g, gradients: gradients.add(only, only_pull(g))

    def back(g: Any, gradients: Gradients) -> None:
        for node, pull in links:
            gradients.add(node, pull(g))

    return back


class Gradients:
    """The gradients that are known so far. One that is *owned* may be written in place."""

    def __init__(self, fresh: Callable[[Any], Any]) -> None:
        self._fresh = fresh
        """Makes a new array one that outer tapes can follow."""
        self._known: dict[int, Any] = {}
        self._owned: set[int] = set()
        self._ahead: list[tuple[int, Node]] = []

    def add(self, node: Node, g: Any) -> None:
        """`g` in any shape that broadcasts with the node's."""
        number = node.number
        if getattr(g, "shape", ()) != node.shape or getattr(g, "dtype", node.dtype) != node.dtype:
            g = _fit(g, node)
        if number not in self._known:
            self._known[number] = g
            heapq.heappush(self._ahead, (-number, node))
        elif number in self._owned:
            self._known[number] += g
        else:
            self._known[number] = self._known[number] + g
            if node.shape:
                self._owned.add(number)

    def buffer(self, node: Node) -> Any:
        """The gradient of this node as an array that may be written."""
        number = node.number
        if number not in self._known:
            self.give(node, self._fresh(np.zeros(node.shape, node.dtype)))
        elif number not in self._owned:
            self._known[number] = self.copied(self._known[number], node)
            self._owned.add(number)
        return self._known[number]

    def give(self, node: Node, g: Any) -> None:
        """Like `add`, of an array that nobody else will use."""
        first = node.number not in self._known
        self.add(node, g)
        if first:
            self._owned.add(node.number)

    def own(self, g: Any, node: Node) -> Any:
        """The gradient that was handed to this node, as an array that may be written."""
        return g if node.number in self._owned else self.copied(g, node)

    def copied(self, g: Any, node: Node) -> Any:
        """A copy that may be written, with its elements in the order of C."""
        copy = self._fresh(np.empty(node.shape, node.dtype))
        copy[...] = g
        return copy

    def known(self, node: Node) -> Any:
        """None where nothing reached it."""
        return self._known.get(node.number)

    def run(self, last: Node, seed: Any) -> None:
        """Back from one result to all that it depends on. What the run kept for this is freed on the way."""
        self.add(last, seed)
        with np.errstate(all="ignore"):
            while self._ahead:
                _, node = heapq.heappop(self._ahead)
                back = node.back
                if back is None:
                    continue
                node.back = None
                g = self._known.pop(node.number)
                back(g, self)
                self._owned.discard(node.number)


def _fit(g: Any, node: Node) -> Any:
    """Summed over the axes that were broadcast, spread over those that were reduced, in the node's dtype."""
    shape = getattr(g, "shape", ())
    if shape == () and issubclass(type(g), float | np.generic | np.ndarray):
        return np.full(node.shape, g, node.dtype)
    if shape != node.shape:
        extra = len(shape) - len(node.shape)
        if extra > 0:
            g = np.sum(g, axis=tuple(range(extra)))
            shape = shape[extra:]
        elif extra < 0:
            shape = (1,) * -extra + shape
            g = np.reshape(g, shape)
        axes = tuple(i for i, n in enumerate(node.shape) if n == 1 and shape[i] != 1)
        if axes:
            g = np.sum(g, axis=axes, keepdims=True)
        if getattr(g, "shape", ()) != node.shape:
            g = np.broadcast_to(g, node.shape)
    if getattr(g, "dtype", node.dtype) != node.dtype:
        g = g.astype(node.dtype)
    return g
