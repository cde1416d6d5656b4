"""Which modules of a model are in training mode, and which are not: parts that were frozen stay so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """All of it in evaluation mode, and afterwards each module in the mode that it had, whatever was raised.

    `model.train(was)` would not do: it puts a BatchNorm or a dropout that was frozen into training mode too.
    """
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, mode in modes:
            module.training = mode


def to_learn(model: nn.Module) -> nn.Module:
    """In training mode, as a loop of torch begins. A model that is in it already keeps the parts that are frozen; one
    that comes as a whole in evaluation mode, as pretrained ones do, has not said which they are."""
    return model if model.training else model.train()
