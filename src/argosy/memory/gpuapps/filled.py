"""Numbers to start from that are the same on every device and need no generator."""

from __future__ import annotations

import torch

PRIME = 2_147_483_647
STEP = 1 << 22


def fill(tensor: torch.Tensor, scale: float, seed: int) -> None:
    """Between -scale and scale, in no order that a product would notice; in steps, so that little memory is used."""
    flat = tensor.view(-1)
    for start in range(0, len(flat), STEP):
        part = flat[start : start + STEP]
        numbers = torch.arange(start, start + len(part), device=tensor.device)
        part.copy_(_mixed(numbers, seed).mul(2 * scale / PRIME).sub(scale))


def rows(ids: torch.Tensor, width: int, scale: float) -> torch.Tensor:
    """The same for chosen rows of a table: each depends on its id alone."""
    columns = torch.arange(width, device=ids.device)
    return _mixed(ids[:, None] * width + columns, 1).mul(2 * scale / PRIME).sub(scale)


def _mixed(numbers: torch.Tensor, seed: int) -> torch.Tensor:
    """Each number to another below PRIME, exactly: products stay below 2^62."""
    once = (numbers % PRIME * 48_271 + seed * 7_919) % PRIME
    return ((once ^ (once >> 13)) * 16_807 % PRIME).to(torch.float32)
