"""What travels between the user's process and the ranks: functions, arguments, values and failures, as bytes.

A `Future` inside an argument, at any depth, travels as its number; the worker puts the value in its place. So does an
object that stands for a Future: one whose class has a method `__argosy_future__`, which returns that Future, or None
when the object is to travel as itself. What is large goes on the `Shelf`, if there is one with room, and its `Box`
travels instead.
"""

from __future__ import annotations

import io
import pickle
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, cast
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
_OF_ITS_CODE = (Exception, SystemExit, GeneratorExit)
"""What code in a pickle may raise here. Ctrl-C is the user's."""
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
    except _OF_ITS_CODE as error:
        raise CannotPickle(f"the task's result cannot be unpickled here: {_say(error)}") from error


def pack_failure(error: BaseException, rank: int, node: str) -> bytes:
    """The exception and its traceback as text. What cannot travel arrives as `TaskFailed`."""
    said, text = _headline(error), _traceback(error)
    if issubclass(type(error), SystemExit):  # isinstance asks the object, and code of its own may answer
        error = TaskExited(cast(SystemExit, error).code)
    try:
        BaseException.with_traceback(error, None)
        packed = cloudpickle.dumps(error, protocol=5)
        _unpack_exception(packed)
    except BaseException as why:
        packed = pickle.dumps(TaskFailed(f"{said} (this exception cannot be pickled: {_say(why)})"))
    return pickle.dumps((packed, rank, node, said, text))


class Failure:
    """What a task raised, as it travelled. It becomes an exception where somebody asks for it: the user's code runs in
    that, and may take long or raise.
    """

    def __init__(self, packed: object) -> None:
        """Raises if that is not what `pack_failure` makes."""
        if not isinstance(packed, bytes):
            raise TypeError(f"a failure travels as bytes, not as {type(packed).__name__}")
        self._packed, self._rank, self._node, self.said, self._text = pickle.loads(packed)
        self._error: BaseException | None = None
        self._lock = threading.RLock()

    def open(self) -> BaseException:
        """The exception, always the same one."""
        with self._lock:
            if self._error is None:
                self._error = self._unpack()
                put_cause(self._error, RemoteTraceback(self._rank, self._node, self._text))
            return self._error

    def _unpack(self) -> BaseException:
        try:
            return _unpack_exception(self._packed)
        except _OF_ITS_CODE as why:
            return TaskFailed(f"{self.said} (this exception cannot be unpickled here: {_say(why)})")


def put_cause(error: BaseException, cause: BaseException | None) -> None:
    """Also where the class of the error lets no attribute be set."""
    BaseException.__dict__["__cause__"].__set__(error, cause)


def _unpack_exception(packed: bytes) -> BaseException:
    error = pickle.loads(packed)
    if not issubclass(type(error), BaseException):
        raise TypeError(f"unpickled it is no exception but of type {type(error).__qualname__}")
    return cast(BaseException, error)


def _headline(error: BaseException) -> str:
    return f"{type(error).__qualname__}: {_say(error)}"


def _traceback(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error))
    except BaseException as why:
        frames = "".join(traceback.format_tb(BaseException.__dict__["__traceback__"].__get__(error)))
        return f"{frames}{_headline(error)} (the whole traceback cannot be shown: {_say(why)})"


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
    try:
        return str(error) or type(error).__name__
    except BaseException as why:
        return f"{type(error).__name__} (whose text cannot be had: str() of it raised {type(why).__name__})"
