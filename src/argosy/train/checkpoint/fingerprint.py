"""Whether two models are of the same shape, and where they differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

Description = dict[str, str]
"""The name of each tensor of a model, and its type and shape: `{"fc.weight": "float32 [10, 64]"}`."""


def describe(state_dict: Mapping[str, Any]) -> Description:
    """Anything with a shape and a dtype is a tensor; of what else is in there, only the name counts."""
    return {
        str(name): f"{str(value.dtype).removeprefix('torch.')} {list(value.shape)}"
        if hasattr(value, "shape") and hasattr(value, "dtype")
        else "a value"
        for name, value in state_dict.items()
    }


def fingerprint_of(state_dict: Mapping[str, Any]) -> str:
    """Equal for two models whose tensors have the same names, types and shapes, in whatever order and with whatever
    values."""
    return digest(describe(state_dict))


def digest(description: Description) -> str:
    return hashlib.sha256(json.dumps(sorted(description.items())).encode()).hexdigest()[:32]


def difference(there: Description, asked: Description) -> str:
    """The first thing in which they differ, as a sentence; empty if they do not."""
    for name, form in asked.items():
        if name not in there:
            return f"it has no {name!r}, which is {form} here"
        if there[name] != form:
            return f"{name!r} is {there[name]} in it, but {form} here"
    extra = next((name for name in there if name not in asked), None)
    return "" if extra is None else f"it has {extra!r} ({there[extra]}), which is not here"
