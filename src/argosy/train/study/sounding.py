"""The noise scale along the baseline, heard in batches that are large enough to tell the gradient from its noise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from argosy.train.noise import NoiseScale

_BATCH = 512
_PARTS = 8


class Sounding(NoiseScale):
    """Measures on samples that it draws for itself.

    The batch of one worker is far below the noise scale: in it the gradient drowns, and thousands of steps would be
    needed to hear it. What the model learns from is left alone.
    """

    def __init__(self, inputs: NDArray[Any], labels: NDArray[Any], *, seed: int) -> None:
        super().__init__()
        self._from = inputs, labels
        self._draw = np.random.default_rng([seed, 1])

    def measure(
        self, model: Any, loss: Any, _inputs: Any, _labels: Any, *, parts: int = _PARTS, at: float | None = None
    ) -> None:
        inputs, labels = self._from
        rows = self._draw.choice(len(labels), min(_BATCH, len(labels)), replace=False)
        device = next(model.parameters()).device
        own = [torch.from_numpy(np.ascontiguousarray(one[rows])).to(device) for one in (inputs, labels)]
        super().measure(model, loss, own[0], own[1], parts=max(parts, _PARTS), at=at)


@contextmanager
def single_thread() -> Iterator[None]:
    """Models of a study are small: runs side by side gain more than threads inside one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
