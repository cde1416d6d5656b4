"""Pieces as a whole: functions that are called, what is relied on, what is remembered."""

from __future__ import annotations

import ast
import functools
from typing import Any

import numpy as np
import pytest
from tree.effects.seen import Piece
from tree.effects.written import body, written

from argosy.tree.effects import Access, Effects, Opaque, analyse
from argosy.tree.effects.record import Outer
from argosy.tree.kinds import ARRAY, ATOM, MADE, Box, kind_of


def of_call(function: Any, text: str = "x = g(a, b)", **kinds: Any) -> Effects:
    """The effects of a call of g."""
    source = body(text, "a, b", g=function)
    inputs = tuple(kinds) or ("a", "b")
    return analyse(source, source.tree.body, inputs, [kinds.get(name, ARRAY) for name in inputs], ("x",))


def reads_and_writes(effects: Effects) -> tuple[set[int], set[int]]:
    written = {access.source for access in effects.accesses if access.writes}
    return {access.source for access in effects.accesses if not access.writes}, written


def test_a_called_function_does_to_its_arguments_what_its_body_does() -> None:
    effects = of_call(written("def f(p, q):\n    p[0] = q[0]\n    return q\n"))
    assert reads_and_writes(effects) == ({1}, {0})
    assert effects.outs[0].sources == {1}


def test_arguments_go_to_their_parameters_by_name() -> None:
    function = written("def f(p, q):\n    p[0] = 1.0\n    return q\n")
    effects = of_call(function, "x = g(q=a, p=b)")
    assert reads_and_writes(effects)[1] == {1}
    assert effects.outs[0].sources == {0}


def test_arguments_without_a_name_are_a_tuple_in_the_function() -> None:
    effects = of_call(written("def f(*p, **q):\n    p[0][0] = 1.0\n    return p\n"))
    assert reads_and_writes(effects)[1] == {0, 1}
    assert effects.outs[0].kind == Box("tuple", ARRAY)


def test_a_default_that_may_change_cannot_be_told() -> None:
    with pytest.raises(Opaque, match="a default value that may change"):
        of_call(written("def f(p, q, r=[]):\n    return r\n"))


def test_the_reason_names_the_function_and_its_line() -> None:
    with pytest.raises(Opaque) as caught:
        of_call(written("def f(p, q):\n    print(p)\n"))
    assert caught.value.line == 2
    assert caught.value.reason == "f, line 2: what print does is not known"


def test_a_function_without_source_cannot_be_told() -> None:
    names: dict[str, Any] = {}
    exec("def f(p, q): return p", names)
    with pytest.raises(Opaque, match="not to be had"):
        of_call(names["f"])


def test_a_function_that_wraps_another_is_analysed_by_its_own_parameters() -> None:
    def two(p: Any, q: Any) -> None: ...

    @functools.wraps(two)
    def wrapper(*args: Any) -> Any:
        return args[0] + args[1]

    effects = of_call(wrapper)
    assert reads_and_writes(effects) == ({0, 1}, set())


def test_functions_that_call_one_another_settle() -> None:
    text = "def f(n, p):\n    return p if n == 0 else h(n, p)\n\ndef h(n, p):\n    p[0] = n\n    return f(n - 1, p)\n"
    function = written(text)
    effects = of_call(function, a=ATOM, b=ARRAY)
    assert reads_and_writes(effects)[1] == {1}
    assert effects.outs[0].sources == {1}


def test_a_closure_is_one_more_input_with_what_it_captured() -> None:
    text = "def make(k):\n    def f(p):\n        k[0] = p\n        return k\n    return f\n"
    made = written(text, "make")(np.zeros(2))
    source = body("x = g(a)", "a, g")
    effects = analyse(source, source.tree.body, ("a", "g"), (ATOM, kind_of(made)), ("x",))
    assert reads_and_writes(effects)[1] == {1}
    assert effects.outs[0].sources == {1}


def test_what_was_relied_on_outside_is_guarded() -> None:
    source = body("x = K + a", "a", K=1)
    effects = analyse(source, source.tree.body, ("a",), (ARRAY,), ("x",))
    (guard,) = effects.guards
    assert guard.holds()
    source.function.__globals__["K"] = 2
    assert guard.holds(), "another of the same kind"
    source.function.__globals__["K"] = np.zeros(2)
    assert not guard.holds()
    del source.function.__globals__["K"]
    assert not guard.holds()


def test_a_function_whose_globals_changed_kind_is_analysed_again() -> None:
    function = written("def f(p, q):\n    return G\n", G=1)
    assert of_call(function).outs[0].kind is ATOM
    function.__globals__["G"] = np.zeros(2)
    effects = of_call(function)
    assert effects.outs[0].kind is ARRAY
    assert effects.outers == (Outer(function.__globals__, "G"),)


def test_a_list_that_came_to_hold_something_else_says_so() -> None:
    assert Piece("e.append(a)").effects().after == (ARRAY, Box("list", ARRAY))
    assert Piece("y = e\ny.append(a)").effects().after == (ARRAY, Box("list", ARRAY))


def test_only_a_simple_statement_says_where_it_touches() -> None:
    assert [access.index is not None for access in Piece("a[i] = 1").effects().accesses] == [True]
    assert [access.index is not None for access in Piece("i = 2\na[i] = 1").effects().accesses] == [False]


def test_an_index_that_the_statement_itself_changes_is_not_told() -> None:
    assert Piece("x = (i := 3) + a[i]").words() == "reads a; i: atom; x: value"


def test_an_iterator_is_used_up_by_reading_it() -> None:
    source = body("x = list(a)", "a")
    with pytest.raises(Opaque, match="a is an iterator"):
        analyse(source, source.tree.body, ("a",), (Box("iterator", ATOM),), ("x",))


def test_what_will_be_known_later_is_opaque_for_now() -> None:
    source = body("x = a.shape", "a")
    with pytest.raises(Opaque) as caught:
        analyse(source, source.tree.body, ("a",), (MADE,), ("x",))
    assert caught.value.for_now
    with pytest.raises(Opaque) as caught:
        Piece("x = u.shape").effects()
    assert not caught.value.for_now


def test_the_value_of_an_expression_comes_first() -> None:
    source = body("return (x := a) + 1", "a")
    (returned,) = source.tree.body
    assert isinstance(returned, ast.Return)
    assert returned.value is not None
    value = returned.value
    effects = analyse(source, value, ("a",), (ARRAY,), ("x",))
    assert [out.sources for out in effects.outs] == [frozenset(), {0}]


def test_results_that_may_be_one_another_are_of_one_group() -> None:
    text = "y = q if ((p := np.zeros(3)) + (q := np.ones(3)))[0] > i else p"
    p, q, y = Piece(text).effects().outs
    assert y.group == p.group
    assert y.group == q.group


def test_a_variable_that_may_be_bound_under_way_is_of_either_kind() -> None:
    (x, y) = Piece("y = a\nx = i and (y := 2)").effects().outs
    assert y.sources == {0}
    assert x.kind is ATOM


def test_a_tuple_of_arrays_that_is_written_into_stands_for_the_arrays() -> None:
    (written_into,) = [access for access in Piece("np.add(a, b, out=(a,))").effects().accesses if access.writes]
    assert not written_into.boxes_only


def test_a_view_of_a_class_of_the_users_is_not_an_array() -> None:
    source = body("x = a.view(g)", "a", g=type("Loud", (np.ndarray,), {}))
    with pytest.raises(Opaque):
        analyse(source, source.tree.body, ("a",), (ARRAY,), ("x",))


def test_the_shortcuts_of_effects() -> None:
    reads = Piece("x = a + b").effects()
    assert reads.only_reads
    assert not reads.writes
    at = Piece("x = a[i] + 1").effects()
    assert not at.only_reads
    stores = Piece("l[0] = 1.0").effects()
    assert stores.writes
    assert stores.changes_boxes
    assert not Piece("a[0] = 1.0").effects().changes_boxes
    state = Piece("x = np.random.random(3)").effects()
    assert state.writes
    assert not state.only_reads
    assert not Piece("x = OUTSIDE + 1").effects().only_reads
    assert Access(0, False) == Access(0, False, None, False)
