"""What statements read, write, link and give: a table, each line checked against what running it really does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tree.effects.seen import GLOBALS, Piece, covers, same, share

from argosy.tree.effects import Opaque

TABLE = [
    ("x = a + b", "reads a b; x: array"),
    ("x = a[i]", "reads a[i]; x: value of a"),
    ("x = a[i] + b[j]", "reads a[i] b[j]; x: value"),
    ("x = a[1:3]", "reads a[1:3]; x: value of a"),
    ("x = m[i, :]", "reads m[(i, :)]; x: value of m"),
    ("x = m[i][j]", "reads m[i]; x: value of m"),
    ("x = a[mask]", "reads a[mask] mask; x: value"),
    ("x = a[[0, 1]]", "reads a[[0, 1]]; x: value"),
    ("x = a.T", "x: value of a"),
    ("x = a.reshape(2, 3)", "reads a; x: value of a"),
    ("x = a.copy()", "reads a; x: value"),
    ("x = a.sum()", "reads a; x: value"),
    ("x = a.shape", "x: atom"),
    ("x = np.sin(a)", "reads a; x: value"),
    ("x = np.dot(m, a)", "reads a m; x: value"),
    ("x = np.ravel(m)", "reads m; x: value of m"),
    ("x = -a", "reads a; x: array"),
    ("x = a < b", "reads a b; x: array"),
    ("x = i + j", "x: atom"),
    ("x = i < j < 3", "x: atom"),
    ("x = s.upper()", "x: atom"),
    ('x = f"{a} {i}"', "reads a; x: atom"),
    ("x = a if i else b", "links a b; x: array of a b"),
    ("x = la or e", "reads e la; links e la; x: list<array> of e la"),
    ("x = (y := a) + 1", "reads a; x: array; y: array of a"),
    ("x, y = a, b", "links a b; x: array of a b; y: array of a b"),
    ("x, y = b, 1", "x: array of b; y: atom"),
    ("x, *y = la", "reads la; x: array of la; y: list<array> of la"),
    ("x = a, b", "links a b; x: tuple<array> of a b"),
    ("x = [a, i]", "x: list<value> of a"),
    ('x = {"p": a}', "x: dict<array> of a"),
    ("x = {1, i}", "x: set<atom>"),
    ("x = la[0]", "reads la; x: array of la"),
    ("x = la[0:1]", "reads la; x: list<array> of la"),
    ("x = l[0]", "reads l; x: atom"),
    ('x = d["k"]', "reads d; x: atom"),
    ('x = da.get("k")', "reads da; x: value of da"),
    ("x = list(la)", "reads la; x: list<array> of la"),
    ("x = sorted(l)", "reads l; x: list<atom> of l"),
    ("x = l + l", "reads l; x: list<atom> of l"),
    ("x = la * 2", "reads la; x: list<array> of la"),
    ("x = [v * 2 for v in l]", "reads l; x: list<atom>"),
    ("x = [v for v in la]", "reads la; x: list<array> of la"),
    ("x = [a[v] for v in range(3)]", "reads a; x: list<value> of a"),
    ("x = {v: a for v in range(2)}", "x: dict<array> of a"),
    ("x = sum(v * 2 for v in l)", "reads l; x: result"),
    ("x = OUTSIDE", "x: array of OUTSIDE"),
    ("x = OUTSIDE[0]", "reads OUTSIDE; x: value of OUTSIDE"),
    ("x = CONSTANT + 1", "x: atom"),
    ("x = math.sqrt(i)", "x: atom"),
    ("x = math.pi", "x: atom"),
    ("x = rng.random(3)", "reads rng; writes rng; x: result of rng"),
    ("x = np.random.random(3)", "state numpy.random; x: result"),
    ("x = np.random.default_rng(0)", "x: rng"),
    ("x = double(a)", "reads a; x: array"),
    ("x = itself(a)", "x: array of a"),
    ("x = outside()", "x: array of OUTSIDE"),
    ("x = countdown(2, a)", "x: array of a"),
    ("x = keep(la, a)", "reads a la; writes a la; links a la; x: list<array> of a la"),
    ("x = len(la)", "reads la; x: atom"),
    ("x = a is b", "x: atom"),
    ("x = 1 in l", "reads l; x: atom"),
    ("a[i] = 1", "writes a[i]"),
    ("a[i] = b[j]", "reads b[j]; writes a[i]"),
    ("a[1:3] = b[0:2]", "reads b[0:2]; writes a[1:3]"),
    ("m[i] = a", "reads a; writes m[i]"),
    ("m[i][0] = 1", "reads m[i]; writes m[i]"),
    ("m[i, j] += 1", "reads m m[(i, j)]; writes m[(i, j)]"),
    ("a[:] = b", "reads b; writes a[:]"),
    ("a[mask] = 0", "reads mask; writes a[mask]"),
    ("a += 1", "reads a; writes a; a: array of a"),
    ("a[t] = 5", "writes a[t]"),
    ("l[0] = 5.0", "writes l"),
    ("l[0] = a", "writes a l; links a l"),
    ("l[0:1] = la", "reads l la; writes l la; links l la"),
    ("l += [a]", "reads a l; writes a l; links a l; l: list<value> of a l"),
    ("l.append(i)", "reads l; writes l"),
    ("l.append(a)", "reads a l; writes a l; links a l"),
    ("e.append(la)", "reads e la; writes e la; links e la"),
    ("e.extend(la)", "reads e la; writes e la; links e la"),
    ('d["k"] = 2.0', "writes d"),
    ('d["z"] = a', "writes a d; links a d"),
    ("d.update(da)", "reads d da; writes d da; links d da"),
    ('da["k"][0] = 5', "reads da; writes da"),
    ("la[0][0] = 5", "reads la; writes la"),
    ("la[0] += 1", "reads la; writes la"),
    ("ta[0][0] = 5", "reads ta; writes ta"),
    ("a.sort()", "reads a; writes a"),
    ("a.fill(2)", "reads a; writes a"),
    ("np.copyto(a, b)", "reads a b; writes a"),
    ("np.add(a, b, out=b)", "reads a b; writes b"),
    ("np.random.shuffle(a)", "reads a; writes a; state numpy.random"),
    ("rng.shuffle(a)", "reads a rng; writes a rng"),
    ("fill(a)", "writes a"),
    ("fill(a, i)", "writes a"),
    ("fill(OUTSIDE)", "writes OUTSIDE"),
    ("OUTSIDE[0] = 1", "writes OUTSIDE"),
    ("x = l.pop()", "reads l; writes l; x: atom"),
    ('x = da.pop("k")', "reads da; writes da; x: value of da"),
    ('x = da.setdefault("q", a)', "reads a da; writes a da; links a da; x: value of a da"),
    ("del l[0]", "writes l"),
    ("del a", "a: nothing"),
    ("if i:\n    x = a\nelse:\n    x = b", "links a b; x: array of a b"),
    ("for v in la:\n    v[0] = 1", "reads la; writes la; v: array of la"),
    ("for v in range(2):\n    a[v] = b[v]", "reads b; writes a; v: atom"),
    ("x = a\nfor v in range(2):\n    x = b", "links a b; v: atom; x: array of a b"),
    ("while i < 5:\n    i += 1", "i: atom"),
    ("return a", "return: array of a"),
    ("return a[i], i", "reads a[i]; return: tuple<value> of a"),
    ("assert i", ""),
    ("pass", ""),
]
UNTOLD = [
    *("x = a[t]", "m[t][0] = 1.0", "x = l[i:]", "x = m[i, 0:2]"),
    *("x = m[t]", "x = l[part]", "x = la[part]", "x = ta[part]", "x = m[t] if i else a"),
]
"""Checked against running them alone: a tuple and a slice by name are indices as well."""


@pytest.mark.parametrize(("text", "words"), TABLE, ids=[text for text, _ in TABLE])
def test_the_effects_of_a_statement(text: str, words: str) -> None:
    assert Piece(text).words() == words


@pytest.mark.parametrize("text", [*[text for text, _ in TABLE if text != "del a"], *UNTOLD])
def test_the_effects_cover_what_running_the_statement_does(text: str) -> None:
    piece = Piece(text)
    effects = piece.effects()
    state: Any = np.random.get_state(legacy=False)
    outside = GLOBALS["OUTSIDE"].copy()
    try:
        before, after, results = piece.run()
        changed_state = not same(state, np.random.get_state(legacy=False))
        changed_outside = not same(outside, GLOBALS["OUTSIDE"])
    finally:
        GLOBALS["OUTSIDE"][:] = outside
        np.random.set_state(state)
    sources = [*piece.inputs, *[outer.name for outer in effects.outers]]
    written = {sources[access.source] for access in effects.accesses if access.writes}
    assert {name for name in piece.inputs if not same(before[name], after[name])} <= written
    assert not changed_outside or "OUTSIDE" in written
    assert not changed_state or effects.states
    linked = {frozenset(pair) for link in effects.links for pair in [[sources[n] for n in link]]}
    for one in piece.inputs:
        for other in piece.inputs:
            if one != other and share(after[one], after[other]):
                assert any({one, other} <= link for link in linked)
    there = {**after, **GLOBALS}
    for (name, value), out in zip(results.items(), effects.outs, strict=False):
        assert covers(out.kind, value), name
        for number, source in enumerate(sources):
            assert number in out.sources or not share(value, there[source]), (name, source)
    for name, kind in zip(piece.inputs, effects.after, strict=True):
        assert covers(kind, after[name]), name
    made = list(zip(results.values(), effects.outs, strict=False))
    for value, out in made:
        for other, its in made:
            if value is not other and share(value, other):
                assert out.group == its.group or out.sources & its.sources


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("print(a)", 2, "what print does is not known"),
        ("x = 1\nprint(a)", 3, "what print does is not known"),
        ("x = u.x", 2, "what .x does is not known"),
        ("x = u + 1", 2, "an operator on a kind that is not known"),
        ("x = u[0]", 2, "what [...] does here is not known"),
        ("x = -u", 2, "an operator on a kind"),
        ("x = u < 1", 2, "an operator on a kind"),
        ("x = u()", 2, "what u does is not known"),
        ("x = u.f()", 2, "what .f() does is not known"),
        ("x = np.sin(u)", 2, "an argument of a kind that is not known"),
        ("x = f'{u}'", 2, "u is of a kind that is not known"),
        ("for v in u:\n    pass", 2, "iterating over a kind that is not known"),
        ("assert u", 2, "u is of a kind that is not known"),
        ("a[0] = u", 2, "storing a kind that is not known"),
        ("u[0] = 1", 2, "what storing at an index does here is not known"),
        ("u.x = 1", 2, "storing into an attribute is seen by others"),
        ("u.x += 1", 2, "storing into an attribute is seen by others"),
        ("OUTSIDE_LIST.append(1)", 0, "that is not a local variable is changed"),
        ("global CONSTANT\nCONSTANT = 1", 2, "a global statement runs in its turn"),
        ("x = lambda: 1", 2, "a lambda is made here"),
        ("x = (v for v in l)", 2, "a generator expression runs as it is read"),
        ("def x(): pass", 2, "a functiondef statement runs in its turn"),
        ("class x: pass", 2, "a classdef statement runs in its turn"),
        ("import os", 2, "a import statement runs in its turn"),
        ("with u:\n    pass", 2, "a with statement runs in its turn"),
        ("try:\n    x = 1\nfinally:\n    x = 2", 2, "a try statement runs in its turn"),
        ("x = np.sum(*la)", 2, "starred arguments"),
        ("x = np.sum(**d)", 2, "double-starred arguments"),
        ("x = sorted(l, key=double)", 2, "calls a function it is given"),
        ("x = {a: 1}", 2, "a key that may change"),
        ("d[a] = 1", 2, "a key that may change"),
        ("x = nowhere", 2, "nowhere has no value yet"),
        ("x = np.nowhere", 2, "nowhere"),
        ("raise", 2, "depends on what is being handled"),
        ("raise KeyError(s) from u", 2, "depends on what is being handled"),
        ("x = fill()", 2, "missing a required argument"),
        ("del a[0]", 2, "what del does here is not known"),
    ],
)
def test_what_cannot_be_told_says_where_and_why(text: str, line: int, reason: str) -> None:
    with pytest.raises(Opaque) as caught:
        Piece(text).effects()
    assert caught.value.line == line
    assert reason in caught.value.reason
    assert str(caught.value) == f"line {line}: {caught.value.reason}"
