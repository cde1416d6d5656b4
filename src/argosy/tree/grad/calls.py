"""Calls of NumPy's functions with something traced among the arguments.

A call whose inputs do not depend on any argument is done by NumPy and gives a constant; one that does and is in no
table is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from argosy.tree.grad import stores
from argosy.tree.grad.index import frozen_index, has_places, is_basic, plain_index
from argosy.tree.grad.nodes import Gradients, Node
from argosy.tree.grad.record import apply, highest, settle, unwrap, view
from argosy.tree.grad.tables import ALWAYS, FLAT, FUNCTIONS, KEYWORDS, PLACES, UFUNCS
from argosy.tree.grad.tape import Tape, refusal
from argosy.tree.grad.traced import Step, Traced, holds_node, innermost, is_plain_array

_WRITERS = {np.put, np.place, np.putmask, np.put_along_axis}
_NOTHING = (None, np._NoValue)
_HINT = "write it with functions that have one"
_REDUCES = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}


def name_of(func: Any) -> str:
    module = str(getattr(func, "__module__", None) or "numpy")
    shown = "np.linalg." if module.startswith("numpy.linalg") else "np." if module.startswith("numpy") else module + "."
    return shown + str(getattr(func, "__name__", func))


def gathered(value: Any) -> Any:
    """A list with traced numbers in it, as an array."""
    return FUNCTIONS[np.array](value) if isinstance(value, list | tuple) else value


def elementwise(ufunc: Any, call: Callable[..., Any], args: Sequence[Any]) -> Any:
    if list in map(type, args) or tuple in map(type, args):
        args = [gathered(a) for a in args]
    makers = UFUNCS.get(ufunc)
    if makers is None and ufunc not in FLAT and any(holds_node(a) for a in args):
        raise refusal(f"the gradient of {name_of(ufunc)} is not known", _HINT)
    return apply(call, makers, args)


def ufunc(func: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    out = kwargs.pop("out", None)
    if method == "at":
        return _at(func, *inputs)
    if method == "reduce" and func in _REDUCES:
        kwargs.setdefault("axis", 0)
        result = function(_REDUCES[func], inputs, kwargs)
    elif method == "accumulate" and func is np.add:
        result = function(np.cumsum, inputs, {"axis": 0, **kwargs})
    elif method == "outer" and func in UFUNCS and not kwargs:
        a, b = inputs
        result = func(np.reshape(a, np.shape(a) + (1,) * np.ndim(b)), b)
    elif method == "__call__" and not (kwargs.keys() - {"dtype", "casting"}):
        result = elementwise(func, lambda *values: func(*values, **kwargs), inputs)
    elif any(holds_node(x) for x in (*inputs, *kwargs.values(), *(out or ()))):
        how = f"{name_of(func)}.{method}" if method != "__call__" else f"{name_of(func)} with {', '.join(kwargs)}="
        raise refusal(f"the gradient of {how} is not known", _HINT)
    else:
        tape = highest((*inputs, *(out or ())))
        options = _bare(kwargs, tape)
        if out is not None and "where" in options:
            options["out"] = tuple(innermost(x).copy() for x in out)
        result = settle(tape, getattr(func, method)(*[unwrap(x, tape) for x in inputs], **options))
    if out is None:
        return result
    return _into(out if isinstance(out, tuple) else (out,), result, func)


def _into(outs: tuple[Any, ...], result: Any, func: Any) -> Any:
    (out,) = outs
    if isinstance(out, Traced):
        stores.write(out, ..., result)
    elif holds_node(result):
        raise refusal(
            f"{name_of(func)} writes something traced into a plain array",
            "only arrays that the function itself makes can be written to; store into a copy made by np.array(...)",
        )
    else:
        out[...] = unwrap(result, result.tape) if isinstance(result, Traced) else result
    return out


def _at(func: Any, array: Any, index: Any, values: Any = None) -> None:
    index = plain_index(index)
    if not isinstance(array, Traced):
        if holds_node(values):
            raise refusal(f"{name_of(func)}.at adds something traced to a plain array", "start from a copy of it")
        func.at(array, index, innermost(values))
    elif func is np.add:
        stores.write(array, index, values, adding=True)
    elif func is np.subtract:
        stores.write(array, index, -values, adding=True)
    elif holds_node(array) or holds_node(values):
        raise refusal(f"the gradient of {name_of(func)}.at is not known", _HINT)
    else:
        copy = innermost(array).copy()
        func.at(copy, index, innermost(values))
        stores.write(array, ..., copy)


def function(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    boxes = list(_boxes((args, kwargs)))
    if func in FLAT:
        return _constant(func, args, kwargs, boxes)
    call = FUNCTIONS.get(func)
    depends = any(holds_node(x) for x in boxes)
    if call is None or (not depends and func not in ALWAYS):
        if depends:
            raise refusal(f"the gradient of {name_of(func)} is not known", _HINT)
        if func in _WRITERS:
            raise refusal(f"{name_of(func)} writes into an array unseen", "store with a[index] = value")
        return _constant(func, args, kwargs, boxes)
    kwargs = {k: v for k, v in kwargs.items() if not any(v is nothing for nothing in _NOTHING)}
    out = kwargs.pop("out", None)
    odd = kwargs.keys() - KEYWORDS[func]
    if odd:
        raise refusal(f"the gradient of {name_of(func)} with {', '.join(sorted(odd))}= is not known", _HINT)
    if len(args) > PLACES[func]:
        raise refusal(f"the gradient of {name_of(func)} with {len(args)} arguments by place is not known", _HINT)
    result = call(*args, **kwargs)
    return result if out is None else _into((out,), result, func)


def _constant(func: Any, args: Sequence[Any], kwargs: dict[str, Any], boxes: list[Any]) -> Any:
    kwargs = dict(kwargs)
    out = kwargs.pop("out", None)
    tape = highest([*boxes, out])
    result = func(*_bare(list(args), tape), **_bare(kwargs, tape))
    for part in result if isinstance(result, list | tuple) else (result,):
        if is_plain_array(part) and any(np.may_share_memory(part, innermost(x)) for x in boxes):
            raise refusal(f"{name_of(func)} gives a view that is not followed", "take it of a copy, or by indexing")
    result = settle(tape, result)
    return result if out is None else _into((out,), result, func)


def _boxes(x: Any) -> Iterator[Traced]:
    if isinstance(x, Traced):
        yield x
    elif isinstance(x, list | tuple):
        for each in x:
            yield from _boxes(each)
    elif isinstance(x, dict):
        yield from _boxes(list(x.values()))


def _bare(x: Any, tape: Tape | None) -> Any:
    if isinstance(x, Traced):
        return unwrap(x, tape)
    if type(x) in (list, tuple):
        return type(x)(_bare(each, tape) for each in x)
    if type(x) is dict:
        return {k: _bare(v, tape) for k, v in x.items()}
    return x


def item(x: Traced, index: Any) -> Any:
    index = plain_index(index)
    if is_basic(index):

        def add_basic(g: Any, gradients: Gradients, node: Node) -> None:
            gradients.buffer(node)[index] += g

        return view(x, Step(lambda v: v[index], add_basic))
    index = frozen_index(index)

    def add_fancy(g: Any, gradients: Gradients, node: Node) -> None:
        buffer = gradients.buffer(node)
        if has_places(index):
            np.add.at(buffer, index, g)
        else:
            buffer[index] += g

    return view(x, Step(lambda v: v[index], add_fancy))
