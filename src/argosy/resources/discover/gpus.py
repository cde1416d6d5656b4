"""Which NVIDIA GPUs this process may use, and the word that CUDA knows each of them by.

`CUDA_VISIBLE_DEVICES`, where a batch system or a user has set it, is what was given: a GPU that it does not name
belongs to somebody else. It is read as CUDA reads it. No driver is loaded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "CUDA_VISIBLE_DEVICES"
_PREFIXES = ("GPU-", "MIG-")


def gpus_here() -> tuple[str, ...]:
    """The words by which a program of this process can be given one GPU each."""
    return gpus(os.environ, len(list(Path("/proc/driver/nvidia/gpus").glob("*"))))


def gpus(environment: Mapping[str, str], num_there: int) -> tuple[str, ...]:
    """The same from an environment, on a machine with so many GPUs; 0 where that is not known.

    A variable that is not set leaves all of them. Numbers, UUIDs and MIG ids are words as they stand: what is given on
    must mean the same GPU.
    """
    said = environment.get(VARIABLE)
    if said is None:
        return tuple(str(number) for number in range(num_there))
    found: list[str] = []
    prefix = next((prefix for prefix in _PREFIXES if said.lstrip().startswith(prefix)), None)
    for word in said.split(","):
        gpu = _number(word, num_there) if prefix is None else _identity(word, prefix)
        if gpu is None:
            break  # as CUDA does: a word that names no GPU hides those after it
        if gpu in found:
            return ()  # as CUDA does: a GPU that is named twice leaves none
        found.append(gpu)
    return tuple(found)


def _number(word: str, num_there: int) -> str | None:
    """None for `-1`, for `NoDevFiles`, for a number that is too large and for nothing."""
    digits = re.match(r"\s*\+?(\d+)", word)
    if digits is None:
        return None
    number = int(digits[1])
    return None if num_there and number >= num_there else str(number)


def _identity(word: str, prefix: str) -> str | None:
    word = word.strip()
    return word if word.startswith(prefix) and len(word) > len(prefix) else None
