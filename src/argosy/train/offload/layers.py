"""Which module needs which parameters: what may leave fast memory, and when it must be back.

A parameter is needed while a certain module runs. That is not always the one that has it: attention reads the weights
of its output projection without ever calling it. So one real forward pass is watched, in training and in evaluation,
on a few samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from argosy.train.offload.layout import has_its_own_storage, nbytes_of
from argosy.train.offload.slow import SMALL_NBYTES

ROOT = "(model)"
SMALL = "it is small"
_ROWS = 2
"""Samples that are enough to see which module reads what; BatchNorm takes no fewer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """A module whose parameters come and go together."""

    name: str
    module: nn.Module
    parameters: tuple[nn.Parameter, ...]
    """All that learn."""
    movable: tuple[nn.Parameter, ...]
    """Those that may leave fast memory."""


def layers_of(model: nn.Module, inputs: torch.Tensor | None) -> tuple[tuple[Layer, ...], dict[str, str]]:
    """The layers, in the order of the model, and why which parameter must stay in fast memory.

    Without `inputs` all parameters stay, and no reason is given.
    """
    learning = {name: one for name, one in model.named_parameters() if one.requires_grad}
    modules = dict(model.named_modules())
    homes = {name: name.rpartition(".")[0] for name in learning}
    reasons: dict[str, str] = {}
    movable: dict[str, str] = {}
    if inputs is not None:
        readers = _readers(model, learning, inputs)
        reasons = _must_stay(model, learning, readers)
        read_in = {name: home for name, home in readers.items() if home is not None and name not in reasons}
        for name, home in read_in.items():
            inside = f"{home}." if home else ""
            if any(other != home and other.startswith(inside) for other in read_in.values()):
                reasons[name] = "it is needed all the while that other layers run"
            else:
                movable[name] = home
    grouped: dict[str, list[str]] = {}
    for name, home in {**homes, **movable}.items():
        grouped.setdefault(home, []).append(name)
    layers = [
        Layer(
            name=home or ROOT,
            module=modules[home],
            parameters=tuple(learning[name] for name in of_home),
            movable=tuple(learning[name] for name in of_home if name in movable),
        )
        for home, of_home in grouped.items()
    ]
    return tuple(layers), reasons


def _must_stay(
    model: nn.Module, learning: Mapping[str, nn.Parameter], readers: Mapping[str, str | None]
) -> dict[str, str]:
    owners: dict[int, int] = {}
    for _, one in model.named_parameters(remove_duplicate=False):
        owners[id(one)] = owners.get(id(one), 0) + 1
    reasons: dict[str, str] = {}
    for name, one in learning.items():
        if owners[id(one)] > 1:
            reasons[name] = "several layers share it"
        elif nbytes_of(one) < SMALL_NBYTES:
            reasons[name] = SMALL
        elif not has_its_own_storage(one):
            reasons[name] = "it is a part of a larger tensor"
        elif readers[name] is None:
            reasons[name] = "no layer of its own reads it"
    return reasons


def _readers(model: nn.Module, learning: Mapping[str, nn.Parameter], inputs: torch.Tensor) -> dict[str, str | None]:
    """The innermost module that has each parameter and runs whenever it is read; None if there is none."""
    watch = _Watch({one.untyped_storage()._cdata: name for name, one in learning.items()})
    where = next(iter(learning.values())).device
    rows = inputs[:_ROWS].to(where)
    training = model.training
    kept = [buffer.clone() for buffer in model.buffers()]
    devices = [where] if where.type == "cuda" else []
    with torch.random.fork_rng(devices), torch.no_grad(), _stacked(model, watch.running):
        for mode in (True, False):
            model.train(mode)
            with watch:
                model(rows)
    model.train(training)
    for buffer, was in zip(model.buffers(), kept, strict=True):
        buffer.copy_(was)
    return {name: _innermost(name, watch.seen.get(name)) for name in learning}


def _innermost(name: str, seen: set[str] | None) -> str | None:
    around = [] if seen is None else [module for module in seen if name.startswith(f"{module}." if module else "")]
    return max(around, key=len) if around else None


@contextmanager
def _stacked(model: nn.Module, running: list[str]) -> Iterator[None]:
    """The names of the modules that run, the innermost last."""

    def enter(name: str) -> Any:
        return lambda _module, _inputs: running.append(name)

    def leave(_module: nn.Module, _inputs: Any, _output: Any) -> None:
        running.pop()

    hooks = []
    for name, module in model.named_modules():
        hooks += [module.register_forward_pre_hook(enter(name)), module.register_forward_hook(leave)]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


class _Watch(TorchDispatchMode):
    """Notes which modules run whenever an operation reads a parameter."""

    def __init__(self, names: Mapping[int, str]) -> None:
        super().__init__()
        self.running: list[str] = []
        self.seen: dict[str, set[str]] = {}
        self._names = names

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for one in _tensors([*args, *(kwargs or {}).values()]):
            name = self._names.get(one.untyped_storage()._cdata) if one.layout is torch.strided else None
            if name is not None:
                now = set(self.running)
                self.seen[name] = self.seen[name] & now if name in self.seen else now
        return func(*args, **(kwargs or {}))


def _tensors(values: Sequence[Any]) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)
