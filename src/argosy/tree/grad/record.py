"""How a call is recorded: what it takes and gives, and what it keeps for the way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from argosy.tree.grad.nodes import Node, Pull, linked
from argosy.tree.grad.tables import Maker
from argosy.tree.grad.tape import Tape, refusal, tapes
from argosy.tree.grad.traced import Owner, Saved, Step, Traced, innermost, is_array, shares, stepped


def highest(args: Sequence[Any]) -> Tape | None:
    best: Tape | None = None
    for a in args:
        if type(a) is Traced and not a.tape.ended and (best is None or a.tape.level > best.level):
            best = a.tape
    return best


def unwrap(x: Any, tape: Tape | None) -> Any:
    while type(x) is Traced and (x.tape is tape or x.tape.ended):
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
    return Traced(tape, value) if is_array(value) else value


def fresh(array: Any) -> Any:
    """A new array, wrapped for all tapes at work."""
    for tape in tapes():
        array = settle(tape, array)
    return array


def apply(call: Callable[..., Any], makers: Sequence[Maker] | None, args: Sequence[Any]) -> Any:
    """Runs `call` on what `args` hold, and records it. `makers` is None where the derivative is zero."""
    tape = None
    for a in args:
        if type(a) is Traced:
            if tape is None:
                tape = a.tape
            elif a.tape is not tape:
                tape = highest(args)
                break
    if tape is None or tape.ended:
        tape = highest(args)
    values = []
    depends = []
    for i, a in enumerate(args):
        if type(a) is Traced:
            if a.tape is tape:
                values.append(a.value)
                node = a.node
                if node is not None:
                    depends.append((i, node))
                continue
            a = unwrap(a, tape)
        values.append(a)
    value = call(*values)
    if makers is None or not depends:
        return settle(tape, value)
    assert tape is not None
    made = Node(value)
    if made.dtype.kind != "f":
        raise refusal(f"a result of {made.dtype} that depends on an argument", "only real floats have a gradient here")
    out = Traced(tape, value, made)
    made.back = linked([(node, makers[i](out, *args)) for i, node in depends])
    return out


def keep(x: Any, tape: Tape) -> Saved:
    """What `x` holds now, as this tape sees it, for the way back; copied only if it is written to before."""
    if type(x) is not Traced:
        return Saved(_pristine(x, tape) if isinstance(x, np.ndarray) else x)
    root = x.root
    if root.owner is Owner.OUTSIDE or root.owner is Owner.SHARED:
        return Saved(_pristine(innermost(x), tape))
    value = unwrap(x, tape)
    saved = x.kept(value)
    if saved is None:
        saved = Saved(value)
        while type(x) is Traced:
            x.keep(saved)
            x = x.value
    return saved


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

    def one(out: Traced, *args: Any) -> Pull:
        saved = keep(out if needs[0] == OUT else args[needs[0]], out.tape)
        return lambda g: pull(g, saved.value)

    def some(out: Traced, *args: Any) -> Pull:
        saved = [keep(out if i == OUT else args[i], out.tape) for i in needs]
        return lambda g: pull(g, *[s.value for s in saved])

    return (lambda *_: pull) if not needs else one if len(needs) == 1 else some


def view(x: Traced, step: Step) -> Any:
    """What `step` makes of `x`: a view where NumPy gives one, otherwise a new array."""
    whole = x.value
    value = step.forward(whole)
    node = stepped(x.node, step, value)
    if is_array(value) and shares(value, whole):
        return x.view(value, node, step)
    return settle(x.tape, value) if node is None else Traced(x.tape, value, node)
