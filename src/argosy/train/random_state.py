"""The random numbers of a rank: its own, and the same again after a resume."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch


def seed_all(seed: int, rank: int) -> None:
    """Dropout and augmentation differ between ranks, and are the same in every run with this seed."""
    own = int(np.random.SeedSequence([seed, rank]).generate_state(1, np.uint32)[0])
    torch.manual_seed(own)
    np.random.seed(own)
    random.seed(own)


def random_state() -> dict[str, Any]:
    state = {"torch": torch.get_rng_state(), "numpy": np.random.get_state(), "python": random.getstate()}
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


def set_random_state(state: dict[str, Any]) -> None:
    torch.set_rng_state(state["torch"])
    np.random.set_state(state["numpy"])
    random.setstate(state["python"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])
