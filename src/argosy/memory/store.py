"""Named objects in two tiers, moved by a placement, and the record of what each window did to them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import TracebackType

from argosy import arguments
from argosy.errors import ObjectFreed, PlacementError, UnknownObject
from argosy.memory.tiers.disk import Disk
from argosy.memory.tiers.ram import Ram
from argosy.memory.tiers.tier import Block, Tier, copy_bytes, tier_of
from argosy.memory.trace import Touch, Trace, Window
from argosy.memory.values import Form, Value, flatten


@dataclass(kw_only=True, slots=True)
class _Held:
    """One object: where it lies, and how to see it."""

    form: Form
    tier: str
    block: Block


@dataclass(kw_only=True, slots=True)
class _Open:
    """The window under way."""

    name: str
    began: float
    touched: dict[str, list[int]] = field(default_factory=dict)
    """Bytes read and written, by object."""
    exact: set[str] = field(default_factory=set)
    """Objects of which the caller counted the bytes."""


class Store:
    """Holds objects by name in a fast and a slow tier. For one thread; windows do not nest.

    Inside `with store.window(name)`, `store[x]` counts as reading all of x, `store.write(x)` as writing it and
    `store.update(x)` as both. A window's time includes giving its slow objects back to their tier: what it wrote is
    written back, what was cached for it is dropped. So a value taken in one window must be taken again in the next.
    """

    def __init__(self, *, fast: Tier | None = None, slow: Tier | None = None, program: str = "") -> None:
        program = arguments.text("program", program)
        self.fast: Tier = Ram() if fast is None else tier_of("fast", fast)
        self.slow: Tier = Disk() if slow is None else tier_of("slow", slow)
        if self.fast.name == self.slow.name:
            raise ValueError(f"the fast and the slow tier are both {self.fast.name!r}; name two that differ")
        for tier in (self.fast, self.slow):
            tier.check()
        self.program = program
        self.before_window: Callable[[str], object] | None = None
        """Called with its name before each window, outside of its time; it may move objects."""
        self.on_window_end: Callable[[Window], object] | None = None
        """Called after each window, outside of its time; it may move objects."""
        self._held: dict[str, _Held] = {}
        self._open: _Open | None = None
        self._windows: list[Window] = []

    # objects

    def put(self, name: str, value: Value, *, tier: str | None = None) -> None:
        """Copies a value in, into the fast tier unless another is named; an object of that name is replaced."""
        arguments.text("name", name)
        self._outside(f"put {name!r}")
        flat = flatten(name, value)
        target = self._tier(tier if tier is not None else self.fast.name)
        block = target.hold(flat.form.nbytes)
        try:
            flat.fill(block.open())
            block.rest(written=True)
        except BaseException:
            block.free()
            raise
        if name in self._held:
            self._held[name].block.free()
        self._held[name] = _Held(form=flat.form, tier=target.name, block=block)

    def free(self, name: str) -> None:
        """Raises `ObjectFreed` for one that the window under way has used: it stays."""
        held = self._find(name)
        if self._open is not None and name in self._open.touched:
            raise ObjectFreed(
                f"{name!r} was freed in the middle of window {self._open.name!r}, which uses it; free it afterwards"
            )
        del self._held[name]
        held.block.free()

    def __getitem__(self, name: str) -> Value:
        """The value, to read."""
        return self._take(name, read=True, written=False)

    def write(self, name: str) -> Value:
        """The value, to be overwritten as a whole."""
        return self._take(name, read=False, written=True)

    def update(self, name: str) -> Value:
        """The value, to be read and written."""
        return self._take(name, read=True, written=True)

    def count(self, name: str, *, bytes_read: int = 0, bytes_written: int = 0) -> None:
        """In this window so many bytes of an object are touched, and not all of it."""
        bytes_read = arguments.whole("bytes_read", bytes_read, least=0, most=2**63 - 1)
        bytes_written = arguments.whole("bytes_written", bytes_written, least=0, most=2**63 - 1)
        if self._open is None:
            raise PlacementError(f"bytes of {name!r} can only be counted inside `with store.window(...)`")
        self._find(name)
        counted = self._open.touched.setdefault(name, [0, 0])
        if name not in self._open.exact:
            self._open.exact.add(name)
            counted[:] = [0, 0]
        counted[0] += bytes_read
        counted[1] += bytes_written

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._held

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    # windows

    def window(self, name: str) -> AbstractContextManager[None]:
        """Times what runs inside it. A window that raises is not recorded."""
        return _Marked(self, arguments.text("window(): name", name))

    def _begin(self, name: str) -> _Open:
        self._outside(f"start window {name!r}")
        if self.before_window is not None:
            self.before_window(name)
        self._settle()
        return _Open(name=name, began=time.perf_counter())

    def _end(self, window: _Open, *, whole: bool) -> None:
        try:
            self._settle()
            for touched, (_, written) in window.touched.items():
                self._held[touched].block.rest(written=written > 0)
        finally:
            self._open = None
        if not whole:
            return
        seconds = time.perf_counter() - window.began
        touches = tuple(
            Touch(object=key, bytes_read=read, bytes_written=written, tier=self._held[key].tier)
            for key, (read, written) in window.touched.items()
        )
        ended = Window(name=window.name, seconds=seconds, touches=touches)
        self._windows.append(ended)
        if self.on_window_end is not None:
            self.on_window_end(ended)

    def _settle(self) -> None:
        for tier in (self.fast, self.slow):
            tier.settle()

    def trace(self) -> Trace:
        """Of the windows since the last `forget`."""
        return Trace(program=self.program, sizes=self.sizes, windows=tuple(self._windows))

    def forget(self) -> None:
        """Starts a new trace."""
        self._windows.clear()

    # placements

    @property
    def placement(self) -> dict[str, str]:
        return {name: held.tier for name, held in self._held.items()}

    @property
    def sizes(self) -> dict[str, int]:
        return {name: held.form.nbytes for name, held in self._held.items()}

    def place(self, placement: Mapping[str, str]) -> int:
        """Moves each named object to its tier, those that leave the fast tier first. Returns the bytes moved.

        Raises `TierFull` where a tier has no room: the object that did not fit stays whole where it was, as do those
        after it.
        """
        self._outside("move objects")
        placement = arguments.mapping("placement", placement, "a dictionary from objects to tiers")
        for name, tier in placement.items():
            self._find(name)
            self._tier(tier)
        leaving_first = sorted(placement.items(), key=lambda item: item[1] == self.fast.name)
        return sum(self._move(name, self._tier(tier)) for name, tier in leaving_first)

    def _move(self, name: str, target: Tier) -> int:
        held = self._held[name]
        if held.tier == target.name:
            return 0
        block = target.hold(held.form.nbytes)
        try:
            copy_bytes(held.block.open(), block.open())
            block.rest(written=True)
        except BaseException:
            block.free()
            raise
        held.block.free()
        held.block, held.tier = block, target.name
        return held.form.nbytes

    # the end

    def close(self) -> None:
        """Frees every object. Values that were taken before stay usable as long as somebody holds them."""
        for held in self._held.values():
            held.block.free()
        self._held.clear()
        self._open = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # help

    def _take(self, name: str, *, read: bool, written: bool) -> Value:
        held = self._find(name)
        if self._open is not None:
            counted = self._open.touched.setdefault(name, [0, 0])
            if name not in self._open.exact:
                counted[0] += held.form.nbytes if read else 0
                counted[1] += held.form.nbytes if written else 0
        return held.form.view(held.block.open())

    def _find(self, name: str) -> _Held:
        if type(name) is not str:  # of which the one that is asked for in every window is the quick one
            name = arguments.text("the name of an object", name)
        if name not in self._held:
            raise UnknownObject(name, self._held)
        return self._held[name]

    def _tier(self, name: str) -> Tier:
        arguments.text("tier", name)
        for tier in (self.fast, self.slow):
            if tier.name == name:
                return tier
        raise ValueError(f"there is no tier {name!r}; this store has {self.fast.name!r} and {self.slow.name!r}")

    def _outside(self, doing: str) -> None:
        if self._open is not None:
            raise PlacementError(f"cannot {doing} in the middle of window {self._open.name!r}; do it between windows")


class _Marked(AbstractContextManager[None]):
    """`with store.window(name)`. A class and not a generator, which Python would run to its end whenever it finds the
    time, if Ctrl-C came just where a window ends: then the store may be gone."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name

    def __enter__(self) -> None:
        self._store._open = self._store._begin(self._name)  # the last act: nothing can come between it and the block

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        window = self._store._open
        if window is not None:  # else the store was closed inside the window
            self._store._end(window, whole=kind is None)
