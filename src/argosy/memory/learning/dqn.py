"""Deep Q-learning of what objects are worth in fast memory: double, with a target network and replay.

What a window costs an object does not depend on where the objects are. So the value of a placement in a state is

    Q(state, placement) = - V(state) - sum over the slow objects of worth[o](state) * round trip[o]

and only the worths decide. One update takes a window from the past, a placement z with object o fast in it and the same
one without o, and lets the network itself decide what follows from each, z' and z'':

    worth[o](s)  <-  cost[o] + discount * (Q(s', z') - moves(z, z') - Q(s', z'') + moves(z - o, z'')) / round trip[o]

with z' and z'' chosen by the learning network and valued by the target network. As o could be fetched, or sent away, at
the next window's end, its worth lies between cost[o] - discount * evict and cost[o] + discount * fetch: the right side
is kept there. The placements come from what was lived through and, as costs do not depend on them, from chance too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from argosy.memory.learning.environment import PlacementEnv
from argosy.memory.learning.features import PLANNED
from argosy.memory.learning.network import SHAPES, worth_of
from argosy.memory.learning.replay import Batch, Replay
from argosy.memory.learning.swaps import settle_all

DISCOUNT = 0.98
BATCH_WINDOWS = 256
FOLLOW = 0.01
"""How far the target network goes towards the other one after each update."""


class Dqn:
    """One learner. `live` fills its replay with a run, `update` learns from a batch of it."""

    def __init__(self, *, seed: int, updates: int, rate: float = 2e-3, batch_windows: int = BATCH_WINDOWS) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.rng = np.random.default_rng(seed)
        self.replay = Replay()
        self._batch_windows = batch_windows
        self._weights = {name: nn.Parameter(_first(shape)) for name, shape in SHAPES.items()}
        with torch.no_grad():
            self._weights["W3"].zero_()
        self._target = {name: weight.detach().clone() for name, weight in self._weights.items()}
        self._optimizer = torch.optim.Adam(self._weights.values(), lr=rate)
        self._schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self._optimizer, max(updates, 1), rate / 50)

    def weights(self) -> dict[str, NDArray[np.float32]]:
        return {name: weight.detach().numpy().copy() for name, weight in self._weights.items()}

    def live(self, env: PlacementEnv, *, explore: float) -> float:
        """One episode, at each decision a random swap with probability `explore`. Returns its predicted seconds."""
        seen, info = env.reset(seed=int(self.rng.integers(2**31)))
        seconds, before, ended = float(info["seconds"]), seen, False
        while not ended:
            action = self._choose(info, env, explore)
            seen, reward, ended, _, info = env.step(action)
            seconds -= reward
            if action == env.none:
                self.replay.add(before[:, :-1], seen[:, :-1], env.last)
                before = seen
        return seconds

    def worth(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """For an environment that should send away what this learner holds to be worth least."""
        return worth_of({name: weight.detach().numpy() for name, weight in self._weights.items()}, features)

    def update(self) -> float:
        """One step of the optimizer. Returns the loss."""
        batch = self.replay.draw(self.rng, self._batch_windows)
        chosen, placed = self._placements(batch)
        goal = torch.from_numpy(self._goal(batch, chosen, placed))
        each = forward(self._weights, torch.from_numpy(batch.before), torch.from_numpy(batch.real))
        worth = each.gather(1, torch.from_numpy(chosen)[:, None])[:, 0]
        loss = nn.functional.mse_loss(worth, goal)
        self._optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self._weights.values(), 1.0)
        self._optimizer.step()
        self._schedule.step()
        with torch.no_grad():
            for name, weight in self._weights.items():
                self._target[name].lerp_(weight, FOLLOW)
        return float(loss.detach())

    def _choose(self, info: dict[str, Any], env: PlacementEnv, explore: float) -> int:
        if self.rng.random() < explore:
            return int(self.rng.choice(np.flatnonzero(info["mask"])))
        best = int(np.argmax(info["gain"] / np.maximum(env.last.sizes, 1)))
        return best if info["mask"][best] and info["gain"][best] > 0 else env.none

    def _placements(self, batch: Batch) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """An object for each window, and a placement that fits with it fast: half as it was then, half by chance."""
        shape, rows = batch.share.shape, np.arange(len(batch.share))
        chosen = np.argmax(np.where(batch.share <= 1.0, self.rng.random(shape), -1.0), axis=1)
        as_it_was = self.rng.random((shape[0], 1)) < 0.5
        wanted = np.where(as_it_was, batch.fast, self.rng.random((shape[0], 1)) < 0.9)
        order = self.rng.random(shape)
        order[rows, chosen] = -1.0
        wanted[rows, chosen] = True
        room = np.ones(shape[0])
        placed = np.zeros(shape, dtype=np.bool_)
        for at in np.argsort(order, axis=1).T:
            takes = wanted[rows, at] & (batch.share[rows, at] <= room)
            placed[rows, at] = takes
            room = room - np.where(takes, batch.share[rows, at], 0.0)
        return chosen, placed

    def _goal(self, batch: Batch, chosen: NDArray[np.int64], placed: NDArray[np.bool_]) -> NDArray[np.float32]:
        rows = np.arange(len(chosen))
        without = placed.copy()
        without[rows, chosen] = False
        after, real = torch.from_numpy(batch.after), torch.from_numpy(batch.real)
        with torch.no_grad():
            decides = forward(self._weights, after, real).numpy() * batch.share
            values = forward(self._target, after, real).numpy() * batch.share
        fetch, evict = batch.share * batch.fetch, batch.share * (1.0 - batch.fetch)

        def later(fast: NDArray[np.bool_]) -> NDArray[np.float64]:
            then = settle_all(decides, fast, batch.share, fetch, evict, 1.0 + 1e-9)
            moved = np.where(then & ~fast, fetch, 0.0) + np.where(fast & ~then, evict, 0.0)
            total: NDArray[np.float64] = (np.where(then | ~batch.real, 0.0, values) + moved).sum(axis=1)
            return total

        more = (later(without) - later(placed)) / batch.share[rows, chosen]
        back = batch.fetch[:, 0]
        goal: NDArray[np.float64] = batch.cost[rows, chosen] + DISCOUNT * np.clip(more, back - 1.0, back)
        return goal.astype(np.float32)


def forward(weights: Any, features: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """The network of `network.worth_of` in torch, over blocks in which some places have no object."""
    hidden = torch.relu(features @ weights["W1"] + weights["b1"])
    there = real[..., None].to(hidden.dtype)
    common = (hidden * there).sum(-2, keepdim=True) / there.sum(-2, keepdim=True)
    mixed = torch.relu(torch.cat([hidden, common.expand_as(hidden)], -1) @ weights["W2"] + weights["b2"])
    return features[..., PLANNED] + (mixed @ weights["W3"] + weights["b3"])[..., 0]


def _first(shape: tuple[int, ...]) -> torch.Tensor:
    """Small random numbers for a matrix, zeros for a vector."""
    return torch.randn(shape) / shape[0] ** 0.5 if len(shape) == 2 else torch.zeros(shape)
