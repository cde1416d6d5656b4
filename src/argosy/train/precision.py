"""Numbers of fewer bits where they do no harm."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from argosy import arguments

_KINDS = {
    "float32": None,
    "bfloat16": torch.bfloat16,
    "bf16": torch.bfloat16,
    "float16": torch.float16,
    "fp16": torch.float16,
}


def precision_of(name: str) -> torch.dtype | None:
    if name not in _KINDS:
        raise ValueError(f"there is no precision {arguments.show(name)}; there are float32, bfloat16 and float16")
    return _KINDS[name]


class Precision:
    """In which type the forward pass computes. Parameters, gradients and optimizer states stay float32.

    float16 scales the loss, since its gradients would vanish; steps whose gradients overflow are left out.
    """

    def __init__(self, name: str, device: torch.device) -> None:
        self._kind = precision_of(name)
        self._device = device
        self.scaler: Any = torch.amp.GradScaler(device.type, enabled=self._kind is torch.float16)

    def autocast(self) -> AbstractContextManager[Any]:
        if self._kind is None:
            return nullcontext()
        return torch.autocast(self._device.type, dtype=self._kind)
