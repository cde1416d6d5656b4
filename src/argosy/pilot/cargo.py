"""What travels between the user's process and the ranks: functions, arguments, values and failures, as bytes.

A `Future` inside an argument, at any depth, travels as its number; the worker puts the value in its place. So does an
object that stands for a Future: one whose class has a method `__argosy_future__`, which returns that Future, or None
when the object is to travel as itself. What is large goes on the `Shelf`, if there is one with room, and its `Box`
travels instead.
"""

from __future__ import annotations

import io
import pickle
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import cloudpickle

from argosy.errors import CannotPickle, RemoteTraceback, TaskExited, TaskFailed
from argosy.pilot.future import Future
from argosy.pilot.shelf import LARGE_NBYTES, Box, Parcel, Shelf

_LeaveOut = Callable[[pickle.PickleBuffer], bool]
"""Told of each buffer while something is pickled; False to leave it out."""


@dataclass(frozen=True, slots=True)
class Call:
    """A function and its arguments, ready to travel."""

    function: bytes | Parcel
    arguments: bytes | Parcel
    inputs: tuple[Future, ...]
    """The Futures found in either, in the order of their numbers."""


Packed = tuple[bytes | Parcel, dict[int, Future]]
"""A function as it travels, and the Futures in it."""
_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})
"""Types that need no help to travel."""
_NEVER_FUTURES = _PLAIN | {tuple, list, dict, set, frozenset, type, CodeType, FunctionType, CellType, ModuleType}
_STANDS_FOR = "__argosy_future__"
COMM_NUMBER = -1
"""Travels in the place of the task's communicator, as the number of a Future does in that of its value."""
_packed_before: WeakKeyDictionary[Callable[..., Any], tuple[CodeType, bytes]] = WeakKeyDictionary()


class _Communicator:
    """Stands among the arguments of a call where each rank puts the communicator of the task."""

    def __repr__(self) -> str:
        return "comm"


COMMUNICATOR = _Communicator()


class _Packer(cloudpickle.Pickler):  # type: ignore[misc]
    def __init__(self, file: io.BytesIO, found: dict[int, Future], leave_out: _LeaveOut | None) -> None:
        super().__init__(file, protocol=5, buffer_callback=leave_out)
        self._found = found

    def persistent_id(self, item: Any) -> int | None:
        if type(item) in _NEVER_FUTURES:  # most of what is packed
            return None
        if item is COMMUNICATOR:
            return COMM_NUMBER
        future = item if isinstance(item, Future) else _future_behind(item)
        if future is None:
            return None
        self._found[future.id] = future
        return future.id


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, values: dict[int, Any], buffers: list[memoryview]) -> None:
        super().__init__(file, buffers=buffers)
        self._values = values

    def persistent_load(self, number: Any) -> Any:
        return self._values[number]


def pack_function(function: Callable[..., Any], shelf: Shelf | None = None) -> Packed:
    found: dict[int, Future] = {}
    fixed = isinstance(function, FunctionType) and _is_fixed(function)
    if fixed and (known := _packed_before.get(function)) is not None and known[0] is function.__code__:
        return known[1], found
    try:
        if fixed:
            packed = _dump(function, found, None)
            _packed_before[function] = function.__code__, packed
            return packed, found
        return _pack(function, found, shelf), found
    except Exception as error:
        raise CannotPickle(f"the function {_name(function)} cannot be pickled: {_say(error)}") from error


def pack_call(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    packed_function: Packed | None = None,
    shelf: Shelf | None = None,
) -> Call:
    """Raises `CannotPickle`, which says what it is that cannot travel."""
    code, in_function = packed_function or pack_function(function, shelf)
    found = dict(in_function)
    try:
        arguments = _pack((args, kwargs), found, shelf)
    except Exception as error:
        culprit = _find_culprit(args, kwargs)
        raise CannotPickle(f"{culprit} of {_name(function)} cannot be pickled: {_say(error)}") from error
    return Call(code, arguments, tuple(found[number] for number in sorted(found)))


def unpack(packed: bytes | Box, values: dict[int, Any]) -> Any:
    head, *buffers = packed.open() if isinstance(packed, Box) else (packed,)
    return _Unpacker(io.BytesIO(head), values, buffers).load()


def pack_value(value: Any, shelf: Shelf | None = None) -> bytes | Box:
    """Whoever receives a `Box` must make a `Parcel` of it."""
    if type(value) in _PLAIN and len(packed := pickle.dumps(value, protocol=5)) < LARGE_NBYTES:
        return packed
    try:
        return _stow(lambda leave_out: cloudpickle.dumps(value, protocol=5, buffer_callback=leave_out), shelf)
    except Exception as error:
        raise CannotPickle(
            f"the task's result, of type {type(value).__qualname__}, cannot be pickled: {_say(error)}; "
            "return plain data, or leave it on its rank with keep=True"
        ) from error


def unpack_value(packed: bytes | Box | Parcel) -> Any:
    try:
        head, *buffers = (packed,) if isinstance(packed, bytes) else packed.open()
        return pickle.loads(head, buffers=buffers)
    except Exception as error:
        raise CannotPickle(f"the task's result cannot be unpickled here: {_say(error)}") from error


def pack_failure(error: BaseException, rank: int, node: str) -> bytes:
    """The exception and its traceback as text. What cannot travel arrives as `TaskFailed`."""
    text = "".join(traceback.format_exception(error))
    if isinstance(error, SystemExit):
        error = TaskExited(error.code)
    try:
        packed = cloudpickle.dumps(error.with_traceback(None), protocol=5)
        pickle.loads(packed)
    except Exception as why:
        packed = cloudpickle.dumps(
            TaskFailed(f"{type(error).__qualname__}: {error} (this exception cannot be pickled: {_say(why)})")
        )
    return pickle.dumps((packed, rank, node, text))


def unpack_failure(failure: bytes) -> BaseException:
    packed, rank, node, text = pickle.loads(failure)
    try:
        error: BaseException = pickle.loads(packed)
    except Exception as why:
        error = TaskFailed(f"the task raised an exception that cannot be unpickled here: {_say(why)}")
    error.__cause__ = RemoteTraceback(rank, node, text)
    return error


def _pack(item: Any, found: dict[int, Future], shelf: Shelf | None) -> bytes | Parcel:
    packed = _stow(lambda leave_out: _dump(item, found, leave_out), shelf)
    return Parcel(packed) if isinstance(packed, Box) else packed


def _dump(item: Any, found: dict[int, Future], leave_out: _LeaveOut | None) -> bytes:
    file = io.BytesIO()
    _Packer(file, found, leave_out).dump(item)
    return file.getvalue()


def _stow(dump: Callable[[_LeaveOut | None], bytes], shelf: Shelf | None) -> bytes | Box:
    """What `dump` makes, on the shelf if that is large."""
    if shelf is None:
        return dump(None)
    left_out: list[memoryview] = []

    def leave_out(buffer: pickle.PickleBuffer) -> bool:
        with memoryview(buffer) as view:
            stays = view.nbytes < LARGE_NBYTES or not view.contiguous
        if not stays:
            left_out.append(buffer.raw())
        return stays

    head = dump(leave_out)
    if not left_out and len(head) < LARGE_NBYTES:
        return head
    return shelf.put([head, *left_out]) or (dump(None) if left_out else head)


def _future_behind(item: Any) -> Future | None:
    """The Future that the item stands for. Only its class is asked: many objects have every attribute one asks for."""
    for kind in type(item).__mro__:
        if _STANDS_FOR in kind.__dict__:
            future = kind.__dict__[_STANDS_FOR](item)
            if future is None or isinstance(future, Future):
                return future
            raise TypeError(f"{_STANDS_FOR} of {type(item).__qualname__} returned {future!r}, not a Future")
    return None


def _is_fixed(function: FunctionType) -> bool:
    """Whether the function is its code and nothing else, so that it always packs to the same bytes."""
    if function.__closure__ or function.__defaults__ or function.__kwdefaults__ or function.__dict__:
        return False
    return not function.__annotations__ and _names(function.__code__).isdisjoint(function.__globals__)


@lru_cache(maxsize=1024)
def _names(code: CodeType) -> frozenset[str]:
    """The global names that the code may look up, with those of functions inside it."""
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return frozenset(code.co_names).union(*inner)


def _find_culprit(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    named = [(f"argument {index}", item) for index, item in enumerate(args)]
    named += [(f"argument {name!r}", item) for name, item in kwargs.items()]
    for name, item in named:
        try:
            _dump(item, {}, None)
        except Exception:
            return f"{name} ({type(item).__qualname__})"
    return "the set of arguments"


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", repr(function))


def _say(error: BaseException) -> str:
    return str(error) or type(error).__name__
