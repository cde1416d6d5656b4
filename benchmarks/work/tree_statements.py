"""Functions of many statements that do next to nothing: as a loop, and as a file with a line for each of them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from itertools import chain as joined
from pathlib import Path
from typing import Any

import numpy as np

from work.tree_programs import Array


def chain(x: Array, y: Array, count: int) -> Array:
    """Each needs the one before."""
    for _ in range(count):
        x = np.add(x, y)
    return x


def independent(x: Array, y: Array, count: int) -> Array:
    """None needs another."""
    z = x
    for _ in range(count):
        z = np.add(x, y)
    return z


def two_wide(x: Array, y: Array, count: int) -> tuple[Array, Array]:
    """Two chains, a statement of each in turn."""
    z = x
    for _ in range(count // 2):
        x = np.add(x, y)
        z = np.add(z, y)
    return x, z


LOOPS: dict[str, Callable[..., Any]] = {"chain": chain, "independent": independent, "two wide": two_wide}


def arguments() -> tuple[Array, Array]:
    return np.array([1.0]), np.array([2.0])


def written_out(shape: str, count: int, folder: Path) -> Callable[..., Any]:
    """The same as the loop of that name, but for its `count`, which is the number of lines in a file of its own."""
    lines = {
        "chain": lambda: ["x = np.add(x, y)"] * count + ["return x"],
        "independent": lambda: [f"z{number} = np.add(x, y)" for number in range(count)] + [f"return z{count - 1}"],
        "two wide": lambda: [
            "z = x",
            *joined(*[("x = np.add(x, y)", "z = np.add(z, y)")] * (count // 2)),
            "return x, z",
        ],
    }
    name = f"{shape.replace(' ', '_')}_{count}"
    body = "\n".join(f"    {line}" for line in lines[shape]())
    path = folder / f"{name}.py"
    path.write_text(f"import numpy as np\n\n\ndef {name}(x, y):\n{body}\n")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None  # a file of Python has one
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[..., Any] = getattr(module, name)
    return function
