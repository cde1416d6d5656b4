"""Simulated images of lattices."""

from __future__ import annotations

import numpy as np
import pytest

from argosy.train.tasks.atoms import CLASSES, DEFECTS, PHASES, SIZE, images


def test_a_class_is_a_phase_and_a_defect() -> None:
    assert CLASSES[2 * 3 + 1] == f"{PHASES[2]}, {DEFECTS[1]}"


def test_brightness_does_not_tell_the_phase() -> None:
    pixels, labels = images(6_000, seed=0, dose=25.0)
    clean = labels % 3 == 0
    means = [pixels[clean & (labels // 3 == phase)].mean() for phase in range(len(PHASES))]
    assert max(means) == pytest.approx(min(means), rel=0.05)


def test_a_vacancy_takes_light_away_and_a_dopant_adds_some() -> None:
    pixels, labels = images(6_000, seed=1, dose=100.0)
    clean, vacancy, dopant = (pixels[labels % 3 == defect].mean() for defect in range(3))
    assert vacancy < clean < dopant


def test_a_smaller_dose_is_noisier() -> None:
    def ripple(dose: float) -> float:
        pixels = images(200, seed=2, dose=dose)[0].astype(float)
        return float(np.abs(np.diff(pixels, n=2, axis=3)).mean() / pixels.mean())

    assert ripple(10.0) > ripple(40.0) > ripple(90.0)


def test_images_are_bytes_of_one_channel() -> None:
    pixels, labels = images(3, seed=0, dose=25.0)
    assert (pixels.shape, pixels.dtype) == ((3, 1, SIZE, SIZE), np.uint8)
    assert labels.dtype == np.int64
