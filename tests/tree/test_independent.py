"""Which loops have iterations, and which comprehensions have elements, that do not depend on one another."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from tree.effects.written import body

from argosy.tree.independent import independent_elements, independent_iterations
from argosy.tree.kinds import kind_of

OUTSIDE = np.ones(8)
VALUES: dict[str, Any] = {
    "a": np.arange(8.0), "b": np.arange(8.0) + 1, "m": np.ones((8, 8)), "k": 3, "n": 8, "l": [1.0] * 8,
    "rows": [np.ones(8), np.zeros(8)], "rng": np.random.default_rng(0), "unknown": object(),
}  # fmt: skip


def helper(x: Any, y: Any) -> Any:
    return x * y


def stores(x: Any, at: Any) -> Any:
    x[at] = 1.0
    return at


def judged(text: str) -> dict[str, int] | None:
    """Arrays that are written, with their axes; None when the iterations are not independent."""
    source = body(text, ", ".join(VALUES), np=np, OUTSIDE=OUTSIDE, helper=helper, stores=stores)
    loop = next(node for node in ast.walk(source.tree) if isinstance(node, ast.For))
    inputs = tuple(VALUES)
    found = independent_iterations(source, loop, inputs, [kind_of(VALUES[name]) for name in inputs])
    return None if found is None else dict(found.written)


@pytest.mark.parametrize(
    ("lines", "written"),
    [
        ("a[i] = b[i] * 2", {"a": 0}),
        ("a[i] = a[i] + 1", {"a": 0}),
        ("m[i, :] = m[i, 0] + b", {"m": 0}),
        ("m[:, i] = b", {"m": 1}),
        ("m[2, i] = b[i] + m[3, i]", {"m": 1}),
        ("m[i][k] = b[k]", {"m": 0}),
        ("a[i] = 1\nm[i] = 2", {"a": 0, "m": 0}),
        ("t = m[i]\nt[0] = 5", {"m": 0}),
        ("t = np.zeros(3)\nt[0] = i\na[i] = t.sum()", {"a": 0}),
        ("a[i] = helper(b, i).sum()", {"a": 0}),
        ("a[i] = OUTSIDE[i]", {"a": 0}),
        ("if i > 3:\n    a[i] = 1\nelse:\n    a[i] = b[i]", {"a": 0}),
        ("a[i] = l[i]", {"a": 0}),
        ("a[i] = sum([v * 2 for v in b])", {"a": 0}),
    ],
)
def test_iterations_that_write_memory_of_their_own_are_independent(lines: str, written: dict[str, int]) -> None:
    inside = "\n".join("    " + line for line in lines.splitlines())
    assert judged(f"for i in range(n):\n{inside}") == written


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("a[i] = a[i - 1]", "reads what another writes"),
        ("a[0] = i", "all write one element"),
        ("a[i + 1] = 1", "not at the loop variable itself"),
        ("a[k] = i", "not at the loop variable"),
        ("m[:, i] = 1\nm[i] = 2", "two axes"),
        ("m[i] = m[:, i]", "reads along another axis"),
        ("a[i] = a.sum()", "reads the whole"),
        ("a[i] = m.sum()\nm[i] = 1", "reads the whole of what is written"),
        ("t = t + i\na[i] = t", "carried from one to the next"),
        ("if i:\n    t = 1\na[i] = 1", "a variable keeps its value when it is not bound"),
        ("for j in range(i):\n    t = j\na[i] = 1", "a variable keeps its value when the inner loop is empty"),
        ("i = i + 1\na[i] = 1", "binds the loop variable"),
        ("l[i] = 1.0", "a list, not an array"),
        ("rows[0][i] = 1.0", "an array in a list"),
        ("a[i] = rng.random()", "the order of random numbers"),
        ("a[i] = np.random.random()", "hidden state"),
        ("a[i] = unknown.x", "may run anything"),
        ("print(i)\na[i] = 1", "prints"),
        ("a[i] = stores(b, i)", "a function that stores somewhere"),
        ("m[None, i] = 1", "the axes are moved"),
        ("m[..., i] = 1", "the axes are moved"),
        ("m[b, i] = 1", "an array in front"),
        ("m[True, i] = 1", "not a whole number"),
        ("a = b\na[i] = 1", "the array is another one inside"),
        ("OUTSIDE[i] = 1", "not an input"),
        ("a[[i for i in range(2)]] = 1", "another variable of the same name"),
        ("l.append(i)", "the order of elements"),
        pytest.param("if i > 3:\n    continue\nt = i\na[i] = t", "a variable keeps its value when it is not bound"),
        pytest.param("a[i] = (i > 3 and (t := i)) + 1.0", "a variable keeps its value when it is not bound"),
    ],
)
def test_other_iterations_are_not(lines: str, why: str) -> None:
    inside = "\n".join("    " + line for line in lines.splitlines())
    assert judged(f"t = 0\nfor i in range(n):\n{inside}") is None, why


def elements(text: str) -> Any:
    source = body(f"return {text}", ", ".join(VALUES), np=np, OUTSIDE=OUTSIDE, helper=helper, stores=stores)
    node = next(node for node in ast.walk(source.tree) if isinstance(node, (ast.ListComp, ast.GeneratorExp)))
    inputs = tuple(VALUES)
    return independent_elements(source, node, inputs, [kind_of(VALUES[name]) for name in inputs])


@pytest.mark.parametrize(
    "text",
    [
        "[i * 2 for i in range(n)]",
        "sum(row.sum() for row in m)",
        "[helper(row, k) for row in rows if row[0] > 0]",
        "[x + y for x in a for y in b]",
        "[OUTSIDE[i] * 2 for i in range(n)]",
        "[a[i] for i in range(n)]",
        "[np.zeros(3) for _ in range(n)]",
    ],
)
def test_elements_that_change_nothing_are_independent(text: str) -> None:
    found = elements(text)
    assert found is not None
    assert found.written == ()


@pytest.mark.parametrize(
    "text",
    [
        "[rng.random() for _ in range(n)]",
        "[np.random.random() for _ in range(n)]",
        "[l.pop() for _ in range(n)]",
        "[stores(a, i) for i in range(n)]",
        "[print(i) for i in range(n)]",
        "[unknown.x for i in range(n)]",
        "[v for v in unknown]",
        "[(lambda: i) for i in range(n)]",
    ],
)
def test_other_elements_are_not(text: str) -> None:
    assert elements(text) is None
