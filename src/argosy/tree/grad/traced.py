"""An array or a number that remembers how it was made.

It behaves as the ndarray or float that it holds: NumPy's functions, operators, indexing and in-place stores work on it.
A `Traced` without a node is a constant; it is wrapped all the same, so that a store of something traced into it is
seen. What shares memory in NumPy shares it here: a view knows the array it was taken from (its root) and finds its
node anew when the root was written to since.

Nothing that depends on an argument leaves this world unseen: what would turn it into a plain number or array raises
`NotDifferentiable`. Comparisons, `bool` and `int` are concrete, as their derivative is zero wherever there is one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from enum import Enum
from functools import reduce
from typing import Any

import numpy as np

from argosy.tree.grad.nodes import Gradients, Node
from argosy.tree.grad.tables import METHODS
from argosy.tree.grad.tape import Tape, refusal


class Owner(Enum):
    """Whose memory a root holds, and so what a store into it means."""

    FUNCTION = "made by the function itself"
    CALLER = "an argument's: it is copied before the first store"
    OUTSIDE = "from outside of the function: it takes stores, but of nothing traced"
    SHARED = "the function's, but code that is not followed has seen it: it takes nothing traced any more"


class Saved:
    """A value that the way back needs, as it was when it was saved."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Step:
    """How a view is taken of an array, and how its gradient goes back."""

    __slots__ = ("back", "forward")

    def __init__(self, forward: Callable[[Any], Any], back: Callable[[Any, Gradients, Node], None]) -> None:
        self.forward = forward
        self.back = back


class Traced:
    """What a function gets for an array or a float: see above."""

    _parent: Traced
    _step: Step
    _seen: int
    __slots__ = ("_node", "_parent", "_root", "_saved", "_seen", "_step", "_value", "_version", "owner", "tape")

    def __init__(self, tape: Tape, value: Any, node: Node | None = None, owner: Owner = Owner.FUNCTION) -> None:
        self.tape = tape
        self.owner = owner
        self._value = value
        self._node = node
        self._root: Traced | None = None
        """Of a view. A root has None, not itself: without a cycle, what is not needed is freed at once."""
        self._version = 0
        self._saved: list[Saved] | None = None

    def view(self, value: Any, node: Node | None, step: Step) -> Traced:
        """What `step` makes of this one, in the same memory."""
        made = Traced(self.tape, value, node)
        made._root = root = self.root
        made._parent = self
        made._step = step
        made._seen = root._version
        return made

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """To `isinstance` it is what it holds. Here, `type(x) is Traced` and `is_plain_array(x)` tell them apart."""
        return type(innermost(self))

    # what it holds

    @property
    def value(self) -> Any:
        if self._root is not None and self._seen != self._root._version:
            self._renew()
        return self._value

    @property
    def node(self) -> Node | None:
        if self._root is not None and self._seen != self._root._version:
            self._renew()
        return self._node

    def _renew(self) -> None:
        """A view after its root was written to."""
        self._value = self._step.forward(self._parent.value)
        self._node = stepped(self._parent.node, self._step, self._value)
        self._seen = self.root._version

    @property
    def root(self) -> Traced:
        return self if self._root is None else self._root

    def keep(self, saved: Saved) -> None:
        """`saved` holds this value's memory: it gets a copy before the memory is written to."""
        root = self.root
        if root._saved is None:
            root._saved = [saved]
        else:
            root._saved.append(saved)

    def kept(self, value: Any) -> Saved | None:
        """What was saved last, if it is the same."""
        saved = self.root._saved
        return saved[-1] if saved and saved[-1].value is value else None

    def path(self) -> Callable[[Any], Any]:
        """From an array of the root's shape to what this is a view of."""
        steps: list[Callable[[Any], Any]] = []
        view = self
        while view._root is not None:
            steps.insert(0, view._step.forward)
            view = view._parent
        return lambda array: reduce(lambda found, step: step(found), steps, array)

    def before_write(self) -> None:
        """Of a root: after this its memory may be written to."""
        if self.owner is Owner.CALLER:
            self._value = self._value.copy()
            self.owner = Owner.FUNCTION
            self._version += 1
        elif self._saved:
            for saved in self._saved:
                saved.value = saved.value.copy()
        self._saved = None

    def written(self, node: Node | None) -> None:
        """Of a root: its memory was written to."""
        self._node = node
        self._version += 1

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        self._leave("the conversion of something traced to a plain array")
        self._escape()
        return np.array(self.value, dtype=dtype, copy=copy)

    def __getattr__(self, name: str) -> Any:
        method = METHODS.get(name)
        if method is not None:
            return lambda *args, **kwargs: method(self, *args, **kwargs)
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(f"{type(innermost(self)).__name__!r} object has no attribute {name!r}")
        if name in ("flags", "itemsize", "strides"):
            return getattr(innermost(self), name)
        if holds_node(self):
            raise refusal(f"the gradient of ndarray.{name} is not known", "write it with functions that have one")
        self._escape()
        return getattr(self.value, name)

    def _escape(self) -> None:
        """Code that is not followed gets the array itself, and may write to it."""
        root = self.root
        if root.owner is not Owner.OUTSIDE:
            root.before_write()
            root.owner = Owner.SHARED

    # attributes of an array

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of(innermost(self))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.size(innermost(self)))

    @property
    def dtype(self) -> np.dtype[Any]:
        inner = innermost(self)
        return inner.dtype if hasattr(inner, "dtype") else np.dtype(type(inner))

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def real(self) -> Any:
        return self

    def __len__(self) -> int:
        return len(innermost(self))

    def __repr__(self) -> str:
        return repr(self.value)

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec)

    # plain numbers

    def _leave(self, what: str) -> None:
        if holds_node(self):
            error = refusal(what, "the gradient would be lost there; use NumPy's functions on it")
            self.tape.refusal = self.tape.refusal or error  # in a thread of the function's own, too
            raise error

    def __float__(self) -> float:
        self._leave("the conversion of something traced to a plain float")
        return float(self.value)

    def __complex__(self) -> complex:
        self._leave("the conversion of something traced to a complex number")
        return complex(self.value)

    def __reduce__(self) -> Any:
        self._leave("pickling something traced")
        return _same, (self.value,)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.value) if digits is None else round(self.value, digits)

    def __trunc__(self) -> int:
        return int(self.value)

    def __floor__(self) -> Any:
        return self.value.__floor__()

    def __ceil__(self) -> Any:
        return self.value.__ceil__()


def _same(value: Any) -> Any:
    return value


def shape_of(x: Any) -> tuple[int, ...]:
    """`np.shape`, without asking NumPy where that is slow."""
    return x.shape if hasattr(x, "shape") else np.shape(x)


def rank_of(x: Any) -> int:
    return len(shape_of(x))


def innermost(x: Any) -> Any:
    while isinstance(x, Traced):
        x = x.value
    return x


def holds_node(x: Any) -> bool:
    """Does it depend on an argument of any gradient at work?"""
    while isinstance(x, Traced):
        if x.node is not None and not x.tape.ended:
            return True
        x = x.value
    return False


def is_plain_array(x: Any) -> bool:
    return issubclass(type(x), np.ndarray)


def is_array(x: Any) -> bool:
    return isinstance(innermost(x), np.ndarray)


def stepped(node: Node | None, step: Step, value: Any) -> Node | None:
    if node is None:
        return None
    return Node(value, lambda g, gradients: step.back(g, gradients, node))


def shares(a: Any, b: Any) -> bool:
    """Is one a view of the other's memory?"""
    if isinstance(a, Traced) and isinstance(b, Traced):
        return a.root is b.root
    return is_plain_array(a) and is_plain_array(b) and bool(np.may_share_memory(a, b))
