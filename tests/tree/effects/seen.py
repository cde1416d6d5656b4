"""The effects of a piece as a few words, and a check of them against what running it really does."""

from __future__ import annotations

import ast
import copy
import math
from typing import Any

import numpy as np
from tree.effects.written import body, statements

from argosy.tree.effects import Effects, analyse
from argosy.tree.kinds import ARRAY, ATOM, MADE, RESULT, RNG, UNKNOWN, VALUE, AnyKind, Box, is_still, join, kind_of
from argosy.tree.names import names_of

OUTSIDE = np.arange(6.0)
OUTSIDE_LIST = [1.0, 2.0]
CONSTANT = 3


def double(x: Any) -> Any:
    return x * 2


def itself(x: Any) -> Any:
    return x


def fill(x: Any, value: Any = 1.0) -> None:
    x[0] = value


def keep(box: Any, x: Any) -> Any:
    box.append(x)
    return box


def outside() -> Any:
    return OUTSIDE


def countdown(n: Any, x: Any) -> Any:
    if n == 0:
        return x
    return countdown(n - 1, x)


class OfTheUser:
    x = 1


def values() -> dict[str, Any]:
    """One of each kind, made anew."""
    return {
        "a": np.arange(6.0), "b": np.arange(6.0) + 1, "m": np.ones((6, 6)), "mask": np.arange(6) > 2,
        "i": 1, "j": 2, "s": "text", "t": (0,), "part": slice(0, 2), "l": [1.0, 2.0], "la": [np.ones(2), np.zeros(2)],
        "ta": (np.ones(2), np.zeros(2)), "d": {"k": 1.0}, "da": {"k": np.ones(2)}, "e": [],
        "rng": np.random.default_rng(0), "u": OfTheUser(),
    }  # fmt: skip


GLOBALS: dict[str, Any] = {
    "np": np, "math": math, "OUTSIDE": OUTSIDE, "OUTSIDE_LIST": OUTSIDE_LIST, "CONSTANT": CONSTANT, "double": double,
    "itself": itself, "fill": fill, "keep": keep, "outside": outside, "countdown": countdown,
}  # fmt: skip


class Piece:
    """A piece over the variables above: its effects as the analysis sees them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.source = body(text, ", ".join(values()), **GLOBALS)
        names = names_of(statements(text))
        self.inputs = tuple(sorted(names.exposed & set(values())))
        self.outs = tuple(sorted(names.bound & self.source.local_names))

    def effects(self) -> Effects:
        there = values()
        kinds = [kind_of(there[name]) for name in self.inputs]
        return analyse(self.source, self.source.tree.body, self.inputs, kinds, self.outs)

    def words(self) -> str:
        """`x: array of a` is a result that may share memory with a; a bare `x: array` is new."""
        effects = self.effects()
        sources = [*self.inputs, *[outer.name for outer in effects.outers]]
        found = []
        for writes, word in ((False, "reads"), (True, "writes")):
            touched = [access for access in effects.accesses if access.writes is writes]
            names = sorted(
                sources[a.source] + (f"[{ast.unparse(a.index)}]" if a.index is not None else "") for a in touched
            )
            if names:
                found.append(f"{word} {' '.join(dict.fromkeys(names))}")
        found += ["links " + " ".join(sorted(sources[n] for n in link)) for link in effects.links]
        found += [f"state {name}" for name in sorted(effects.states)]
        names = [*self.outs, "return"]
        for name, out in zip(names, effects.outs, strict=False):
            shared = " ".join(sorted(sources[number] for number in out.sources))
            found.append(f"{name}: {word_of(out.kind)}" + (f" of {shared}" if shared else ""))
        return "; ".join(found)

    def run(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """The inputs before and after, and the results."""
        there = {name: value for name, value in values().items() if name in self.inputs}
        before = copy.deepcopy(there)
        names = {**GLOBALS, **there}
        tree = ast.parse(self.text)
        for node in tree.body:
            if isinstance(node, ast.Return):
                node.value = ast.NamedExpr(ast.Name("result", ast.Store()), node.value or ast.Constant(None))
        made = [ast.Expr(node.value) if isinstance(node, ast.Return) and node.value else node for node in tree.body]
        module = ast.fix_missing_locations(ast.Module(body=made, type_ignores=[]))
        exec(compile(module, "<piece>", "exec"), names)
        results = [*self.outs, *(["result"] if "result" in names else [])]
        return before, there, {name: names[name] for name in results}


def word_of(kind: AnyKind) -> str:
    if isinstance(kind, Box):
        return f"{kind.tag}<{word_of(kind.item)}>"
    words = [
        *((ATOM, "atom"), (ARRAY, "array"), (VALUE, "value"), (RESULT, "result")),
        *((MADE, "made"), (UNKNOWN, "unknown"), (RNG, "rng")),
    ]
    return next((word for its, word in words if its is kind), str(kind))


def covers(kind: AnyKind, value: Any) -> bool:
    """Whether the value is of the kind, or of one that it stands for."""
    found = kind_of(value)
    if kind is ATOM:
        return is_still(found)
    return kind is UNKNOWN or join(kind, found) == kind or (kind is RESULT and isinstance(found, Box))


def arrays_in(value: Any) -> list[np.ndarray]:
    if type(value) is np.ndarray:
        return [value]
    inner = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
    return [array for element in inner for array in arrays_in(element)]


def boxes_in(value: Any) -> list[int]:
    if type(value) not in (list, dict):
        return []
    inner = value.values() if type(value) is dict else value
    return [id(value), *[box for element in inner for box in boxes_in(element)]]


def share(one: Any, other: Any) -> bool:
    if set(boxes_in(one)) & set(boxes_in(other)):
        return True
    return any(np.shares_memory(x, y) for x in arrays_in(one) for y in arrays_in(other))


def same(one: Any, other: Any) -> bool:
    if type(one) is np.random.Generator:
        return bool(one.bit_generator.state == other.bit_generator.state)
    if type(one) is OfTheUser:
        return True
    try:
        np.testing.assert_equal(one, other)
    except AssertionError:
        return False
    return True
