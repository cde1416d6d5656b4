"""What is known of a value before it is there: enough to say what operations on it read, write and may call.

    ATOM      never changes and holds nothing that does: numbers, strings, None, ranges, dtypes, NumPy scalars
    ARRAY     an exact `numpy.ndarray` with at least one axis and no objects in it
    VALUE     one of the two
    SLICE     a `slice` of atoms
    RNG       a `numpy.random.Generator`
    NEVER     no value at all: the element of an empty list
    RESULT    what a known function returned: a VALUE, or a new tuple or list of such
    MADE      an object of a class not known yet that this function alone holds: what a task returned
    UNKNOWN   anything else: what is done with it may run code of the user's
    a Box     a list, tuple, dict, set or iterator, with the kind of its elements (dict: of its values)
    a Known   a certain function, class or module
    a Closure an inner function: its code and the kinds of what it captured
    a Declared  an instance of a class that says its instances never change

Equal kinds are the same object where it matters for speed; all of them can be keys.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from argosy.calls import Call
from argosy.tree.knowledge import of_function

_DEEPEST = 3
_LOOKED_AT = 256
"""Elements of a container that are looked at, at most; a longer one is UNKNOWN."""


class Kind:
    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


ATOM = Kind("a number or text")
ARRAY = Kind("an array")
VALUE = Kind("an array or a number")
RNG = Kind("a random generator")
NEVER = Kind("nothing")
RESULT = Kind("what a function gave")
MADE = Kind("what a task or a frame will give")
SLICE = Kind("a slice")
UNKNOWN = Kind("an object of a class that says nothing of itself")


@dataclass(frozen=True, slots=True)
class Box:
    tag: str
    item: Any

    def __str__(self) -> str:
        return f"a {self.tag} of: {self.item}"


def boxed(tag: str, item: Any) -> Any:
    """A Box, unless it would be a box in a box in a box in a box: then nothing is known."""
    return Box(tag, item) if _depth(item) < _DEEPEST else UNKNOWN


def _depth(kind: Any) -> int:
    return 1 + _depth(kind.item) if type(kind) is Box else 0


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    target: Any

    def __eq__(self, other: object) -> bool:
        return type(other) is Known and other.target is self.target

    def __hash__(self) -> int:
        return id(self.target)

    def __str__(self) -> str:
        return getattr(self.target, "__name__", type(self.target).__name__)


@dataclass(frozen=True, slots=True)
class Closure:
    code: Any
    globals_id: int
    cells: tuple[Any, ...]
    sample: Any
    """A function of this code; only its source and globals are looked at."""

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is Closure
            and other.code is self.code
            and other.globals_id == self.globals_id
            and other.cells == self.cells
        )

    def __hash__(self) -> int:
        return hash((id(self.code), self.cells))

    def __str__(self) -> str:
        return f"the inner function {self.code.co_name}"


@dataclass(frozen=True, slots=True)
class Declared:
    cls: Any

    def __str__(self) -> str:
        return f"a {self.cls.__name__}"

    @property
    def pure(self) -> frozenset[str]:
        """Its methods and operators that change nothing and are quick."""
        own: frozenset[str] | None = getattr(self.cls, "__argosy_pure__", None)
        return own if own is not None else _VALUES_OF_OTHERS[f"{self.cls.__module__}.{self.cls.__name__}"]

    @property
    def holds_memory(self) -> bool:
        """Its instances never change by themselves, but may lie in memory that somebody else changes."""
        module: str = self.cls.__module__
        return not module.startswith("pathlib") and self.cls.__name__ != "Schema"


_PATH = frozenset({"__truediv__", "__rtruediv__", "with_suffix", "with_name", "with_stem", "joinpath", "as_posix"})
_TABLE = frozenset({"__getitem__", "column", "select", "slice", "filter", "take", "sort_by", "drop_columns", "equals"})
_VALUES_OF_OTHERS = {
    "pathlib.PosixPath": _PATH,
    "pathlib.PurePosixPath": _PATH,
    "pathlib._local.PosixPath": _PATH,
    "pyarrow.lib.Table": _TABLE,
    "pyarrow.lib.RecordBatch": _TABLE,
    "pyarrow.lib.Schema": frozenset({"field", "equals"}),
}
"""Classes of others whose instances never change, with their methods that only make new ones."""

AnyKind = Kind | Box | Known | Closure | Declared

_ATOMS = frozenset(
    {int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, np.dtype}
)
_NUMBERS = {ATOM, ARRAY, VALUE, RESULT}


def kind_of(value: Any, depth: int = 0) -> AnyKind:
    """The kind of a value that is there. A few tenths of a microsecond for arrays and atoms."""
    cls = type(value)
    if cls in _ATOMS:
        return ATOM
    if cls is np.ndarray:
        dtype = value.dtype
        if dtype.hasobject or dtype.names is not None:
            return UNKNOWN
        return ARRAY if value.ndim else VALUE
    if cls in _BOXES:
        if len(value) > _LOOKED_AT or depth > 3:
            return UNKNOWN
        return _box_kind(value, cls, depth)
    if issubclass(cls, np.generic):
        return UNKNOWN if issubclass(cls, (np.void, np.object_)) or cls.__module__ != "numpy" else ATOM
    if cls is slice:
        parts = (value.start, value.stop, value.step)
        return SLICE if all(kind_of(part) is ATOM for part in parts) else UNKNOWN
    if cls is FunctionType:
        if value.__closure__:
            return _closure_kind(value, depth)
        return Known(value)
    if cls in (BuiltinFunctionType, ModuleType, np.ufunc, type) or (callable(value) and _is_known(value, cls)):
        return Known(value)
    if cls is np.random.Generator:
        return RNG
    if issubclass(cls, np.dtype):
        return ATOM
    if of_class(cls, "__argosy_value__") or f"{cls.__module__}.{cls.__name__}" in _VALUES_OF_OTHERS:
        return Declared(cls)
    return UNKNOWN


_BOXES: dict[type, str] = {list: "list", tuple: "tuple", dict: "dict", set: "set", frozenset: "set"}


def of_class(cls: type, name: str) -> Any:
    """An attribute of a class, without asking code of anybody's; None when there is none."""
    return next((vars(base)[name] for base in type.__dict__["__mro__"].__get__(cls) if name in vars(base)), None)


def declared_of(value: Any) -> Any:
    """What a callable says of its calls, without asking code of anybody's; None when it says nothing."""
    if type(value) is MethodType:
        value = value.__func__
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        own = {}
    found = own.get("__argosy_call__") if type(own) is dict else None
    found = found if found is not None else of_class(type(value), "__argosy_call__")
    return found if type(found) is Call else None


def _is_known(value: Any, cls: type) -> bool:
    """Functions that are not of the usual classes: numpy's dispatchers, types with a metaclass, our own callables."""
    return (
        issubclass(cls, type)
        or declared_of(value) is not None
        or of_class(cls, "__argosy_plain__")
        or of_function(value) is not None
    )


def _box_kind(value: Any, cls: type, depth: int) -> AnyKind:
    item: AnyKind = NEVER
    for element in value.values() if cls is dict else value:
        item = join(item, kind_of(element, depth + 1))
        if item is UNKNOWN:
            return UNKNOWN
    if cls is dict and any(not _plain_key(key) for key in value):
        return UNKNOWN
    if cls is tuple and (item is ATOM or item is NEVER):
        return ATOM_TUPLE
    return Box(_BOXES[cls], item)


def nbytes_of(value: Any) -> int:
    """Of an array; anything else is not asked, for it may answer by code of the user's."""
    return value.nbytes if type(value) is np.ndarray else 0


def holds_only_atoms(held: Iterable[Any]) -> bool:
    """Quick also for millions: all elements of a container are atoms, or all are tuples of atoms."""
    inner = set(map(type, held))
    if inner == {tuple}:
        inner = set(map(type, chain.from_iterable(held)))
    return all(cls in _ATOMS or (issubclass(cls, np.number) and cls.__module__ == "numpy") for cls in inner)


def _plain_key(key: Any) -> bool:
    return type(key) in _ATOMS or (type(key) is tuple and all(map(_plain_key, key))) or kind_of(key) is ATOM


def _closure_kind(value: FunctionType, depth: int) -> AnyKind:
    if depth > 3:
        return UNKNOWN
    cells = []
    for cell in value.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:  # not bound yet
            return UNKNOWN
        cells.append(ATOM if content is value else kind_of(content, depth + 1))
    return Closure(value.__code__, id(value.__globals__), tuple(cells), value)


ATOM_TUPLE = Box("tuple", ATOM)


def join(one: AnyKind, other: AnyKind) -> AnyKind:
    """What is known of a value that is one or the other."""
    if one is other or one == other:
        return one
    if one is NEVER:
        return other
    if other is NEVER:
        return one
    if one in _NUMBERS and other in _NUMBERS:
        return RESULT if one is RESULT or other is RESULT else VALUE
    if isinstance(one, Box) and other is RESULT and is_plain(one):
        return RESULT
    if isinstance(other, Box) and one is RESULT and is_plain(other):
        return RESULT
    if isinstance(one, Box) and isinstance(other, Box) and one.tag == other.tag:
        return boxed(one.tag, join(one.item, other.item))  # type: ignore[no-any-return]
    return UNKNOWN


def is_plain(kind: AnyKind) -> bool:
    """Operations on it run no code of the user's: numbers, strings, arrays, and containers of them."""
    if isinstance(kind, Box):
        return kind.tag != "iterator" and is_plain(kind.item)
    return kind in _NUMBERS or kind is NEVER or kind is SLICE


def is_still(kind: AnyKind) -> bool:
    """It can never be changed, nor anything in it."""
    if isinstance(kind, Box):
        return kind.tag == "tuple" and is_still(kind.item)
    if isinstance(kind, Declared):
        return not kind.holds_memory
    return kind is ATOM or kind is NEVER or kind is SLICE or isinstance(kind, Known)
