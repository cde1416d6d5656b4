"""Scanning-transmission images of crystals, simulated: find the phase of the lattice, and its defect.

Columns of atoms stand on a 2D lattice of random orientation, offset and scale, each a Gaussian spot that thermal motion
has moved a little. One column near the middle may be missing (a vacancy) or brighter than the others (a dopant). The
detector counts electrons, so a pixel of mean m is m + sqrt(m) z with a standard normal z, plus the noise of reading it
out. All phases have the same number of columns for an area: brightness alone tells nothing about the phase.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from argosy.train.tasks.draws import below, normal, start, uniform
from argosy.train.tasks.task import Samples, Task

PHASES = ("square", "hexagonal", "rectangular", "honeycomb")
DEFECTS = ("clean", "vacancy", "dopant")
CLASSES = tuple(f"{phase}, {defect}" for phase in PHASES for defect in DEFECTS)
"""Class = phase * 3 + defect."""

SIZE = 24
"""Pixels along an edge."""
_SPLITS = {"train": 0, "valid": 1}


def atoms(*, dose: float = 25.0, num_train: int = 40_000, num_valid: int = 2_048) -> Task:
    """`dose`: mean counts of the detector at the middle of a column; fewer are noisier."""

    def samples(split: str, count: int, seed: int) -> Samples:
        return images(count, seed=2 * seed + _SPLITS[split], dose=dose)

    return Task(
        name="atoms",
        title="phase and defect of a crystal lattice from a noisy image",
        classes=CLASSES,
        samples=samples,
        build=_build,
        num_train=num_train,
        num_valid=num_valid,
        batch=4,
        lr=0.04,
        budget=20_000,
        evaluate_every=512,
    )


def images(count: int, *, seed: int, dose: float) -> Samples:
    """Images uint8 [count, 1, SIZE, SIZE] and their classes, about a second for 40,000. Image i depends on the seed and
    on i alone."""
    pixels = np.zeros((count, 1, SIZE, SIZE), np.uint8)
    labels = np.zeros(count, np.int64)
    cells, motifs = _lattices()
    _render(seed, dose, cells, motifs, pixels, labels)
    return pixels, labels


def _build(batch_norm: bool) -> Any:
    from argosy.train.tasks.models import ConvNet

    return ConvNet(channels=1, classes=len(CLASSES), widths=(8, 16), batch_norm=batch_norm)


def _lattices() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each phase the two vectors of its cell [4, 2, 2] and where the two columns of a cell stand, in parts of these
    vectors [4, 2, 2], scaled to one column for each unit of area. All cells hold two columns."""
    half = math.sqrt(3) / 2
    cells = np.array(
        [
            [[2.0, 0.0], [0.0, 1.0]],
            [[1.0, 0.0], [0.0, 2 * half]],
            [[3.2, 0.0], [0.0, 1.0]],
            [[1.0, 0.0], [0.5, half]],
        ]
    )
    motifs = np.array(
        [
            [[0.0, 0.0], [0.5, 0.0]],
            [[0.0, 0.0], [0.5, 0.5]],
            [[0.0, 0.0], [0.5, 0.0]],
            [[0.0, 0.0], [1 / 3, 1 / 3]],
        ]
    )
    area = np.abs(np.linalg.det(cells)) / motifs.shape[1]
    return cells / np.sqrt(area)[:, None, None], motifs


@njit(cache=True, nogil=True)
def _render(seed, dose, cells, motifs, pixels, labels):  # type: ignore[no-untyped-def]
    count, _, size, _ = pixels.shape
    state = np.zeros(1, np.uint64)
    columns = np.zeros((256, 2))
    mean = np.zeros((size, size))
    middle = (size - 1) / 2
    for image in range(count):
        start(state, seed, image)
        phase = below(state, 4)
        defect = below(state, 3)
        labels[image] = phase * 3 + defect
        num_columns = _place(state, cells[phase], motifs[phase], size, columns)
        chosen = _central(state, columns[:num_columns], middle)
        width = 0.95 + 0.2 * uniform(state)
        mean[:] = dose * (0.05 + 0.1 * uniform(state))
        for column in range(num_columns):
            height = dose * (0.92 + 0.16 * uniform(state))
            if column == chosen:
                height *= 1.0 if defect == 0 else (0.0 if defect == 1 else 1.7)
            _add_spot(mean, columns[column, 0], columns[column, 1], height, width)
        for row in range(size):
            for place in range(size):
                noise = math.sqrt(mean[row, place] + 4.0) * normal(state)
                pixels[image, 0, row, place] = min(max(mean[row, place] + noise + 0.5, 0.0), 255.0)


@njit(cache=True, nogil=True)
def _place(state, cell, motif, size, columns):  # type: ignore[no-untyped-def]
    """Writes where the columns stand that can be seen; returns how many these are."""
    middle = (size - 1) / 2
    scale = 4.3 + 0.8 * uniform(state)
    angle = 2 * math.pi * uniform(state)
    shift_a, shift_b = uniform(state), uniform(state)
    turn_x, turn_y = scale * math.cos(angle), scale * math.sin(angle)
    reach = int(size / scale) + 2
    found = 0
    for step_a in range(-reach, reach + 1):
        for step_b in range(-reach, reach + 1):
            for part in range(motif.shape[0]):
                along_a = step_a + shift_a + motif[part, 0]
                along_b = step_b + shift_b + motif[part, 1]
                x = along_a * cell[0, 0] + along_b * cell[1, 0]
                y = along_a * cell[0, 1] + along_b * cell[1, 1]
                seen_x = middle + x * turn_x - y * turn_y
                seen_y = middle + x * turn_y + y * turn_x
                if -3 < seen_x < size + 2 and -3 < seen_y < size + 2 and found < columns.shape[0]:
                    columns[found, 0] = seen_x + 0.05 * scale * normal(state)
                    columns[found, 1] = seen_y + 0.05 * scale * normal(state)
                    found += 1
    return found


@njit(cache=True, nogil=True)
def _central(state, columns, middle):  # type: ignore[no-untyped-def]
    """One of the columns that are well inside the image, by chance."""
    chosen, seen = 0, 0
    for column in range(len(columns)):
        if abs(columns[column, 0] - middle) < 6.5 and abs(columns[column, 1] - middle) < 6.5:
            seen += 1
            if below(state, seen) == 0:
                chosen = column
    return chosen


@njit(cache=True, nogil=True)
def _add_spot(mean, x, y, height, width):  # type: ignore[no-untyped-def]
    size = mean.shape[0]
    fall = -0.5 / (width * width)
    first_x, last_x = max(int(x) - 3, 0), min(int(x) + 4, size - 1)
    for row in range(max(int(y) - 3, 0), min(int(y) + 4, size - 1) + 1):
        down = height * math.exp(fall * (row - y) ** 2)
        for place in range(first_x, last_x + 1):
            mean[row, place] += down * math.exp(fall * (place - x) ** 2)
