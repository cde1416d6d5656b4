"""How a call is recorded: what it takes and gives, and what it keeps for the way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from argosy.tree.grad import traced
from argosy.tree.grad.nodes import Node, Pull, linked
from argosy.tree.grad.tables import Maker
from argosy.tree.grad.tape import Tape, refusal, tapes


def highest(args: Sequence[Any]) -> Tape | None:
    best: Tape | None = None
    for a in args:
        if isinstance(a, traced.Traced) and not a.tape.ended and (best is None or a.tape.level > best.level):
            best = a.tape
    return best


def unwrap(x: Any, tape: Tape | None) -> Any:
    while isinstance(x, traced.Traced) and (x.tape is tape or x.tape.ended):
        x = x.value
    return x


def settle(tape: Tape | None, value: Any) -> Any:
    """A constant of this tape: arrays are wrapped, as they may be written to, numbers are not."""
    if tape is None:
        return value
    if isinstance(value, tuple) and type(value) is not tuple:
        return type(value)(*(settle(tape, v) for v in value))
    if isinstance(value, list | tuple):
        return type(value)(settle(tape, v) for v in value)
    return traced.Traced(tape, value) if traced.is_array(value) else value


def fresh(array: Any) -> Any:
    """A new array, wrapped for all tapes at work."""
    for tape in tapes():
        array = settle(tape, array)
    return array


def apply(call: Callable[..., Any], makers: Sequence[Maker] | None, args: Sequence[Any]) -> Any:
    """Runs `call` on what `args` hold, and records it. `makers` is None where the derivative is zero."""
    tape = highest(args)
    value = call(*[unwrap(a, tape) for a in args])
    if makers is None or tape is None:
        return settle(tape, value)
    links: list[tuple[Any, Maker]] = [
        (a.node, makers[i])
        for i, a in enumerate(args)
        if isinstance(a, traced.Traced) and a.tape is tape and a.node is not None
    ]
    if not links:
        return settle(tape, value)
    kind = np.dtype(getattr(value, "dtype", type(value)))
    if kind.kind != "f":
        raise refusal(f"a result of {kind} that depends on an argument", "only real floats have a gradient here")
    out = traced.Traced(tape, value, Node(value))
    assert out.node is not None
    out.node.back = linked([(node, maker(out, *args)) for node, maker in links])
    return out


def keep(x: Any, tape: Tape) -> traced.Saved:
    """What `x` holds now, as this tape sees it, for the way back; copied only if it is written to before."""
    if isinstance(x, traced.Traced) and (x.root.guest or x.root.escaped):
        x = traced.innermost(x)
    if isinstance(x, traced.Traced):
        saved = traced.Saved(unwrap(x, tape))
        while isinstance(x, traced.Traced):
            x.keep(saved)
            x = x.value
        return saved
    if isinstance(x, list | tuple):
        x = np.array(x)
    return traced.Saved(_pristine(x, tape) if isinstance(x, np.ndarray) else x)


def _pristine(array: np.ndarray[Any, Any], tape: Tape) -> Any:
    """A copy of an array whose writes may not be seen. The same array, unchanged, is copied once."""
    known = tape.pristine.get(id(array))
    if known is None or not _same_bits(known[1], array):
        known = tape.pristine[id(array)] = (array, array.copy())
    return known[1]


def _same_bits(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    if a.dtype.itemsize == 8 and a.flags.c_contiguous and b.flags.c_contiguous:
        a, b = a.view(np.int64), b.view(np.int64)  # NaN equals NaN, and integers are quick to compare
    return np.array_equal(a, b)


OUT = -1
"""The result, among what a way back needs."""


def by(pull: Callable[..., Any], *needs: int) -> Maker:
    """The way back by a formula: `pull` takes the gradient, then the inputs at these places, or the result."""

    def maker(out: traced.Traced, *args: Any) -> Pull:
        saved = [keep(out if i == OUT else args[i], out.tape) for i in needs]
        return lambda g: pull(g, *[s.value for s in saved])

    return maker


def view(x: traced.Traced, step: traced.Step) -> Any:
    """What `step` makes of `x`: a view where NumPy gives one, otherwise a new array."""
    whole = x.value
    value = step.forward(whole)
    node = traced.stepped(x.node, step, value)
    if traced.is_array(value) and traced.shares(value, whole):
        return traced.Traced(x.tape, value, node, parent=x, step=step)
    return settle(x.tape, value) if node is None else traced.Traced(x.tape, value, node)
