"""The optimizer's states: in slow memory between steps, and the update layer by layer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from typing import Any

import torch
from torch import nn

from argosy.errors import TrainError
from argosy.train.offload.layers import Layer
from argosy.train.offload.layout import Layout, flat_of, has_its_own_storage, nbytes_of
from argosy.train.offload.meter import Meter
from argosy.train.offload.parameters import Parameters
from argosy.train.offload.slow import SMALL_NBYTES, Slow


class States:
    """Steps an optimizer layer by layer: what a layer needs for its update is fetched, and goes back after it.

    An optimizer whose update of a parameter looks at that parameter, its gradient and its own state alone does the
    same then, bit for bit. One that keeps something for all parameters together is refused. Between steps a state in
    slow memory is a tensor over its bytes there, so that `state_dict` is whole.
    """

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        layers: Sequence[Layer],
        parameters: Parameters,
        slow: Slow,
        meter: Meter,
    ) -> None:
        self._optimizer = optimizer
        self._layers = layers
        self._parameters = parameters
        self._slow = slow
        self._meter = meter
        self._slow_layers = {layer.name for layer in layers}
        """Whose states have their home in slow memory: all, to begin with."""
        self._places: dict[nn.Parameter, dict[str, tuple[Any, Layout]]] = {
            one: {} for layer in layers for one in layer.parameters
        }
        self._layer_of = {one: layer.name for layer in layers for one in layer.parameters}
        self._factor: torch.Tensor | None = None
        """Of gradients that are to be clipped when they are fetched."""
        self._is_checked = False
        self._loading: list[tuple[nn.Parameter, str, torch.Tensor]] = []
        optimizer.register_state_dict_pre_hook(lambda _: slow.settle())
        optimizer.register_load_state_dict_pre_hook(self._before_loading)
        optimizer.register_load_state_dict_post_hook(self._after_loading)

    # the update

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """As `GradScaler` asks an optimizer for them."""
        return self._optimizer.param_groups

    def step(self) -> None:
        """One update of all parameters that have gradients."""
        at_once = [layer for layer in self._layers if not self._is_apart(layer)]
        self._update([one for layer in at_once for one in layer.parameters])
        apart = [layer for layer in self._layers if self._is_apart(layer) and self._has_gradients(layer)]
        for layer, following in zip_longest(apart, apart[1:]):
            self._update_apart(layer, following)
        self._factor = None

    def _is_apart(self, layer: Layer) -> bool:
        return layer.name in self._slow_layers or any(one.is_slow for one in self._parameters.of_layer(layer.name))

    def _has_gradients(self, layer: Layer) -> bool:
        moved = self._parameters.of_layer(layer.name)
        return any(one.has_gradient for one in moved) or any(one.grad is not None for one in layer.parameters)

    def _update_apart(self, layer: Layer, following: Layer | None) -> None:
        moved = [one for one in self._parameters.of_layer(layer.name) if one.is_slow and one.has_gradient]
        self._parameters.fetch(moved)
        for one in moved:
            one.fetch_gradient()
            if self._factor is not None:
                one.parameter.grad.mul_(self._factor)
        came = self._fetch(layer)
        for one in following.parameters if following is not None else ():
            for place, _ in self._places[one].values():
                self._slow.read_ahead(place)
        self._update(layer.parameters)
        if layer.name in self._slow_layers:
            there = self.nbytes(layer)  # the first step makes them
            self._meter.hold(there - came)
            self._stow(layer)
        for one in moved:
            one.forget_gradient()
        self._parameters.drop(moved, written=True)

    def _update(self, some: Iterable[nn.Parameter]) -> None:
        """The optimizer's own step, as if there were no other parameters."""
        chosen = set(some)
        groups = self._optimizer.param_groups
        whole = [settings["params"] for settings in groups]
        before = [_plain(settings) for settings in groups]
        for settings, parameters in zip(groups, whole, strict=True):
            settings["params"] = [one for one in parameters if one in chosen]
        self._optimizer.param_groups = [settings for settings in groups if settings["params"]]
        try:
            if self._optimizer.param_groups:
                self._optimizer.step()
        finally:
            self._optimizer.param_groups = groups
            for settings, parameters in zip(groups, whole, strict=True):
                settings["params"] = parameters
        if not self._is_checked:
            self._check(before, [_plain(settings) for settings in groups])

    def _check(self, before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
        changed = {name for was, now in zip(before, after, strict=True) for name in now if now[name] != was.get(name)}
        if changed or any(one not in self._places for one in self._optimizer.state):
            raise TrainError(
                f"{type(self._optimizer).__name__} keeps {', '.join(sorted(changed)) or 'a state'} for all parameters "
                "together, so it cannot be stepped layer by layer; train without offload=, or with another optimizer"
            )
        self._is_checked = bool(self._optimizer.state)

    def clip(self, parameters: Sequence[nn.Parameter], most: float) -> None:
        """The norm of all gradients is `most` at most, as `torch.nn.utils.clip_grad_norm_` makes it, to the bit."""
        away = {one.parameter: one.norm for one in self._parameters}
        norms = [
            torch._foreach_norm([one.grad])[0] if one.grad is not None else away.get(one)
            for one in parameters
            if one.grad is not None or away.get(one) is not None
        ]
        if not norms:
            return
        self._factor = torch.clamp(most / (torch.linalg.vector_norm(torch.stack(norms)) + 1e-6), max=1.0)
        for one in parameters:
            if one.grad is not None:
                one.grad.mul_(self._factor)

    # moving

    def nbytes(self, layer: Layer) -> int:
        """Of all that would move."""
        return sum(nbytes_of(state) for _, _, state in self._large(layer))

    def place(self, layer: Layer, *, slow: bool) -> None:
        if slow and layer.name not in self._slow_layers:
            self._slow_layers.add(layer.name)
            self._stow(layer)
        elif not slow and layer.name in self._slow_layers:
            self._fetch(layer)
            self._slow_layers.discard(layer.name)

    def _large(self, layer: Layer) -> list[tuple[nn.Parameter, str, torch.Tensor]]:
        return [
            (one, name, state)
            for one in layer.parameters
            for name, state in self._optimizer.state.get(one, {}).items()
            if _is_large(state)
        ]

    def _fetch(self, layer: Layer) -> int:
        """Returns how many bytes came."""
        came = 0
        for one in layer.parameters:
            places, self._places[one] = self._places[one], {}
            for name, (place, layout) in places.items():
                with self._meter.move(f"optimizer:{layer.name}"):
                    flat = self._slow.read(place)
                self._optimizer.state[one][name] = layout.on(flat)
                self._slow.free(place)
                came += len(flat)
        self._meter.hold(came)
        return came

    def _stow(self, layer: Layer) -> None:
        for one, name, state in self._large(layer):
            self._keep(one, name, state)
            self._meter.release(nbytes_of(state))

    def _keep(self, one: nn.Parameter, name: str, state: torch.Tensor) -> None:
        flat, layout = flat_of(state), Layout.of(state)
        with self._meter.move(f"optimizer:{self._layer_of[one]}"):
            place = self._slow.hold(len(flat))
            self._slow.write(place, flat)
        self._places[one][name] = place, layout
        self._optimizer.state[one][name] = layout.on(self._slow.look(place))

    # checkpoints

    def _before_loading(self, _optimizer: torch.optim.Optimizer, state: dict[str, Any]) -> dict[str, Any]:
        """What has its home in slow memory goes there without passing through fast memory."""
        indices = chain.from_iterable(settings["params"] for settings in state["param_groups"])
        parameters = chain.from_iterable(settings["params"] for settings in self._optimizer.param_groups)
        rest: dict[Any, Any] = {}
        for index, one in zip(indices, parameters, strict=False):
            there = state["state"].get(index)
            if there is not None:
                away = self._layer_of[one] in self._slow_layers
                large = {name for name, value in there.items() if away and _is_large(value)}
                self._loading += [(one, name, there[name]) for name in sorted(large)]
                rest[index] = {name: value for name, value in there.items() if name not in large}
        return {**state, "state": rest}

    def _after_loading(self, _optimizer: torch.optim.Optimizer) -> None:
        loading, self._loading = self._loading, []
        for one, name, state in loading:
            self._keep(one, name, state)


def _is_large(state: Any) -> bool:
    return isinstance(state, torch.Tensor) and nbytes_of(state) >= SMALL_NBYTES and has_its_own_storage(state)


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in settings.items() if name != "params" and not isinstance(one, torch.Tensor)}
