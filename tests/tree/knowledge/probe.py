"""Calls a function and compares what it did with what is known of it."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import islice
from typing import Any

import numpy as np
from tree.knowledge.arguments import Recorder

from argosy.tree.knowledge import Behaviour

Given = dict[int | str, Any]
ATOMS = (
    *(bool, int, float, complex, str, bytes, range, type, type(None), type(...), date, timedelta),
    *(np.generic, np.dtype, np.finfo, np.iinfo),
)
EMPTY_HANDED = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RuntimeError, SystemError)


class Mistake(AssertionError):
    """A function did what is not known of it."""


def parts(value: Any) -> Iterator[Any]:
    """The value and everything that is found in it."""
    yield value
    if isinstance(value, dict):
        for key, element in value.items():
            yield from parts(key)
            yield from parts(element)
    elif isinstance(value, list | tuple | set | frozenset | BaseException | slice):
        held = (value.start, value.stop, value.step) if isinstance(value, slice) else getattr(value, "args", value)
        for element in held:
            yield from parts(element)
    elif isinstance(value, np.ndarray) and value.dtype == object:
        for element in value.flat:
            yield from parts(element)


def owner(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def shares(one: Any, other: Any) -> bool:
    """Both are the same thing that can change, or arrays in the same memory."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one is other or np.may_share_memory(one, owner(other))
    return one is other and not is_atom(one)


def is_atom(value: Any) -> bool:
    return isinstance(value, (*ATOMS, Recorder)) or (isinstance(value, tuple) and all(map(is_atom, value)))


def portrait(value: Any) -> list[Any]:
    """Equal before and after when nothing in the value has changed."""
    seen: list[Any] = []
    for part in parts(value):
        if isinstance(part, np.ndarray):
            seen.append(
                (id(part), part.shape, part.strides, part.dtype.str, part.flags.writeable, owner(part).tobytes())
            )
        elif isinstance(part, np.random.Generator):
            seen.append(repr(part.bit_generator.state))
        elif not isinstance(part, Recorder):
            seen.append(id(part) if not is_atom(part) else (type(part), repr(part)))
    return seen


def waiting(value: Any) -> int:
    """How much an iterator still has to give."""
    return operator.length_hint(value, 0) if hasattr(value, "__next__") else 0


def global_generator() -> tuple[int, bytes]:
    """Where the global generator stands."""
    _, keys, position, *_ = np.random.get_state()
    return position, keys.tobytes()


def used_up(result: Any) -> Any:
    """The result, or what it gives when it is an iterator or a window on a dict."""
    if hasattr(result, "__next__") or type(result).__name__ in ("dict_keys", "dict_values", "dict_items"):
        return list(islice(result, 50))
    return result


def fits(known: Behaviour, given: Given) -> bool:
    """Whether what is known holds for these arguments."""
    if known.takes == "anything":
        return True
    strange = (dict, set, Recorder, slice)
    return all(
        key in known.calls or not (isinstance(part, strange) or (hasattr(part, "__next__") and not known.iterates))
        for key, value in given.items()
        for part in parts(value)
    )


def probe(
    function: Callable[..., Any], known: Behaviour, positional: list[Any], keywords: Given, self: Any = None
) -> Any:
    """The result of the call. `Mistake` when it did more than what is known.

    Exceptions of the call itself pass, but only after what it did to its arguments was looked at.
    """
    given: Given = {**dict(enumerate(positional)), **keywords}
    if self is not None:
        given["self"] = self
    before = {key: portrait(value) for key, value in given.items()}
    iterators = {key: waiting(value) for key, value in given.items()}
    global_state = global_generator()
    failure: Exception | None = None
    result = None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = function(*positional, **keywords)
            is_given = any(result is value for value in given.values())
            seen = result if is_given or known.result in ("atom", "fresh") else used_up(result)
        except EMPTY_HANDED as error:
            failure = error
    changed = {key for key, value in given.items() if portrait(value) != before[key]}
    used = {key for key, value in given.items() if waiting(value) != iterators[key]}
    called = {
        key for key, value in given.items() if any(part.num_calls for part in parts(value) if type(part) is Recorder)
    }
    drawn = global_generator() != global_state
    for behaviour in {known, known.when(len(positional), keywords)}:
        writes = set(behaviour.writes)
        faults = [f"it has changed {key!r}" for key in changed - writes]
        faults += [f"it has used up {key!r}" for key in used - writes if not behaviour.iterates]
        faults += [f"it has called {key!r}" for key in called - set(behaviour.calls)]
        if drawn and behaviour.state != "numpy.random":
            faults.append("it has drawn from the global generator")
        if failure is None:
            faults += wrong(behaviour, result, seen, given)
        if faults:
            name = getattr(function, "__name__", function)
            raise Mistake(f"{name}(*{positional!r}, **{keywords!r}) gave {result!r}; {faults}, but {behaviour}")
    if failure is not None:
        raise failure
    return result


def wrong(behaviour: Behaviour, result: Any, seen: Any, given: Given) -> Iterator[str]:
    """What is wrong with this result."""
    written = [part for key in behaviour.writes if key in given and key != "self" for part in parts(given[key])]
    others = [value for key, value in given.items() if key not in behaviour.writes or key == "self"]
    leaves = [part for part in parts(seen) if not is_atom(part) and not any(shares(part, other) for other in written)]
    if behaviour.result == "atom":
        if not is_atom(result):
            yield "it is no atom"
    elif behaviour.result == "fresh":
        arguments = [part for other in others for part in parts(other)]
        if any(shares(leaf, argument) for leaf in leaves for argument in arguments):
            yield "it shares memory with an argument"
    elif behaviour.result in ("list", "contents"):
        if isinstance(result, np.ndarray):
            yield "it is an array"
        if isinstance(result, tuple | frozenset):
            return  # it may be the argument itself: nobody can tell, for it never changes
        if any(result is other for other in others):
            yield "it is an argument"
        elif behaviour.result == "list" and any(leaf is other for leaf in leaves for other in others):
            yield "it holds an argument"
