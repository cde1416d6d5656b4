"""Traces of torch: each operation is a window, and tensors are objects.

An operation counts once what it reads and writes of each tensor, as large as the part that it was given; how often a
kernel goes over the same bytes is its own affair. Views touch nothing, and belong to the object they look into. Lookups
count the rows they take and not the whole table.

A tensor that was not named belongs, if it is large, to an object of its own kind, `mm[1024x4096]` for what `mm` made in
that shape, as large as all of them that were there at the same time; the small ones are `other` together. Gradients of
the named tensors are `<name>.grad`.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from argosy import arguments
from argosy.memory.trace import Touch, Trace, Window

OTHER = "other"
LARGE_NBYTES = 1 << 20

_LOOKUPS = frozenset({"embedding", "index_select", "index", "gather", "take"})
"""They read as much of their first tensor as they return."""
_SCATTERS = frozenset({"index_put_", "index_copy_", "index_add_", "scatter_add_"})
"""They touch as much of their first tensor as their last one has."""
_OVERWRITES = frozenset({"copy_", "fill_", "zero_"})
_UNTOUCHED = ("empty", "new_empty")


@dataclass(kw_only=True, slots=True)
class _Owner:
    """Of one storage while it lives: addresses are used again, storages are not."""

    name: str
    nbytes: int
    alive: StorageWeakRef
    born: int
    died: int | None = None


@dataclass(kw_only=True, slots=True)
class _Step:
    """One operation. On a GPU its time is between two events, which are read at the end."""

    name: str
    seconds: float = 0.0
    events: tuple[Any, Any] | None = None
    touched: dict[int, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    """Bytes read and written, by the owner's place in the list of owners."""
    tiers: dict[int, str] = field(default_factory=dict)


class Recorded:
    """What has been recorded so far."""

    def __init__(self, named: Mapping[str, torch.Tensor], *, program: str, large_nbytes: int) -> None:
        self.program = program
        self._large_nbytes = large_nbytes
        self._named = dict(named)
        """Kept, so that their storages live and no other takes their address."""
        self._owners: list[_Owner] = []
        self._lasting: dict[int, int] = {}
        """Address of the storage of a named tensor to its owner's place in the list."""
        self._passing: dict[int, int] = {}
        """The same of all others."""
        self._steps: list[_Step] = []
        for name, tensor in self._named.items():
            if tensor.untyped_storage().data_ptr() not in self._lasting:
                self._own(tensor, name, self._lasting)

    def trace(self) -> Trace:
        """Raises `BadTrace` if nothing was recorded. On a GPU, waits for the work under way."""
        if any(step.events is not None for step in self._steps):
            torch.cuda.synchronize()
        windows = tuple(
            Window(name=step.name, seconds=_seconds(step), touches=tuple(self._touches(step))) for step in self._steps
        )
        trace = Trace(program=self.program, sizes=self._sizes(), windows=windows)
        trace.check()
        return trace

    def add(self, function: Any, read: list[Any], written: list[Any], made: list[Any], step: _Step) -> None:
        """One operation that has run: tensors it read, wrote in place, and made."""
        self._bury()
        name = function.overloadpacket.__name__
        most = [math.inf] * (len(read) + 1)
        if name in _LOOKUPS:
            most[0] = sum(map(_nbytes, made))
        elif name in _SCATTERS:
            most[0] = _nbytes(read[-1])
        for at, tensor in enumerate(read):
            self._touch(step, tensor, read=int(min(_nbytes(tensor), most[at])))
        for tensor in written:
            self._touch(step, tensor, written=int(min(_nbytes(tensor), most[0])))
        for tensor in made:
            nbytes = tensor.untyped_storage().nbytes()
            shape = "x".join(map(str, tensor.shape))
            self._own(tensor, f"{name}[{shape}]" if nbytes >= self._large_nbytes else OTHER, self._passing)
            if not name.startswith(_UNTOUCHED):
                self._touch(step, tensor, written=_nbytes(tensor))
        self._steps.append(step)

    def name_gradient(self, name: str, tensor: torch.Tensor) -> None:
        """The gradient of a named tensor was just added to."""
        if tensor.grad is not None:
            self._owners[self._owner_of(tensor.grad)].name = f"{name}.grad"

    def _touch(self, step: _Step, tensor: torch.Tensor, *, read: int = 0, written: int = 0) -> None:
        owner = self._owner_of(tensor)
        step.touched[owner][0] += read
        step.touched[owner][1] += written
        step.tiers[owner] = "hbm" if tensor.is_cuda else "ram"

    def _owner_of(self, tensor: torch.Tensor) -> int:
        address = tensor.untyped_storage().data_ptr()
        found = self._lasting.get(address, self._passing.get(address))
        if found is not None:
            return found
        shape = "x".join(map(str, tensor.shape))
        large = tensor.untyped_storage().nbytes() >= self._large_nbytes
        return self._own(tensor, f"given[{shape}]" if large else OTHER, self._passing)

    def _own(self, tensor: torch.Tensor, name: str, among: dict[int, int]) -> int:
        storage = tensor.untyped_storage()
        owner = _Owner(name=name, nbytes=storage.nbytes(), alive=StorageWeakRef(storage), born=len(self._steps))
        self._owners.append(owner)
        among[storage.data_ptr()] = len(self._owners) - 1
        return len(self._owners) - 1

    def _bury(self) -> None:
        for address, at in list(self._passing.items()):
            if self._owners[at].alive.expired():
                self._owners[at].died = len(self._steps)
                del self._passing[address]

    def _touches(self, step: _Step) -> Iterator[Touch]:
        by_name: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        tiers: dict[str, str] = {}
        for owner, (read, written) in step.touched.items():
            name = self._owners[owner].name
            by_name[name][0] += read
            by_name[name][1] += written
            tiers[name] = step.tiers[owner]
        for name, (read, written) in by_name.items():
            yield Touch(object=name, bytes_read=read, bytes_written=written, tier=tiers[name])

    def _sizes(self) -> dict[str, int]:
        """Of each object, the most bytes that were there at the same time."""
        changes: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for owner in self._owners:
            changes[owner.name].append((owner.born, owner.nbytes))
            if owner.died is not None:
                changes[owner.name].append((owner.died, -owner.nbytes))
        return {name: _peak(each) for name, each in changes.items()}


@contextmanager
def trace_torch(
    objects: Mapping[str, torch.Tensor] | torch.nn.Module, *, program: str = "", large_nbytes: int = LARGE_NBYTES
) -> Iterator[Recorded]:
    """Records every operation of torch inside it, backward passes included; the trace is there afterwards.

    `objects` are named tensors, or a module, whose parameters and buffers are. Of two that share their bytes the first
    one's name counts. Recorded is the time of the operation alone, which on a GPU that waits for its host includes the
    launch; recording itself takes 0.1 ms more or so, and grows with the tensors without a name that are there.
    """
    named = _named(objects)
    program = arguments.text("program", program)
    large_nbytes = arguments.whole("large_nbytes", large_nbytes, least=0)
    recorded = Recorded(named, program=program, large_nbytes=large_nbytes)
    hooks = [
        tensor.register_post_accumulate_grad_hook(lambda tensor, name=name: recorded.name_gradient(name, tensor))
        for name, tensor in named.items()
        if tensor.is_leaf and tensor.requires_grad
    ]
    try:
        with _Mode(recorded):
            yield recorded
    finally:
        for hook in hooks:
            hook.remove()


class _Mode(TorchDispatchMode):
    def __init__(self, recorded: Recorded) -> None:
        super().__init__()
        self._recorded = recorded

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        read, written = _arguments(func, args, kwargs)
        step = _Step(name=str(func.overloadpacket))
        on_gpu = any(tensor.is_cuda for tensor in (*read, *written)) or "cuda" in str(kwargs.get("device", ""))
        begin = torch.cuda.Event(enable_timing=True) if on_gpu else None
        if begin is not None:
            begin.record()
        began = time.perf_counter()
        result = func(*args, **kwargs)
        step.seconds = time.perf_counter() - began
        if begin is not None:
            end = torch.cuda.Event(enable_timing=True)
            end.record()
            step.events = (begin, end)
        given = {tensor.untyped_storage().data_ptr() for tensor in (*read, *written)}
        returned = list(_tensors(result))
        made = [tensor for tensor in returned if tensor.untyped_storage().data_ptr() not in given]
        is_view = bool(returned) and not made and not written
        if not is_view and (read or written or made):
            self._recorded.add(func, read, written, made, step)
        return result


def _named(objects: Mapping[str, torch.Tensor] | torch.nn.Module) -> dict[str, torch.Tensor]:
    if isinstance(objects, torch.nn.Module):
        return {**dict(objects.named_parameters()), **dict(objects.named_buffers())}
    wanted = "a torch module, or a dictionary of named tensors"
    named = arguments.mapping("objects", objects, wanted)
    for name, tensor in named.items():
        arguments.text("a name in objects", name)
        arguments.instance(f"objects[{arguments.show(name)}]", tensor, torch.Tensor, "a torch tensor")
    return named


def _arguments(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Tensors that an operation reads, and those that it writes; one that it changes in place is in both."""
    schema = function._schema
    read: list[Any] = []
    written: list[Any] = []
    random = torch.Tag.nondeterministic_seeded in function.tags
    overwrites = function.overloadpacket.__name__ in _OVERWRITES or random
    for at, argument in enumerate(schema.arguments):
        value = args[at] if at < len(args) else kwargs.get(argument.name)
        tensors = list(_tensors(value))
        writes = argument.alias_info is not None and argument.alias_info.is_write
        if writes:
            written += tensors
        if not (writes and (argument.kwarg_only or overwrites)):
            read += tensors
    return read, written


def _tensors(value: Any) -> Iterable[Any]:
    return (leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor))


def _nbytes(tensor: torch.Tensor) -> int:
    """Bytes that a tensor covers; one that is spread over a dimension without bytes of its own counts once."""
    count = tensor.element_size()
    for length, stride in zip(tensor.shape, tensor.stride(), strict=True):
        count *= length if stride or length == 0 else 1
    return count


def _seconds(step: _Step) -> float:
    if step.events is None:
        return step.seconds
    begin, end = step.events
    return float(begin.elapsed_time(end)) / 1e3


def _peak(changes: list[tuple[int, int]]) -> int:
    """The largest sum on the way, with what went at a moment before what came at it."""
    now = most = 0
    for _, nbytes in sorted(changes):
        now += nbytes
        most = max(most, now)
    return most
