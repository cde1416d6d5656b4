"""The file of what was learnt: a few kilobytes of arrays by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SHIPPED = "weights.npz"


def load(
    path: str | Path | None = None, shapes: Mapping[str, tuple[int, ...]] | None = None
) -> dict[str, NDArray[np.float32]]:
    """The shipped weights, or those of a file that `train` wrote. Raises `ValueError` where they are not of these
    shapes."""
    source = path if path is not None else files("argosy.memory.learning").joinpath(SHIPPED)
    with source.open("rb") if not isinstance(source, str) else Path(source).open("rb") as file:
        try:
            with np.load(file) as stored:
                weights = {name: stored[name] for name in stored.files}
        except Exception as error:
            raise ValueError(f"path: {source} holds no weights that train() wrote: {error}") from error
    for name, shape in (shapes or {}).items():
        if name not in weights or weights[name].shape != shape:
            there = weights[name].shape if name in weights else "nothing"
            raise ValueError(f"these are not weights of this network: {name} is {there} and should be {shape}")
    return weights


def save(path: str | Path, **arrays: NDArray[np.float32]) -> None:
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]
