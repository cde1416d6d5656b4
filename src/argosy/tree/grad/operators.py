"""The operators of something traced.

Each calls the same operator on what is held, so that floats stay floats and errors are Python's.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from argosy.tree.grad.calls import elementwise, function, gathered, item, ufunc
from argosy.tree.grad.index import plain_index
from argosy.tree.grad.stores import is_done, write
from argosy.tree.grad.traced import Traced, is_array


def _left(func: Any, call: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: elementwise(func, call, (self, other))


def _right(func: Any, call: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: elementwise(func, call, (other, self))


def _alone(func: Any, call: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda self: elementwise(func, call, (self,))


def _inplace(func: Any, call: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def run(self: Any, other: Any) -> Any:
        out = elementwise(func, call, (self, other))
        if not is_array(self):
            return out
        kind = getattr(out, "dtype", self.dtype)
        if not np.can_cast(kind, self.dtype, "same_kind"):
            func(np.ones((), kind), np.ones((), kind), out=np.ones((), self.dtype))  # raises NumPy's own error
        write(self, ..., out)
        return self

    return run


class _Operators:
    """What `Traced` gets below: it needs the functions that record, which need `Traced`."""

    __add__, __radd__, __iadd__ = (make(np.add, operator.add) for make in (_left, _right, _inplace))
    __sub__, __rsub__, __isub__ = (make(np.subtract, operator.sub) for make in (_left, _right, _inplace))
    __mul__, __rmul__, __imul__ = (make(np.multiply, operator.mul) for make in (_left, _right, _inplace))
    __truediv__, __rtruediv__, __itruediv__ = (
        make(np.true_divide, operator.truediv) for make in (_left, _right, _inplace)
    )
    __floordiv__, __rfloordiv__, __ifloordiv__ = (
        make(np.floor_divide, operator.floordiv) for make in (_left, _right, _inplace)
    )
    __mod__, __rmod__, __imod__ = (make(np.remainder, operator.mod) for make in (_left, _right, _inplace))
    __pow__, __rpow__, __ipow__ = (make(np.power, operator.pow) for make in (_left, _right, _inplace))
    __matmul__, __rmatmul__, __imatmul__ = (make(np.matmul, operator.matmul) for make in (_left, _right, _inplace))
    __and__, __rand__, __iand__ = (make(np.bitwise_and, operator.and_) for make in (_left, _right, _inplace))
    __or__, __ror__, __ior__ = (make(np.bitwise_or, operator.or_) for make in (_left, _right, _inplace))
    __xor__, __rxor__, __ixor__ = (make(np.bitwise_xor, operator.xor) for make in (_left, _right, _inplace))
    __lt__ = _left(np.less, operator.lt)
    __le__ = _left(np.less_equal, operator.le)
    __gt__ = _left(np.greater, operator.gt)
    __ge__ = _left(np.greater_equal, operator.ge)
    __eq__ = _left(np.equal, operator.eq)
    __ne__ = _left(np.not_equal, operator.ne)
    __neg__ = _alone(np.negative, operator.neg)
    __pos__ = _alone(np.positive, operator.pos)
    __abs__ = _alone(np.absolute, operator.abs)
    __invert__ = _alone(np.invert, operator.inv)
    __hash__ = None  # type: ignore[assignment]

    def __divmod__(self: Any, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __array_ufunc__(self: Any, func: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return ufunc(func, method, inputs, kwargs)

    def __array_function__(self: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(func, args, kwargs)

    def __getitem__(self: Any, index: Any) -> Any:
        return item(self, index)

    def __setitem__(self: Any, index: Any, value: Any) -> None:
        index = plain_index(index)
        if not is_done(self, index, value):
            write(self, index, gathered(value))

    def __iter__(self: Any) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __contains__(self: Any, value: Any) -> bool:
        return bool(np.any(self == value))

    def __copy__(self: Any) -> Any:
        return np.copy(self)

    def __deepcopy__(self: Any, memo: Any) -> Any:
        return np.copy(self)

    @property
    def T(self: Any) -> Any:  # noqa: N802 (the name is NumPy's)
        return np.transpose(self)


for _name, _member in vars(_Operators).items():
    if _name not in ("__module__", "__doc__", "__dict__", "__weakref__"):
        setattr(Traced, _name, _member)
