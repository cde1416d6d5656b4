"""Teaching networks to foresee: what was seen before each window of many runs, and what came after it.

What a run costs by objects being slow does not depend on where they are, so nobody has to decide anything for a lesson.
Windows are weighed by what the mixture expected of them and not by what came: weights that knew it would teach a
network to expect less than the mean.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from argosy.memory.learning.features import Features, in_round_trips, round_trip_seconds
from argosy.memory.learning.foresight import MOST, NETWORKS, SHAPES, SMALL, SPANS, inputs_of, means
from argosy.memory.learning.phases import Case
from argosy.memory.learning.policy import typical_of
from argosy.memory.learning.replay import MOST_OBJECTS
from argosy.memory.planning.policy import Observation

BATCH_WINDOWS = 256
RATE = 2e-3
SCALED_BY = 20_000
"""Windows by which it is found how large each input is, and how much it varies."""


class Lessons:
    """Grows by one run at a time."""

    def __init__(self) -> None:
        self._inputs: list[NDArray[np.float16]] = []
        self._expected: list[NDArray[np.float32]] = []
        self._came: list[NDArray[np.float32]] = []

    def add(self, run: Case, *, costs_are_known: bool) -> None:
        """All windows of a run. What came after its end is not known: NaN."""
        timeline, sizes = run.costs.per_occurrence(), np.asarray(run.costs.sizes, dtype=np.int64)
        nowhere = np.zeros(len(sizes), dtype=np.bool_)
        features, trip = Features(0), np.ones(len(sizes))
        for step, name in enumerate(timeline.windows):
            seen = Observation(
                step=step,
                window_name=timeline.windows[step - 1] if step else "",
                sizes=sizes,
                resident=nowhere,
                recent=timeline.slow[step - 1] if step else np.zeros(len(sizes)),
                capacity=run.capacity,
                moves=run.moves,
                next_name=name,
            )
            if step == 0:
                trip = round_trip_seconds(seen)
                known = in_round_trips(typical_of(run.costs) if costs_are_known else None, seen)
                features = Features(len(sizes), known)
            common, expected = features.note(seen)
            came = np.full((len(sizes), len(SPANS)), np.nan)
            for span, (first, end) in enumerate(SPANS):
                if step + end <= len(timeline.slow):
                    came[:, span] = (timeline.slow[step + first : step + end] / trip).mean(axis=0)
            inputs = inputs_of(features, common, expected, name)
            self._inputs.append(_block(inputs, 0.0).astype(np.float16))  # gigabytes, and small numbers
            self._expected.append(_block(means(expected), 0.0))
            self._came.append(_block(came, np.nan))

    def tensors(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """[windows, objects, ...]: inputs, what the mixture expected of each span, and what came; NaN where there is
        no object, or no window."""
        inputs, expected, came = (torch.from_numpy(np.stack(of)) for of in (self._inputs, self._expected, self._came))
        return inputs, expected, came


def _block(values: NDArray[np.float64], empty: float) -> NDArray[np.float32]:
    block = np.full((MOST_OBJECTS, values.shape[1]), empty, dtype=np.float32)
    block[: len(values)] = values
    return block


def teach(
    lessons: Lessons, *, updates: int, seed: int, deadline: float | None = None
) -> dict[str, NDArray[np.float32]]:
    """The weights of `foresight`: networks that saw the same windows in another order. May end at the deadline (of
    `time.monotonic`)."""
    inputs, expected, came = lessons.tensors()
    real = ~came[..., 0].isnan()
    some = slice(None, None, max(len(inputs) // SCALED_BY, 1))
    scaled_by = inputs[some][real[some]].float()
    middle, width = scaled_by.mean(dim=0), scaled_by.std(dim=0) + 1e-3

    def seen(some: torch.Tensor) -> torch.Tensor:
        return (inputs[some].float() - middle) / width * real[some][..., None]

    networks = [
        _taught(seen, expected, came, real, updates=updates, seed=seed * NETWORKS + each, deadline=deadline)
        for each in range(NETWORKS)
    ]
    weights = {name: np.stack([one[name].detach().numpy() for one in networks]) for name in SHAPES}
    # What goes in is not scaled when it is used: the first layer does it.
    weights["foresee W1"] = weights["foresee W1"] / width.numpy()[:, None]
    weights["foresee b1"] = weights["foresee b1"] - middle.numpy() @ weights["foresee W1"][:, None]
    return {name: weights[name].reshape(shape).astype(np.float32) for name, shape in SHAPES.items()}


def _taught(
    seen: Callable[[torch.Tensor], torch.Tensor],
    expected: torch.Tensor,
    came: torch.Tensor,
    real: torch.Tensor,
    *,
    updates: int,
    seed: int,
    deadline: float | None,
) -> dict[str, torch.Tensor]:
    torch.manual_seed(seed)
    weights = _first()
    optimizer = torch.optim.Adam(weights.values(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(updates, 1), RATE / 50)
    known, came = ~came.isnan(), came.nan_to_num()
    weighs = known / (expected.mean(dim=-1, keepdim=True) + SMALL)
    for _ in range(updates):
        if deadline is not None and time.monotonic() > deadline:
            break
        some = torch.randint(0, len(real), (BATCH_WINDOWS,))
        told = foretold(weights, seen(some), expected[some], real[some])
        loss = (weighs[some] * (told - came[some]) ** 2).sum() / real[some].sum()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimizer.step()
        schedule.step()
    return weights


def foretold(
    weights: dict[str, torch.Tensor], inputs: torch.Tensor, mean: torch.Tensor, real: torch.Tensor
) -> torch.Tensor:
    """One network of `foresight.corrected` in torch, over blocks in which some places have no object."""
    w1, b1, w2, b2, w3, b3 = (weights[name] for name in SHAPES)
    hidden = torch.relu(inputs @ w1 + b1)
    there = real[..., None].to(hidden.dtype)
    common = (hidden * there).sum(-2, keepdim=True) / there.sum(-2, keepdim=True)
    mixed = torch.relu(torch.cat([hidden, common.expand_as(hidden)], -1) @ w2 + b2)
    return (mean + SMALL) * torch.exp(torch.clamp(mixed @ w3 + b3, *MOST))


def _first() -> dict[str, torch.Tensor]:
    """Nothing is corrected to begin with."""
    inner = {"foresee W1", "foresee W2"}
    return {
        name: torch.nn.Parameter(torch.randn(shape) / shape[0] ** 0.5 if name in inner else torch.zeros(shape))
        for name, (_, *shape) in SHAPES.items()
    }
