"""DiLoCo's outer step: the way that workers went together, as one gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


class OuterStep:
    """Nesterov's step on anchor - mean, from the anchor: where all were after the outer step before."""

    def __init__(self, lr: float, momentum: float) -> None:
        self._lr = lr
        self._momentum = momentum
        self._anchor: list[torch.Tensor] = []
        self._speed: list[torch.Tensor] = []

    def start(self, parameters: Sequence[torch.Tensor]) -> None:
        self._anchor = [one.detach().clone() for one in parameters]
        self._speed = [torch.zeros_like(one) for one in self._anchor]

    @torch.no_grad()
    def step(self, means: Sequence[torch.Tensor]) -> None:
        """`means`: the averaged parameters, which become those after the outer step."""
        for anchor, speed, mean in zip(self._anchor, self._speed, means, strict=True):
            way = anchor - mean
            speed.mul_(self._momentum).add_(way)
            anchor.sub_(self._lr * (way + self._momentum * speed))
            mean.copy_(anchor)

    def state_dict(self) -> dict[str, Any]:
        return {"anchor": self._anchor, "speed": self._speed}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for mine, kept in ((self._anchor, state["anchor"]), (self._speed, state["speed"])):
            for tensor, value in zip(mine, kept, strict=True):
                tensor.copy_(value)
