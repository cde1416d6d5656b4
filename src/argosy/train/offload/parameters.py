"""Parameters and their gradients: fetched when their module runs, in both directions, and dropped after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import nn

from argosy.train.offload.layers import ROOT, Layer
from argosy.train.offload.layout import Layout, flat_of, has_its_own_storage, nbytes_of
from argosy.train.offload.meter import Meter
from argosy.train.offload.slow import Slow


class Movable:
    """One parameter that may lie in slow memory, with its gradient.

    While it does, and no module needs it, the parameter is a single NaN in every place: whatever would read it then
    says so in its loss, instead of learning from something else.
    """

    def __init__(
        self, name: str, of: str, parameter: nn.Parameter, slow: Slow, meter: Meter, device: torch.device
    ) -> None:
        """The parameter may still be on the host; it is on the device when it has been away once."""
        self.name = name
        self.object = of
        self.parameter = parameter
        self.layout = Layout.of(parameter)
        self.nbytes = nbytes_of(parameter)
        self.norm: torch.Tensor | None = None
        """Of its gradient, where gradients are to be clipped."""
        self._slow = slow
        self._meter = meter
        self._place: Any = None
        """In slow memory; None while it is at home in fast memory."""
        self._gradient: tuple[Any, Layout] | None = None
        self._absent = torch.full((), torch.nan, dtype=parameter.dtype, device=device).expand(parameter.shape)
        self._here = True
        meter.hold(2 * self.nbytes)

    @property
    def is_slow(self) -> bool:
        return self._place is not None

    @property
    def is_here(self) -> bool:
        return self._here

    @property
    def has_gradient(self) -> bool:
        return self._gradient is not None or self.parameter.grad is not None

    def leave(self) -> None:
        """Its home is slow memory from now on."""
        if self.is_slow:
            return
        with self._meter.move(self.object):
            self._place = self._slow.hold(self.nbytes)
            self._slow.write(self._place, flat_of(self.parameter.data))
        self._meter.release(2 * self.nbytes)
        self.parameter.data, self._here = self._absent, False

    def stay(self) -> None:
        """Its home is fast memory from now on."""
        if not self.is_slow:
            return
        self.fetch()
        self._slow.free(self._place)
        self._place = None
        self._meter.hold(self.nbytes)

    def fetch(self) -> None:
        if self._here:
            return
        # what is made for an evaluation could not be learned from later
        with torch.inference_mode(False), self._meter.move(self.object):
            self.parameter.data = self.layout.on(self._slow.read(self._place))
        self._here = True
        self._meter.hold(self.nbytes)

    def drop(self, *, written: bool = False) -> None:
        if not self.is_slow or not self._here:
            return
        if written:
            with self._meter.move(self.object):
                self._slow.write(self._place, flat_of(self.parameter.data))
        self.parameter.data, self._here = self._absent, False
        self._meter.release(self.nbytes)

    def read_ahead(self) -> None:
        if self.is_slow and not self._here:
            self._slow.read_ahead(self._place)

    def look(self) -> torch.Tensor:
        """To read, wherever it lies."""
        self._slow.settle()
        return self.parameter.data if self._here else self.layout.on(self._slow.look(self._place))

    def stow_gradient(self, *, norm: bool) -> None:
        """A backward pass has added to it for the last time: with the parameter, it goes."""
        gradient = self.parameter.grad
        if gradient is None or not self.is_slow:
            return
        self._meter.hold(self.nbytes)
        if self._gradient is not None:
            gradient = self._read_gradient().add_(gradient)
        if not has_its_own_storage(gradient):
            gradient = gradient.clone()
        if norm:
            self.norm = torch._foreach_norm([gradient])[0]
        with self._meter.move(self.object):
            place = self._slow.hold(self.nbytes)
            self._slow.write(place, flat_of(gradient))
        self._gradient = place, Layout.of(gradient)
        self.parameter.grad = None
        self._meter.release(self.nbytes)

    def fetch_gradient(self) -> None:
        if self._gradient is not None:
            self.parameter.grad = self._read_gradient()
            self._meter.hold(self.nbytes)

    def _read_gradient(self) -> torch.Tensor:
        assert self._gradient is not None
        (place, layout), self._gradient = self._gradient, None
        with self._meter.move(self.object):
            gradient = layout.on(self._slow.read(place))
        self._slow.free(place)
        return gradient

    def forget_gradient(self) -> None:
        """After an update; the one that was fetched for it, or one that is not wanted."""
        if self._gradient is not None:
            self._slow.free(self._gradient[0])
            self._gradient = None
        elif self.is_slow and self.parameter.grad is not None:
            self._meter.release(self.nbytes)
        self.parameter.grad = None
        self.norm = None


class Parameters:
    """Those of a model that may move, and the hooks that move them."""

    def __init__(
        self,
        layers: Iterable[Layer],
        names: dict[int, str],
        slow: Slow,
        meter: Meter,
        device: torch.device,
        *,
        norms: bool,
    ) -> None:
        """`norms`: those of gradients will be asked for."""
        self._norms = norms
        self._of_layer: dict[str, list[Movable]] = {}
        self._fetched: dict[int, Movable] = {}
        """By their storages."""
        self._before: list[Movable] = []
        self._now: list[Movable] = []
        """In which order they were fetched in the last step, and in this one."""
        for layer in layers:
            made = [
                Movable(names[id(one)], f"parameters:{layer.name}", one, slow, meter, device) for one in layer.movable
            ]
            self._of_layer[layer.name] = made
            if made:
                self._hook(layer, made)
        self._by_id = {id(one.parameter): one for one in self}

    def of_layer(self, name: str) -> list[Movable]:
        return self._of_layer[name]

    def __iter__(self) -> Iterator[Movable]:
        return (one for of_layer in self._of_layer.values() for one in of_layer)

    def may_move(self, parameter: nn.Parameter) -> bool:
        return id(parameter) in self._by_id

    def is_away(self, parameter: nn.Parameter) -> bool:
        """Its home is slow memory."""
        return self.may_move(parameter) and self._by_id[id(parameter)].is_slow

    def _hook(self, layer: Layer, made: list[Movable]) -> None:
        inside = "" if layer.name == ROOT else f"{layer.name}."

        def enter(_module: nn.Module, _inputs: Any) -> None:
            self.fetch(made)

        def leave(_module: nn.Module, _inputs: Any, _output: Any) -> None:
            self.drop(made)

        def told(_module: nn.Module, state: dict[str, Any], prefix: str, _metadata: Any) -> None:
            for one in made:
                state[prefix + one.name.removeprefix(inside)] = one.look()

        def loading(*_: Any) -> None:
            self.fetch(made)

        def loaded(*_: Any) -> None:
            self.drop(made, written=True)

        layer.module.register_forward_pre_hook(enter)
        layer.module.register_forward_hook(leave)
        layer.module.register_state_dict_post_hook(told)
        layer.module.register_load_state_dict_pre_hook(loading)
        layer.module.register_load_state_dict_post_hook(loaded)
        for one in made:
            one.parameter.register_post_accumulate_grad_hook(lambda _, one=one: self._accumulated(one))

    def _accumulated(self, one: Movable) -> None:
        one.stow_gradient(norm=self._norms)
        self.drop([one])

    def begin(self) -> None:
        """A step begins."""
        self._before, self._now = self._now, []

    def fetch(self, some: Iterable[Movable]) -> None:
        for one in some:
            if one.is_here:
                continue
            one.fetch()
            self._fetched[one.parameter.untyped_storage()._cdata] = one
            self._now.append(one)
            if len(self._now) < len(self._before):
                self._before[len(self._now)].read_ahead()

    def drop(self, some: Iterable[Movable], *, written: bool = False) -> None:
        for one in some:
            if one.is_slow and one.is_here:
                del self._fetched[one.parameter.untyped_storage()._cdata]
                one.drop(written=written)

    def drop_all(self) -> None:
        """Whatever a pass left."""
        self.drop(list(self._fetched.values()))

    def owner(self, storage: int) -> Movable | None:
        """Of a storage that was fetched and will be dropped."""
        return self._fetched.get(storage)

    def place(self, some: Iterable[Movable], *, slow: bool) -> None:
        for one in some:
            one.leave() if slow else one.stay()
