"""What a forward pass keeps for the backward pass: put into slow memory, and back when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import ReferenceType, WeakValueDictionary, ref

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from argosy.train.offload.layout import Layout, flat_of
from argosy.train.offload.meter import Meter
from argosy.train.offload.parameters import Movable, Parameters
from argosy.train.offload.slow import SMALL_NBYTES, Slow


class Saved:
    """The bytes of one storage that a backward pass waits for. However many tensors look at them, they move once;
    they are given back when the last of those is gone."""

    def __init__(self, name: str, tensor: torch.Tensor, slow: Slow, meter: Meter, *, moves: bool) -> None:
        self.object = name
        self.storage = StorageWeakRef(tensor.untyped_storage())
        """As long as somebody refers to it, no other storage is taken for it."""
        self.nbytes: int = tensor.untyped_storage().nbytes()
        self._slow = slow
        self._meter = meter
        self._flat: torch.Tensor | None = None
        self._place: Any = None
        if moves:
            with meter.move(name):
                place = slow.hold(self.nbytes)
                slow.write(place, flat_of(tensor))
            self._place = place
        else:
            self._flat = flat_of(tensor)
            meter.hold(self.nbytes)
        meter.save(name, self.nbytes)

    def flat(self) -> torch.Tensor:
        if self._flat is None:
            with self._meter.move(self.object):
                self._flat = self._slow.read(self._place)
            self._meter.hold(self.nbytes)
            self._slow.free(self._place)
            self._place = None
        return self._flat

    def read_ahead(self) -> None:
        if self._place is not None:
            self._slow.read_ahead(self._place)

    def __del__(self) -> None:
        if self._place is not None:
            self._slow.free(self._place)
        elif self._flat is not None:
            self._meter.release(self.nbytes)
        else:
            return  # there was no room for it
        self._meter.forget(self.object, self.nbytes)


@dataclass(frozen=True, slots=True)
class _View:
    """One saved tensor: the bytes it looks at, or the parameter."""

    of: Saved | Movable
    layout: Layout
    number: int


class Activations:
    """`torch.autograd.graph.saved_tensors_hooks` for a model. Parameters, buffers and the batch are never moved."""

    def __init__(self, parameters: Parameters, slow: Slow, meter: Meter, layers: Sequence[str]) -> None:
        self.slow_objects = {f"activations:{layer}" for layer in layers}
        """Whose home is slow memory: all, to begin with."""
        self._object = f"activations:{layers[0]}"
        """Of the layer that was entered last: what is saved from now on belongs to it."""
        self._parameters = parameters
        self._slow = slow
        self._meter = meter
        self._never: set[int] = set()
        self._seen: WeakValueDictionary[int, Saved] = WeakValueDictionary()
        self._order: list[ReferenceType[Saved]] = []

    def enterer(self, layer: str) -> Callable[..., None]:
        """A hook for the module of a layer, before it runs."""
        name = f"activations:{layer}"

        def enter(*_: Any) -> None:
            self._object = name

        return enter

    def begin(self, never: Iterable[torch.Tensor]) -> None:
        """A step begins; these tensors are there anyway."""
        self._never = {one.untyped_storage()._cdata for one in never}
        self._order.clear()

    def pack(self, tensor: torch.Tensor) -> torch.Tensor | _View:
        if tensor.layout is not torch.strided:
            return tensor
        storage = tensor.untyped_storage()
        if storage._cdata in self._never or storage.nbytes() < SMALL_NBYTES:
            return tensor
        of: Saved | Movable | None = self._parameters.owner(storage._cdata) or self._seen.get(storage._cdata)
        if of is None:
            moves = self._object in self.slow_objects
            of = Saved(self._object, tensor, self._slow, self._meter, moves=moves)
            self._seen[storage._cdata] = of
            self._order.append(ref(of))
        return _View(of, Layout.of(tensor), len(self._order) - 1)

    def unpack(self, packed: torch.Tensor | _View) -> torch.Tensor:
        if isinstance(packed, torch.Tensor):
            return packed
        if isinstance(packed.of, Movable):
            self._parameters.fetch([packed.of])
            return packed.layout.on(flat_of(packed.of.parameter.data))
        tensor = packed.layout.on(packed.of.flat())
        before = self._order[packed.number - 1]() if 0 < packed.number <= len(self._order) else None
        if before is not None:
            before.read_ahead()
        return tensor
