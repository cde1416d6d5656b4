"""On a GPU a step of a small model is mostly the launching of its kernels: recorded once, it is launched as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_WARM_UP = 3
"""Steps that are taken before one is recorded: libraries choose their kernels and workspaces in them."""


def replayed(step: Callable[[], None], device: Any) -> Callable[[], None]:
    """The same step. It must read and write the same tensors each time, and not look at their values."""
    return _Replay(step) if device.type == "cuda" else step


class _Replay:
    def __init__(self, step: Callable[[], None]) -> None:
        self._step = step
        self._taken = 0
        self._side = torch.cuda.Stream()
        self._graph: Any = None

    def __call__(self) -> None:
        if self._taken < _WARM_UP:
            self._side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self._side):
                self._step()
            torch.cuda.current_stream().wait_stream(self._side)
            self._taken += 1
            return
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._step()
        self._graph.replay()
