"""Compressed pictures to arrays of bytes, by Pillow, on several threads."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy.errors import BadData, TrainError


def decoded(
    pictures: Sequence[bytes | Path], *, size: int, name: Callable[[int], str], threads: int | None = None
) -> NDArray[np.uint8]:
    """RGB [count, 3, size, size]; what is larger or smaller is resized by its shorter edge and cut in the middle.

    `name(i)` is how picture i is called in the error, `BadData`, when it cannot be read.
    """
    image = _pillow()
    out = np.empty((len(pictures), 3, size, size), np.uint8)

    def decode(number: int) -> None:
        picture = pictures[number]
        try:
            source = io.BytesIO(picture) if isinstance(picture, bytes) else picture
            with image.open(source) as opened:
                pixels = _fitted(opened.convert("RGB"), size)
        except (OSError, ValueError, SyntaxError) as error:
            raise BadData(f"{name(number)} cannot be read as a picture: {error}; remove or replace it") from error
        out[number] = np.asarray(pixels).transpose(2, 0, 1)

    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        for _ in pool.map(decode, range(len(pictures))):
            pass
    return out


def _fitted(picture: Any, size: int) -> Any:
    width, height = picture.size
    if (width, height) == (size, size):
        return picture
    shorter = min(width, height)
    left, top = (width - shorter) / 2, (height - shorter) / 2
    return picture.resize((size, size), box=(left, top, left + shorter, top + shorter), reducing_gap=2.0)


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise TrainError("tasks that read pictures need Pillow, which is not there; pip install pillow") from error
    return Image
