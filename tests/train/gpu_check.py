"""What only a GPU can show: `python tests/train/gpu_check.py` prints a line for each check; 1 if one fails."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from argosy.train import NoiseScale, fit

DRAW = np.random.default_rng(0)
DATA = DRAW.normal(size=(4096, 64)).astype(np.float32), DRAW.integers(0, 3, 4096)


def with_norm() -> nn.Module:
    model = nn.Sequential(nn.Linear(64, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.BatchNorm1d(256), nn.Linear(256, 3))
    model[3].eval().requires_grad_(False)
    return model


def synchronised_norm_lies_where_the_model_does() -> bool:
    """And a frozen one stays as it was."""
    given = with_norm()
    result = fit(given, DATA, batch_size=256, batch_norm="sync", device="cuda", precision="float16", valid=DATA)
    moved = [not torch.equal(result.model[at].running_mean, given[at].running_mean) for at in (1, 3)]
    return moved == [True, False] and all(np.isfinite(result.losses))


class Heavy(nn.Module):
    """Hands a second of work to the device in a millisecond."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(64, 4096)
        self.two = nn.Linear(4096, 4096)
        self.three = nn.Linear(4096, 3)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        rows = self.one(rows)
        for _ in range(60 if self.training else 1):
            rows = self.two(rows).tanh()
        return self.three(rows)


def heavy() -> nn.Module:
    return Heavy()


def training_is_not_counted_as_evaluation() -> bool:
    """What the device had still to compute when an evaluation began is training."""
    result = fit(heavy, DATA, batch_size=2048, epochs=6, device="cuda", valid=(DATA[0][:64], DATA[1][:64]))
    seconds = result.ledger.seconds
    print("   ", {name: round(value, 3) for name, value in seconds.items()})
    return seconds["evaluation"] < 0.2 * result.ledger.training_seconds


def a_step_that_overflows_does_not_spoil_the_noise_scale() -> bool:
    model, noise = nn.Linear(64, 3).cuda(), NoiseScale()
    scaler = torch.amp.GradScaler("cuda", init_scale=2.0**40)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs, labels = torch.from_numpy(DATA[0]).cuda(), torch.from_numpy(DATA[1]).cuda()
    for step in range(60):
        at = slice(64 * step, 64 * (step + 1))
        for half in (inputs[at][:32], labels[at][:32]), (inputs[at][32:], labels[at][32:]):
            with torch.autocast("cuda", torch.float16):
                loss = nn.functional.cross_entropy(model(half[0]), half[1]) / 2
            scaler.scale(loss).backward()
            noise.micro(model.parameters())
        noise.large(model.parameters(), 64, scale=scaler.get_scale())
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    print("   ", noise, noise.num_skipped, "skipped")
    return noise.num_skipped > 0 and noise.num_steps > 20 and not np.isnan(noise.value)


CHECKS: list[Callable[[], bool]] = [
    synchronised_norm_lies_where_the_model_does,
    training_is_not_counted_as_evaluation,
    a_step_that_overflows_does_not_spoil_the_noise_scale,
]


def main() -> int:
    print(torch.__version__, torch.cuda.get_device_name())
    right: list[Any] = []
    for check in CHECKS:
        right.append(check())
        print("ok  " if right[-1] else "FAIL", check.__name__)
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
