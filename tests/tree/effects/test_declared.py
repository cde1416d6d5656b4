"""Values that say of themselves that they never change, functions that say what their calls do, captured variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tree.effects.test_analyse import reads_and_writes
from tree.effects.written import body, written

from argosy.calls import PURE, WAITS, Call, declared, value
from argosy.tree.effects import Effects, Opaque, analyse
from argosy.tree.kinds import ARRAY, ATOM, MADE, VALUE, Box, Declared, kind_of
from argosy.tree.source import capture

OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
SIGNS = {"~": "invert", "-": "neg", "+": "pos"}


def amount_with(*pure: str) -> Any:
    """An instance of a class of which these methods are pure; `again` and `__add__` are known to give another."""

    @value(*pure or ("__nothing__",))
    class Amount:
        def again(self, other: Any = None) -> Amount:
            return self

        def shown(self, other: Any = None) -> Any:
            return None

        @property
        def half(self) -> Amount:
            return self

        @property
        def size(self) -> Any:
            return 1

        def __add__(self, other: Any) -> Amount:
            return self

        def __getitem__(self, at: Any) -> Amount:
            return self

    return Amount()


def effects_of(text: str, given: Any, **names: Any) -> Effects:
    """Of one line over `v`, which is this value, and two arrays."""
    source = body(text, "v, a, b", **names)
    return analyse(source, source.tree.body, ("v", "a", "b"), (kind_of(given), ARRAY, ARRAY), ("x",))


@pytest.mark.parametrize(("sign", "name"), [*OPERATORS.items(), *COMPARISONS.items()])
def test_an_operator_is_known_by_its_own_method_and_by_no_other(sign: str, name: str) -> None:
    others = {f"__{other}__" for other in (*OPERATORS.values(), *COMPARISONS.values())} - {f"__{name}__"}
    assert reads_and_writes(effects_of(f"x = v {sign} a", amount_with(f"__{name}__"))) == ({0, 1}, set())
    (turned,) = effects_of(f"x = a {sign} v", amount_with(f"__r{name}__")).outs
    assert (turned.kind is MADE, turned.sources) == (sign != "+", {0, 1})
    with pytest.raises(Opaque, match="an operator on Amount"):
        effects_of(f"x = v {sign} a", amount_with(*others))


@pytest.mark.parametrize(("sign", "name"), SIGNS.items())
def test_a_sign_is_known_by_its_own_method(sign: str, name: str) -> None:
    assert effects_of(f"x = {sign}v", amount_with(f"__{name}__")).outs[0].kind is MADE
    with pytest.raises(Opaque, match="an operator on Amount"):
        effects_of(f"x = {sign}v", amount_with("__add__"))


def test_what_an_operator_gives_is_of_the_class_that_its_annotation_names() -> None:
    amount = amount_with("__add__", "__mul__")
    assert effects_of("x = v + a", amount).outs[0].kind == Declared(type(amount))
    assert effects_of("x = v * a", amount).outs[0].kind is MADE


def test_an_operator_on_a_value_and_what_nobody_knows_is_refused() -> None:
    with pytest.raises(Opaque, match="an operator on a kind that is not known"):
        effects_of("x = v + U", amount_with("__add__"), U=type("OfTheUser", (), {})())


def test_a_pure_method_reads_its_arguments_and_may_hold_them() -> None:
    amount = amount_with("again", "shown")
    again = effects_of("x = v.again(a)", amount)
    assert reads_and_writes(again) == ({0, 1}, set())
    assert (again.outs[0].kind, again.outs[0].sources) == (Declared(type(amount)), {0, 1})
    shown = effects_of("x = v.shown(other=a)", amount)
    assert (shown.outs[0].kind, shown.outs[0].sources) == (MADE, {0, 1})
    with pytest.raises(Opaque, match=r"what \.again\(\) does is not known"):
        effects_of("x = v.again(a)", amount_with("shown"))
    with pytest.raises(Opaque, match="an argument of a kind that is not known"):
        effects_of("x = v.again(U)", amount, U=type("OfTheUser", (), {})())


def test_an_attribute_and_an_element_of_a_value() -> None:
    amount = amount_with("__getitem__")
    assert effects_of("x = v.half", amount).outs[0].kind == Declared(type(amount))
    assert effects_of("x = v.size", amount).outs[0].kind is MADE
    assert effects_of("x = v[0]", amount).outs[0].kind == Declared(type(amount))
    for text in ("x = v.half", "x = v.size", "x = v[0]"):
        assert reads_and_writes(effects_of(text, amount)) == ({0}, set())
        assert effects_of(text, amount).outs[0].sources == {0}
    with pytest.raises(Opaque, match=r"what \[...\] does here is not known"):
        effects_of("x = v[0]", amount_with("again"))


def test_a_list_of_values_keeps_their_class() -> None:
    amount = amount_with("again")
    assert effects_of("x = [v, v.again()]", amount).outs[0].kind == Box("list", Declared(type(amount)))


@declared(PURE)
def weigh(*given: Any, **named: Any) -> Any:
    return given


@declared(WAITS)
def ask(*given: Any, **named: Any) -> Any:
    return given


@declared(Call(shows_with=frozenset({"path"})))
def keep(*given: Any, **named: Any) -> Any:
    return given


@declared(Call(pure=False))
def shout(*given: Any) -> Any:
    return given


def test_a_declared_function_reads_its_arguments_and_may_hold_them() -> None:
    effects = effects_of("x = g(a, other=b)", 1, g=weigh)
    assert reads_and_writes(effects) == ({1, 2}, set())
    assert effects.outs[0].sources == {1, 2}
    assert not effects.waits


def test_a_function_that_waits_takes_copies_along() -> None:
    effects = effects_of("x = g(a, [b])", 1, g=ask)
    assert reads_and_writes(effects) == ({1, 2}, set())
    assert effects.outs[0].sources == set()
    assert effects.waits


def test_a_function_that_is_not_pure_with_what_it_is_given_is_refused() -> None:
    assert effects_of("x = g(a, name='p')", 1, g=keep).outs[0].sources == {1}
    with pytest.raises(Opaque, match="g changes what others can see"):
        effects_of("x = g(a, path='p')", 1, g=keep)
    with pytest.raises(Opaque, match="g changes what others can see"):
        effects_of("x = g(a)", 1, g=shout)


@pytest.mark.parametrize("argument", ["U", "[U]", "iter([1])"])
def test_a_declared_function_is_given_only_what_is_known(argument: str) -> None:
    with pytest.raises(Opaque, match="an argument of a kind that is not known"):
        effects_of(f"x = g({argument})", 1, g=weigh, U=type("OfTheUser", (), {})())


def test_a_declared_function_may_be_given_functions_and_values() -> None:
    assert effects_of("x = g(len, v, [v])", amount_with(), g=weigh).outs[0].kind is MADE


def test_a_declared_method_says_what_its_calls_do() -> None:
    class Shop:
        __argosy_value__ = True
        __argosy_pure__ = frozenset({"other"})

        @declared(WAITS)
        def fetch(self, what: Any) -> Any:
            return what

    effects = effects_of("x = v.fetch(a)", Shop())
    assert effects.waits
    assert reads_and_writes(effects) == ({0, 1}, set())
    assert effects.outs[0].sources == set()


def test_a_called_function_passes_on_that_it_waits_and_which_state_it_uses() -> None:
    function = written("def f(p):\n    np.random.shuffle(p)\n    return ask(p)\n", np=np, ask=ask)
    effects = effects_of("x = g(a)", 1, g=function)
    assert effects.waits
    assert effects.states == {"numpy.random"}
    assert reads_and_writes(effects)[1] == {1}


def captured(text: str, **names: Any) -> Effects:
    """Of the lines of a function inside of another, which has captured `k`."""
    made = written(f"def make(k):\n    def f(a):\n        {text}\n        return a\n    return f\n", "make", **names)
    source = capture(made(np.ones(3)))
    return analyse(source, source.tree.body[:1], ("a",), (ARRAY,), ("x",))


def test_a_captured_variable_is_a_value_from_outside() -> None:
    effects = captured("x = k")
    (outer,) = effects.outers
    assert (outer.name, outer.get().tolist()) == ("k", [1, 1, 1])
    assert effects.outs[0].sources == {1}
    assert effects.outs[0].kind is ARRAY


def test_a_captured_variable_is_written_where_it_is() -> None:
    assert reads_and_writes(captured("k[0] = a[0]")) == ({0}, {1})


def test_a_captured_list_is_not_changed_unseen() -> None:
    made = written("def make(k):\n    def f(a):\n        k.append(a)\n    return f\n", "make")([1.0])
    source = capture(made)
    with pytest.raises(Opaque, match="not a local variable is changed"):
        analyse(source, source.tree.body, ("a",), (ARRAY,), ())


def test_a_builtin_is_found_beyond_the_globals() -> None:
    effects = effects_of("x = len([a])", 1)
    assert effects.outs[0].kind is ATOM
    assert [guard.holds() for guard in effects.guards] == [True]


def test_a_sum_of_captured_and_given_is_new() -> None:
    effects = captured("x = (k + a)[0]")
    assert (effects.outs[0].kind, effects.outs[0].sources) == (VALUE, set())
