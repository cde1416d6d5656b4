"""From what a user says to a function that makes an optimizer of parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from argosy import arguments
from argosy.train.job import Job
from argosy.train.precision import Precision

_NAMED: dict[str, tuple[Any, float]] = {
    "sgd": (torch.optim.SGD, 0.01),
    "adam": (torch.optim.Adam, 1e-3),
    "adamw": (torch.optim.AdamW, 1e-3),
}


def optimizer_of(given: Any, lr: float | None) -> Callable[[Any], torch.optim.Optimizer]:
    """A name, a class, a function of parameters, or an optimizer, of which the class and its settings are taken."""
    if lr is not None:
        lr = arguments.number("lr", lr, above=0)
    if isinstance(given, str):
        if given not in _NAMED:
            raise ValueError(
                f"there is no optimizer {arguments.show(given)}; there are {', '.join(_NAMED)}, or give a function"
            )
        kind, usual = _NAMED[given]
        return partial(kind, lr=usual if lr is None else lr)
    made: Callable[..., Any] = given
    if isinstance(given, torch.optim.Optimizer):
        if len(given.param_groups) > 1:
            raise ValueError(
                "an optimizer with several groups of parameters cannot be made again on the ranks; "
                "give a function instead: optimizer=lambda parameters: ..."
            )
        settings = {name: value for name, value in given.param_groups[0].items() if name in given.defaults}
        made = partial(given.__class__, **settings)
    if not callable(made):
        raise TypeError(f"optimizer is a name or a function of parameters, not {arguments.show(given)}")
    return made if lr is None else partial(made, lr=lr)


def optimizer_for(job: Job, parameters: Sequence[torch.nn.Parameter]) -> torch.optim.Optimizer:
    """The optimizer itself; remembers the rates that it was made with."""
    optimizer = job.optimizer(parameters)
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(f"optimizer is a function from parameters to a torch optimizer, but it gave {optimizer!r}")
    for settings in optimizer.param_groups:
        settings.setdefault("initial_lr", settings["lr"])
    return optimizer


def set_rate(optimizer: torch.optim.Optimizer, factor: float) -> float:
    """Each group of parameters has its own rate times this factor. Returns that of the first."""
    for settings in optimizer.param_groups:
        settings["lr"] = settings["initial_lr"] * factor
    rate: float = optimizer.param_groups[0]["lr"]
    return rate


def follow(
    optimizer: torch.optim.Optimizer,
    precision: Precision,
    parameters: Sequence[torch.nn.Parameter],
    clip: float | None,
) -> None:
    """One step along the gradients, which are let go."""
    if clip is not None:
        precision.scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(parameters, clip)
    precision.scaler.step(optimizer)
    precision.scaler.update()
    optimizer.zero_grad(set_to_none=True)
