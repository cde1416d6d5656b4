"""Ranks, or nodes, that step by themselves and average their parameters every so many steps."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from argosy.train.group import Group
from argosy.train.learners.learner import Batch
from argosy.train.learners.norm import average_statistics
from argosy.train.learners.outer import OuterStep
from argosy.train.learners.replica import Replica


class Averaging:
    """Local SGD, and DiLoCo where there is an outer step. A `Learner` around the one that learns inside."""

    uniform = False
    takes_rows = False

    def __init__(self, inner: Replica, group: Group, *, every: int, outer: OuterStep | None = None) -> None:
        self.inner = inner
        self._group = group
        self._every = every
        self._outer = outer
        self._mean: nn.Module | None = None
        group.copy_from_first_([*inner.module.parameters(), *inner.module.buffers()])
        if outer is not None:
            outer.start(self.parameters)

    @property
    def lap(self) -> Callable[[str], None]:
        return self.inner.lap

    @lap.setter
    def lap(self, lap: Callable[[str], None]) -> None:
        self.inner.lap = lap

    @property
    def parameters(self) -> list[nn.Parameter]:
        return self.inner.parameters

    def prepare(self, batch: Batch) -> None:
        self.inner.prepare(batch)

    def learn(self, batch: Batch) -> torch.Tensor:
        return self.inner.learn(batch)

    def stepped(self, step: int) -> None:
        if step % self._every == 0:
            self._group.mean_(self.parameters)
            if self._outer is not None:
                self._outer.step(self.parameters)

    def settled(self) -> nn.Module:
        """A copy: the ranks themselves stay where they are."""
        if self._mean is None:
            self._mean = copy.deepcopy(self.inner.module)
        self._mean.load_state_dict(self.inner.module.state_dict())
        self._group.mean_([one for one in self._mean.parameters() if one.requires_grad])
        average_statistics(self._mean, self._group)
        return self._mean

    def shared_state(self) -> dict[str, Any]:
        outer = None if self._outer is None else self._outer.state_dict()
        return {"model": self.settled().state_dict(), "outer": outer}

    def own_state(self) -> dict[str, Any]:
        return {"model": self.inner.module.state_dict(), **self.inner.own_state()}

    def load(self, shared: dict[str, Any], own: dict[str, Any] | None) -> None:
        self.inner.load(shared if own is None else {"model": own["model"]}, own)
        if self._outer is not None:
            self._outer.load_state_dict(shared["outer"])

    def optimizer_state(self, state: dict[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """Each rank has its own; the mean is for another number of ranks."""
        mean = copy.deepcopy(state)
        numbers = [one for part in mean["state"].values() for one in part.values() if isinstance(one, torch.Tensor)]
        self._group.mean_([one for one in numbers if one.is_floating_point()])
        return mean, state

    def optimizer_loaded(
        self, optimizer: torch.optim.Optimizer, shared: dict[str, Any] | None, own: dict[str, Any] | None
    ) -> None:
        state = shared if own is None else own
        if state is not None:  # stacked workers keep none in common
            optimizer.load_state_dict(state)

    def handed_out(self) -> dict[str, Any]:
        return self.settled().state_dict()
