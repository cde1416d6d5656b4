"""`grad`: the derivative of a function of arrays, found by running it once and going back.

The function runs as plain Python: every loop, `while`, branch, recursion and in-place store that it takes is recorded
on a tape, and the tape is gone over backwards. So the gradient is that of the path the function took for these
arguments, at a cost of a few times the function's own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from argosy import arguments
from argosy.errors import NotDifferentiable
from argosy.tree.grad import operators, rules  # noqa: F401 (they fill the tables)
from argosy.tree.grad.namespace import World, plain
from argosy.tree.grad.nodes import Gradients, Node
from argosy.tree.grad.record import fresh
from argosy.tree.grad.tape import Tape, recording
from argosy.tree.grad.traced import Owner, Traced, innermost, is_array


def grad(f: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """The function that gives the derivative of `f` by the argument of this place (a tuple: by each of these).

    `f` is a plain or a futurized function that returns one real number. An argument to derive by is a float, an array
    of floats, or a list, tuple or dict of them; the gradient has its structure, shapes and dtypes. `f` works on copies
    of its arrays, lists and dicts: what it stores into them is not seen by the caller. What has no known gradient, or
    would lose it, raises `NotDifferentiable` with the name and the line. Gradients may be nested.
    """
    both = value_and_grad(f, argnums)

    @functools.wraps(plain(f))
    def gradient(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return gradient


def value_and_grad(f: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., tuple[Any, Any]]:
    """Like `grad`, but gives the pair of what `f` returns and its gradient, from one run."""
    several = isinstance(argnums, tuple)
    wanted = "the place of an argument or a tuple of places"
    given = argnums if isinstance(argnums, tuple) else (argnums,)
    places = tuple(arguments.whole("argnums", each, wanted=wanted) for each in given)
    if not places:
        raise TypeError(f"argnums must be {wanted}, not ()")
    function = plain(arguments.function("f", f))

    @functools.wraps(function)
    def both(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        wanted = [i + len(args) if i < 0 else i for i in places]
        if any(not 0 <= i < len(args) for i in wanted):
            raise TypeError(
                f"argnums={arguments.show(argnums)} asks for an argument that is not there: "
                f"{len(args)} were given by position"
            )
        with recording() as tape:
            world = World()
            constant = functools.partial(_constant, tape, world)
            inside = [
                _mapped(a, functools.partial(_input, tape, i) if i in wanted else constant) for i, a in enumerate(args)
            ]
            leaves = [_mapped(inside[i], lambda x: _Leaf(node=x.node, like=x.value)) for i in wanted]
            named = {k: _mapped(v, constant) for k, v in kwargs.items()}
            value, node = _result(tape, world.see(function)(*inside, **named))
        gradients = Gradients(fresh)
        if node is not None:
            gradients.run(node, np.ones((), node.dtype)[()])
        found = tuple(_mapped(leaf, lambda x: x.gradient(gradients)) for leaf in leaves)
        return value, found if several else found[0]

    return both


@dataclass(frozen=True, kw_only=True, slots=True)
class _Leaf:
    """One float or array to derive by."""

    node: Node
    like: Any

    def gradient(self, gradients: Gradients) -> Any:
        found = gradients.known(self.node)
        if found is None:
            found = np.zeros(self.node.shape, self.node.dtype)
        if is_array(self.like):
            out = fresh(np.empty(self.node.shape, self.node.dtype))
            out[...] = found
            return out
        return found if isinstance(found, Traced) else type(innermost(self.like))(found)


def _mapped(tree: Any, call: Callable[[Any], Any]) -> Any:
    """A copy of nested lists, tuples and dicts with `call` done to what they hold."""
    if type(tree) in (list, tuple):
        return type(tree)(_mapped(each, call) for each in tree)
    if type(tree) is dict:
        return {k: _mapped(v, call) for k, v in tree.items()}
    return call(tree)


def _input(tape: Tape, place: int, x: Any) -> Traced:
    inner = innermost(x)
    if not isinstance(inner, float | np.floating | np.ndarray) or np.asarray(inner).dtype.kind != "f":
        what = f"an array of {inner.dtype}" if isinstance(inner, np.ndarray) else f"{inner!r} ({type(inner).__name__})"
        raise NotDifferentiable(
            f"argument {place} is {what}, and only floats and arrays of floats have a gradient; "
            "convert it, or name other arguments in argnums"
        )
    if not is_array(x):
        return Traced(tape, x, Node(inner))
    tape.lent.append(inner)
    return Traced(tape, x, Node(inner), Owner.CALLER)


def _constant(tape: Tape, world: World, x: Any) -> Any:
    if not is_array(x):
        return world.see(x)
    tape.lent.append(innermost(x))
    return Traced(tape, x, owner=Owner.CALLER)


def _result(tape: Tape, out: Any) -> tuple[Any, Node | None]:
    node = None
    value = out
    if isinstance(out, Traced) and out.tape is tape:
        value, node = out.value, out.node
    inner = innermost(value)
    if np.shape(inner) != () if isinstance(inner, np.ndarray) else not isinstance(inner, Real):
        what = f"an array of shape {inner.shape}" if isinstance(inner, np.ndarray) else f"a {type(inner).__name__}"
        raise NotDifferentiable(f"the function returned {what}, but a gradient needs one real number; return a sum")
    return value, node
