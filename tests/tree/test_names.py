"""What a piece reads and binds, against what running it really reads and binds."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tree.effects.written import statements

from argosy.tree.names import Names, captures, free_names, names_of

VARIABLES = ("a", "b", "c", "d")


class Recorded(dict[str, Any]):
    """Local variables that note what is read before it was bound here, and what is bound."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(VARIABLES, 1))
        self.inside: set[str] = set()
        self.exposed: set[str] = set()
        self.bound: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        if name not in self.inside:
            self.exposed.add(name)
        return value

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self.inside.add(name)
        self.bound.add(name)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        if name not in self.inside:
            self.exposed.add(name)
        self.inside.discard(name)
        self.bound.add(name)


def check(text: str) -> None:
    names = names_of(statements(text))
    recorded = Recorded()
    try:
        exec(compile(text, "<random>", "exec"), {}, recorded)
        ended = True
    except (NameError, ZeroDivisionError):
        ended = False
    assert recorded.exposed <= names.exposed
    assert recorded.bound <= names.bound
    assert not ended or names.surely <= recorded.inside
    assert names.surely <= names.bound


variable = st.sampled_from(VARIABLES)
value = st.recursive(
    variable | st.sampled_from(["0", "1", "2"]),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-", "//", "and", "or", "<"]), inner).map(
            lambda p: f"({p[0]} {p[1]} {p[2]})"
        )
        | st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} if {p[1]} else {p[2]})")
    ),
    max_leaves=4,
)
named = value | st.tuples(variable, value).map(lambda p: f"({p[0]} := {p[1]})")
simple = (
    st.tuples(variable, named).map(lambda p: f"{p[0]} = {p[1]}")
    | st.tuples(variable, value).map(lambda p: f"{p[0]} += {p[1]}")
    | st.tuples(variable, variable, value, value).map(lambda p: f"{p[0]}, {p[1]} = {p[2]}, {p[3]}")
    | value.map("[{}]".format)
    | st.just("raise ZeroDivisionError")
)


def _indented(lines: list[str]) -> str:
    return "\n".join("    " + line for statement in lines for line in statement.split("\n"))


def _block(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(inner, min_size=1, max_size=2).map(_indented)


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    block = _block(inner)
    in_loop = _block(inner | st.tuples(value, st.sampled_from(["break", "continue"])).map("if {0[0]}: {0[1]}".format))
    return (
        st.tuples(named, block).map(lambda p: f"if {p[0]}:\n{p[1]}")
        | st.tuples(named, block, block).map(lambda p: f"if {p[0]}:\n{p[1]}\nelse:\n{p[2]}")
        | st.tuples(variable, st.integers(0, 2), in_loop).map(lambda p: f"for {p[0]} in range({p[1]}):\n{p[2]}")
        | st.tuples(variable, st.integers(0, 2), in_loop, block).map(
            lambda p: f"for {p[0]} in range({p[1]}):\n{p[2]}\nelse:\n{p[3]}"
        )
        | st.tuples(value, block).map(lambda p: f"while {p[0]}:\n{p[1]}\n    break")
        | st.tuples(block, variable, block, block).map(
            lambda p: f"try:\n{p[0]}\nexcept ZeroDivisionError as {p[1]}:\n{p[2]}\nfinally:\n{p[3]}"
        )
        | st.tuples(block, block, block).map(
            lambda p: f"try:\n{p[0]}\nexcept ZeroDivisionError:\n{p[1]}\nelse:\n{p[2]}"
        )
        | st.tuples(value, variable, block, block).map(
            lambda p: f"match {p[0]}:\n    case 0:\n{_deeper(p[2])}\n    case {p[1]}:\n{_deeper(p[3])}"
        )
    )


def _deeper(block: str) -> str:
    return "\n".join("    " + line for line in block.split("\n"))


statement = st.recursive(simple, _compound, max_leaves=5)
program = st.lists(statement | variable.map("del {}".format), min_size=1, max_size=5).map("\n".join)


@settings(max_examples=100, deadline=None)
@given(program)
@example("for a in range(2):\n    if a: continue\n    b = 1\nelse:\n    c = b")
@example("try:\n    a = 1 // 0\nexcept ZeroDivisionError as e:\n    b = a\nc = b")
def test_what_running_a_piece_reads_and_binds_is_in_its_names(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    "text",
    [
        "a = c - 1 and (b := 2)",
        "a = c or (b := 2)",
        "a = (b := 2) if c - 1 else 3",
        "a = 2 < c < (b := 3)",
        "a = (c - 1 and (b := 2), 1)",
        "assert c, (b := 2)",
    ],
)
def test_a_name_that_is_bound_in_what_may_be_skipped_is_not_surely_bound(text: str) -> None:
    check(text)
    assert "b" in names_of(statements(text)).bound


def test_a_name_that_is_bound_for_each_element_is_not_surely_bound() -> None:
    names = names_of(statements("a = [b := c for c in d]"))
    assert names.bound == {"a", "b"}
    assert names.surely == {"a"}


@pytest.mark.parametrize(
    "text",
    [
        "a = 1\nfor b in range(1):\n    del a",
        "a = 1\nwhile c:\n    del a\n    break",
        "try:\n    a = 1\nfinally:\n    del a",
    ],
)
def test_a_name_that_is_deleted_under_way_is_not_surely_bound(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    ("text", "exposed", "bound"),
    [
        ("x = [y for y in z]", "z", "x"),
        ("x = [y for y in y]", "y", "x"),
        ("x = {k: v for k, v in p if k > q}", "p q", "x"),
        ("x = [u for w in z for u in w]", "z", "x"),
        ("g = lambda p, q=r: p + q + s", "r s", "g"),
        ("def g(p, *q, r=d, **s):\n    t = p\n    return q, r, s, t, u", "d u", "g"),
        ("@w\ndef g():\n    return g", "w", "g"),
        ("def g():\n    def h():\n        return x\n    return h", "x", "g"),
        ("def g():\n    return x\n    x = 1", "", "g"),
        ("class K(B, metaclass=M):\n    p = q\n    def m(self):\n        return r", "B M q r", "K"),
        ("import p.q as r, s.t", "", "r s"),
        ("from p import q as r", "", "r"),
        ("with x as y:\n    y", "x", "y"),
        ("x[i] = y", "x i y", ""),
        ("x[i] += y", "x i y", ""),
        ("x.y = z", "x z", ""),
        ("del x", "x", "x"),
        ("del x[i]", "x i", ""),
        (
            "match s:\n    case [p, *q] if p > r:\n        t = q\n    case {'k': u, **v}:\n        pass",
            "s r",
            "p q t u v",
        ),
        ("match s:\n    case K(p=q) | w.W() as z:\n        pass", "s K w", "q z"),
        ("for x, (y, *z) in w:\n    pass", "w", "x y z"),
        ("async def g():\n    return x", "x", "g"),
        ("x = f'{y:{z}}'", "y z", "x"),
        ("x = y = z", "z", "x y"),
        ("return x", "x", ""),
        ("raise x from y", "x y", ""),
        ("(x := y) + x", "y x", "x"),
    ],
)
def test_names_of_statements(text: str, exposed: str, bound: str) -> None:
    names = names_of(statements(text))
    assert names.exposed == set(exposed.split())
    assert names.bound == set(bound.split())


def test_names_of_an_expression() -> None:
    node = ast.parse("x + (y := z)", mode="eval").body
    assert names_of(node) == Names(frozenset("xz"), frozenset("y"), frozenset("y"))


@pytest.mark.parametrize("text", ["def g(p: t): ...", "def g(p=1, *, q: t = 2): ...", "def g() -> t: ...",
                                  "def g(*p: t, **q: u): ..."])  # fmt: skip
def test_annotations_of_an_inner_function_are_read_where_it_is_made(text: str) -> None:
    assert "t" in names_of(statements(text)).exposed


def test_an_annotation_alone_makes_a_name_local() -> None:
    names = names_of(statements("x: int"))
    assert names.bound == {"x"}
    assert names.surely == set()


def test_methods_do_not_see_the_names_of_their_class() -> None:
    (made,) = statements("class K:\n    p = 1\n    def m(self):\n        return p")
    assert free_names(made) == {"p"}


def test_comprehensions_do_not_see_the_names_of_their_class() -> None:
    (made,) = statements("class K:\n    p = 1\n    q = [p for _ in range(2)]")
    assert free_names(made) == {"p", "range"}


def test_an_inner_function_takes_what_it_says_is_nonlocal() -> None:
    (made,) = statements("def g():\n    nonlocal x\n    x = 1\n    y = 2")
    assert free_names(made) == {"x"}


def test_captures_are_found_at_any_depth() -> None:
    tree = ast.parse("def f(p):\n    if p:\n        g = lambda: p\n    class K:\n        def m(self): return q\n")
    found = {getattr(node, "name", "lambda"): free for node, free in captures(tree.body[0])}
    assert found == {"lambda": {"p"}, "K": {"q"}, "m": {"q"}}
