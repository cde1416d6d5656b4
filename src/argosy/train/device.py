"""Which device a rank computes on, and with how many threads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from argosy.errors import TrainError


def device_of(asked: str, place: tuple[int, int]) -> torch.device:
    """`place`: the rank's number among those of its node, and how many these are. Ranks take GPUs in turn."""
    if asked == "auto":
        asked = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(asked)
    except RuntimeError as error:
        raise TrainError(f"there is no device {asked!r}; name one like 'cpu', 'cuda' or 'cuda:1', or 'auto'") from error
    if device.type != "cuda":
        return device
    if not torch.cuda.is_available():
        raise TrainError(f"device={asked!r} was asked for, but torch {torch.__version__} finds no GPU here; use 'cpu'")
    if device.index is None:
        device = torch.device("cuda", place[0] % torch.cuda.device_count())
    torch.cuda.set_device(device)
    return device


@contextmanager
def own_threads(place: tuple[int, int]) -> Iterator[None]:
    """The cores of a node, shared out evenly: ranks that all take all cores slow each other down."""
    before = torch.get_num_threads()
    if place[1] > 1:
        torch.set_num_threads(max(1, len(os.sched_getaffinity(0)) // place[1]))
    try:
        yield
    finally:
        torch.set_num_threads(before)
