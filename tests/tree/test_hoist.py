"""Statements taken apart: what is evaluated first, and that Python's order stays."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.tree.hoist import taken_apart
from argosy.tree.source import HIDDEN_NAMES


def apart(text: str) -> list[str] | None:
    """The assignments that come first and what is left, as text with short names."""
    (node,) = ast.parse(text).body
    found = taken_apart(node)
    if found is None:
        return None
    first, left = found
    lines = [*[f"{name} = {ast.unparse(part)}" for name, part in first], ast.unparse(left)]
    for number, name in enumerate(HIDDEN_NAMES):
        lines = [line.replace(name, f"_{number}") for line in lines]
    return lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("x = rows.filter(a).collect()", ["_0 = rows.filter(a)", "x = _0.collect()"]),
        ("return f(g(x), h(y))", ["_0 = g(x)", "_1 = h(y)", "return f(_0, _1)"]),
        ("x = f(g(h(y)))", ["_0 = g(h(y))", "x = f(_0)"]),
        ("x = f(a) + g(b)", ["_0 = f(a)", "_1 = g(b)", "x = _0 + _1"]),
        ("x = f(a) < b", ["_0 = f(a)", "x = _0 < b"]),
        ("x = f(a)[0]", ["_0 = f(a)", "x = _0[0]"]),
        ("x = f(a).shape", ["_0 = f(a)", "x = _0.shape"]),
        ("f(a, [b, c], key=g(e))", ["_0 = g(e)", "f(a, [b, c], key=_0)"]),
        ("x = f(1, {'k': v}, g(e))", ["_0 = g(e)", "x = f(1, {'k': v}, _0)"]),
        ("x: int = f(g(a))", ["_0 = g(a)", "x: int = f(_0)"]),
        ("x[g(i)] = f(h(a))", ["_0 = h(a)", "x[g(i)] = f(_0)"]),
    ],
)
def test_calls_inside_come_first_in_order(text: str, lines: list[str]) -> None:
    assert apart(text) == lines


@pytest.mark.parametrize(
    "text",
    [
        "x = f(a)",  # nothing inside
        "x = y",
        "pass",
        "return",
        "x += f(g(a))",
        "x = f(*g(a))",  # how many there are is not known
        "x = f(**g(a))",
        "x = f(a[0], g(b))",  # a[0] would come after g, which may change it
        "x = f(a + b, g(b))",
        "x = f(a) < g(b) < h(c)",  # the last one may not be evaluated
        "x = f(a) and g(b)",
        "x = f(a) if g(b) else c",
        "x = [f(g(a))]",
        "x = f(f'{a}', g(b))",
        "x = f({**a}, g(b))",
        "x = f(a.n, g(a))",  # g may change a.n
        f"x = f({', '.join(f'g({n})' for n in range(len(HIDDEN_NAMES) + 1))})",
    ],
)
def test_what_would_change_the_order_is_left_alone(text: str) -> None:
    assert apart(text) is None


def test_a_name_that_an_inner_call_binds_is_looked_up_before_it() -> None:
    assert apart("x = f(a, g((a := 2)))") is None


def test_an_expression_is_taken_apart_too() -> None:
    node = ast.parse("f(g(x))", mode="eval").body
    found = taken_apart(node)
    assert found is not None
    assert ast.unparse(found[1]) == f"f({HIDDEN_NAMES[0]})"
    assert ast.unparse(node) == "f(g(x))", "the original is as it was"


class Traced:
    """Notes the calls and operators made on it, and gives something that tells how it was made."""

    def __init__(self, text: str, log: list[str]) -> None:
        self.text = text
        self.log = log

    def _made(self, text: str) -> Traced:
        self.log.append(text)
        return Traced(text, self.log)

    def __call__(self, *args: Any, **words: Any) -> Traced:
        given = [*map(repr, args), *[f"{name}={value!r}" for name, value in words.items()]]
        return self._made(f"{self.text}({', '.join(given)})")

    def __add__(self, other: Any) -> Traced:
        return self._made(f"({self.text} + {other!r})")

    def __lt__(self, other: Any) -> Traced:
        return self._made(f"({self.text} < {other!r})")

    def __getitem__(self, index: Any) -> Traced:
        return self._made(f"{self.text}[{index!r}]")

    def __getattr__(self, name: str) -> Traced:
        return Traced(f"{self.text}.{name}", self.log)

    def __repr__(self) -> str:
        return self.text


variables = ("f", "g", "a", "b")
several = st.lists
expressions = st.recursive(
    st.sampled_from(variables),
    lambda inner: (
        st.tuples(inner, several(inner, max_size=3)).map(lambda p: f"{p[0]}({', '.join(p[1])})")
        | st.tuples(inner, inner).map(lambda p: f"{p[0]}.m(k={p[1]})")
        | st.tuples(inner, st.sampled_from("+<"), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})")
        | st.tuples(inner, inner).map(lambda p: f"{p[0]}[{p[1]}]")
        | inner.map("{}.n".format)
        | several(inner, max_size=2).map(lambda parts: f"[{', '.join(parts)}]")
    ),
    max_leaves=8,
)


def run(lines: list[str]) -> tuple[list[str], str]:
    log: list[str] = []
    names: dict[str, Any] = {name: Traced(name, log) for name in variables}
    try:
        exec("\n".join(lines), names)
    except TypeError as error:  # a list is called
        return log, str(error)
    return log, repr(names["x"])


@settings(max_examples=100, deadline=None)
@given(expressions)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_parts_evaluated_one_by_one_make_the_same_calls_in_the_same_order(text: str) -> None:
    lines = apart(f"x = {text}")
    if lines is not None:
        assert run(lines) == run([f"x = {text}"])
