"""What the syntax says about parallelism inside."""

from __future__ import annotations

import ast

import pytest
from tree.effects.written import statements

from argosy.tree.shape import may_fork, worth_entering


@pytest.mark.parametrize(
    "text",
    [
        "for i in r:\n    a[i] = f(i)",
        "for i in r:\n    a[0, i] = b + i",
        "for i in r:\n    t = f(i)\n    a[i + 1] = t",
        "for i in r:\n    if i < 3:\n        a[i] = 1",
        "for i in r:\n    for j in r:\n        a[j, i] = f(j)",
    ],
)
def test_a_loop_that_stores_at_its_variable_and_has_work_may_be_forked(text: str) -> None:
    (loop,) = statements(text)
    assert isinstance(loop, ast.For)
    assert may_fork(loop)
    assert worth_entering([loop])


@pytest.mark.parametrize(
    "text",
    [
        "for i in r:\n    a[i] = 1",  # no work
        "for i in r:\n    a[0] = f(i)",
        "for i in r:\n    t = f(i)",
        "for i, j in r:\n    a[i] = f(j)",
        "for i in r:\n    a[i] = f(i)\n    if a[i]:\n        break",
        "for i in r:\n    a[i] = f(i)\n    return a",
        "for i in r:\n    try:\n        a[i] = f(i)\n    finally:\n        pass",
        "for i in r:\n    with c:\n        a[i] = f(i)",
        "for i in r:\n    a[i] = f(i)\nelse:\n    b = 1",
    ],
)
def test_other_loops_are_not(text: str) -> None:
    (loop,) = statements(text)
    assert isinstance(loop, ast.For)
    assert not may_fork(loop)


@pytest.mark.parametrize(
    "text",
    [
        "x = f(a)\ny = g(b)",
        "x = f(a)\nx2 = x + 1\ny = g(b)",
        "if c:\n    x = f(a)\n    y = g(b)",
        "while c:\n    x = f(a)\n    y = g(a)",
        "if c:\n    pass\nelse:\n    x = f(a)\n    y = g(a)",
    ],
)
def test_two_that_need_not_wait_for_one_another_are_worth_entering(text: str) -> None:
    assert worth_entering(statements(text))


@pytest.mark.parametrize(
    "text",
    [
        "x = f(a)\nx = g(x)",
        "x = f(a)\ny = x\nz = g(y)",
        "x = a\ny = b",
        "a[0] = f(b)\na[1] = g(b)",
        "l.append(f(a))\nl.append(g(a))",
        "x = f(a)\nwhile x:\n    x = g(x)",
        "",
    ],
)
def test_a_chain_is_not(text: str) -> None:
    assert not worth_entering(statements(text))


def test_rounds_of_a_loop_are_worth_telling_apart_unless_each_needs_the_one_before() -> None:
    appended = ast.parse("y = f(x * i)\nout.append(g(y))").body
    carried = ast.parse("x = f(x)\ny = g(x)").body
    chain = ast.parse("x = f(x)").body
    assert worth_entering(appended, repeats=True)
    assert not worth_entering(appended)
    assert worth_entering(carried, repeats=True)  # g of one round beside f of the next
    assert not worth_entering(chain, repeats=True)
