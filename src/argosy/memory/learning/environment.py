"""Placement as a Gymnasium environment over predicted costs.

One step is one decision before a window. Action i < n brings object i in, and the residents that are worth least
per byte leave for it, as few as make room; action n is "none", and the next window runs. An index pair (who comes, who
leaves) would need several steps for one large object and n*n actions; who leaves is the easier half, so the environment
decides it, by `worth`. The reward is minus the predicted seconds that the action costs: of the moves for a swap, of the
next window for "none". An episode begins with everything slow, and its rewards add up to minus the predicted time of
the run.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from argosy import arguments
from argosy.memory.costs import Costs
from argosy.memory.learning.features import COUNT, PLANNED, Features, in_round_trips, round_trip_seconds
from argosy.memory.learning.policy import Worth, typical_of
from argosy.memory.learning.swaps import Swaps, Terms, swaps
from argosy.memory.moves import Moves
from argosy.memory.planning.policy import Observation
from argosy.memory.planning.simulate import marginal


class PlacementEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """Observes [n, COUNT + 1]: the features of each object, and whether it is fast.

    `info["mask"]` says which actions do something: an object that is fast already or larger than the capacity cannot
    come in, and asking for it counts as "none". After n swaps before one window only "none" is left. With
    `costs_are_known`, the features tell what is typical of the run, too.
    """

    def __init__(
        self, costs: Costs, moves: Moves, capacity: int, *, worth: Worth | None = None, costs_are_known: bool = False
    ) -> None:
        arguments.instance("costs", costs, Costs, "the costs of an estimator")
        arguments.instance("moves", moves, Moves, "an argosy.memory.moves.Moves")
        capacity = arguments.whole("capacity", capacity, least=0, most=2**63 - 1)
        arguments.flag("costs_are_known", costs_are_known)
        self._timeline = costs.per_occurrence()
        self._sizes = np.asarray(costs.sizes, dtype=np.int64)
        self._typical = typical_of(costs) if costs_are_known else None
        self._moves = moves
        self._capacity = capacity
        self._options: Swaps
        self._worth: Worth = worth if worth is not None else lambda features: features[:, PLANNED]
        num_objects = len(self._sizes)
        self.none = num_objects
        """The action that lets the next window run."""
        self.action_space = gymnasium.spaces.Discrete(num_objects + 1)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (num_objects, COUNT + 1), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Everything is slow, and the first window is about to begin."""
        super().reset(seed=seed, options=options)
        self._resident = np.zeros(len(self._sizes), dtype=np.bool_)
        self._look(0, np.zeros(len(self._sizes)))
        self._memory = Features(len(self._sizes), in_round_trips(self._typical, self.last))
        self._consider()
        return self._seen(0.0)

    def step(self, action: np.int64 | int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        chosen = int(action)
        if chosen != self.none and self._mask()[chosen]:
            out = self._options.leaving(chosen)
            moved = self._moves.seconds(float(self._sizes[chosen]), float(self._sizes[out].sum()))
            self._resident[out] = False
            self._resident[chosen] = True
            self._swaps_left -= 1
            self._options = self._swaps()
            observation, info = self._seen(moved)
            return observation, -moved, False, False, info
        observation, info = self._seen(self._run_window())
        ended = self.last.step == len(self._timeline.windows)
        return observation, -float(info["seconds"]), ended, False, info

    def _run_window(self) -> float:
        at, is_slow = self.last.step, ~self._resident
        self._look(at + 1, marginal(self._timeline, at, is_slow))
        self._consider()
        load = self._timeline.base[at] + float(self._timeline.slow[at] @ is_slow)
        return float(max(self._timeline.floor[at], load))

    def _look(self, step: int, recent: NDArray[np.float64]) -> None:
        names = self._timeline.windows
        self.last = Observation(
            step=step,
            window_name=names[step - 1] if step else "",
            sizes=self._sizes,
            resident=self._resident.copy(),
            recent=recent,
            capacity=self._capacity,
            moves=self._moves,
            next_name=names[step] if step < len(names) else "",
        )

    def _consider(self) -> None:
        self._features = self._memory.see(self.last)
        self._swaps_left = len(self._sizes)
        self._options = self._swaps()

    def _swaps(self) -> Swaps:
        worth = self._worth(self._features) * round_trip_seconds(self.last)
        return swaps(worth, self._resident, Terms.of(self.last))

    def _mask(self) -> NDArray[np.bool_]:
        can = np.isfinite(self._options.gain) & (self._swaps_left > 0)
        return np.append(can, True)

    def _seen(self, seconds: float) -> tuple[NDArray[np.float32], dict[str, Any]]:
        observation = np.column_stack([self._features, self._resident]).astype(np.float32)
        return observation, {"seconds": seconds, "mask": self._mask(), "gain": self._options.gain}
