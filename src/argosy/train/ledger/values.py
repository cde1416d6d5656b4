"""Numbers that may still be on a device: kept as they are now, read later, many at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from argosy.errors import TrainError


def hold(value: Any) -> Any:
    """The value as it is now, as a float or, from a device, as a tensor that nobody else writes to.

    A device is not waited for. Text, truth values and None stay what they are.
    """
    if value is None or type(value) is float:
        return value
    try:
        on_host = value.is_cpu
    except AttributeError:
        return value if isinstance(value, str | bool | int) else float(value)
    try:
        return value.item() if on_host else value.detach().reshape(()).clone()
    except RuntimeError as error:
        shape = tuple(value.shape)
        raise TrainError(f"a ledger keeps single numbers, not a tensor of shape {shape}; reduce it first") from error


def settle(values: Sequence[Any]) -> list[Any]:
    """What `hold` gave, with all tensors of one device read by one transfer."""
    settled = list(values)
    there: dict[Any, list[int]] = {}
    for at, value in enumerate(settled):
        if type(value) is not float and hasattr(value, "detach"):
            there.setdefault((value.device, value.dtype), []).append(at)
    if there:
        import torch

        for places in there.values():
            numbers = torch.stack([settled[at] for at in places]).tolist()
            for at, number in zip(places, numbers, strict=True):
                settled[at] = number
    return settled
