"""An interval that is called 90 % sure holds the truth in 9 of 10 studies, or says how sure it is instead."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from argosy.train import NoiseScale, predict
from argosy.train.curves import Crossing
from argosy.train.noise.phi import typical
from argosy.train.speedups import _from_end, _ratio, _sure, sureness

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
SCATTERS: dict[str, tuple[Draw, Draw]] = {
    "alike": (lambda draw, n: draw.lognormal(0, 0.2, n), lambda draw, n: draw.lognormal(0, 0.2, n)),
    "one side much more": (lambda draw, n: draw.lognormal(0, 1.0, n), lambda draw, n: draw.lognormal(0, 0.05, n)),
    "far to a side": (lambda draw, n: draw.exponential(1 / math.log(2), n), lambda draw, n: draw.lognormal(0, 0.3, n)),
    "two kinds of runs": (lambda draw, n: _two(draw, n, -1.0, 3.0), lambda draw, n: _two(draw, n, -2.0, 2.0)),
}
"""Times of both sides, each with the median 1."""


def _two(draw: np.random.Generator, count: int, low: float, high: float) -> NDArray[np.float64]:
    return np.exp(np.where(draw.random(count) < 0.5, low, high) * (0.9 + 0.1 * draw.random(count)))


@pytest.mark.parametrize("seeds", [2, 3, 5, 8])
@pytest.mark.parametrize("scatter", SCATTERS)
def test_the_interval_of_a_speed_up_is_as_sure_as_it_says(scatter: str, seeds: int) -> None:
    ours, theirs = SCATTERS[scatter]
    draw = np.random.default_rng([seeds, len(scatter)])
    sure, hits, studies = _sure(seeds, seeds, 0.9), 0, 1500
    for _ in range(studies):
        sides = [
            [Crossing(samples=float(at), seconds=1.0, reached=True) for at in times]
            for times in (ours(draw, seeds), theirs(draw, seeds))
        ]
        _, _, low, high = _ratio(*sides, "samples", 0.9)
        hits += low <= 1 <= high
    assert hits / studies > sure - 3 * math.sqrt(sure * (1 - sure) / studies)


def test_few_seeds_say_how_sure_they_are() -> None:
    assert [sureness(count, 1) for count in (2, 3, 4, 5)] == [0.5, 0.75, 0.875, 0.9375]
    assert [_sure(count, 9, 0.9) for count in (2, 3, 4, 5, 6)] == [0.5, 0.75, 0.875, 0.9, 0.9]
    assert [_from_end(count, 0.9) for count in (4, 7, 8, 11)] == [1, 1, 2, 3]


@pytest.mark.parametrize("steps", [4, 12, 60])
@pytest.mark.parametrize("phi", [20.0, 300.0])
def test_the_interval_of_a_noise_scale_is_as_sure_as_it_says(phi: float, steps: int) -> None:
    """Gradients of 30 numbers, heard on 4 ranks with 8 samples each."""
    draw, studies, hits = np.random.default_rng(steps), 500, 0
    true = np.ones(30) / math.sqrt(30)
    for _ in range(studies):
        each = true + draw.normal(size=(steps, 4, 30)) * math.sqrt(phi / 30 / 8)
        noise = NoiseScale()
        for small, large in zip((each**2).sum(2).mean(1), (each.mean(1) ** 2).sum(1), strict=True):
            noise.observe(small, large, small_batch=8, large_batch=32)
        low, high = noise._interval()
        hits += low <= phi <= high
    assert hits / studies > 0.9 - 3 * math.sqrt(0.09 / studies)


def test_the_median_of_windows_lies_in_its_interval_as_often_as_it_says() -> None:
    draw, hits = np.random.default_rng(0), 0
    for _ in range(1000):
        found = typical([(float(at), phi) for at, phi in enumerate(draw.lognormal(0, 1, 16))], math.inf, 0.9)
        assert found.low <= found.value <= found.high
        hits += found.low <= 1 <= found.high
    assert hits > 870
    assert typical([(1.0, 3.0)], math.inf, 0.9).high == math.inf  # one window says nothing


def test_a_prediction_takes_the_median_and_not_what_the_first_steps_say() -> None:
    noise = NoiseScale()
    for step in range(160):
        size, phi = (1e6, 5.0) if step < 8 else (1.0, 400.0)
        noise.observe(size * (1 + phi / 8), size * (1 + phi / 32), small_batch=8, large_batch=32)
    assert noise.value < 6
    assert predict(noise, batch=32).phi == pytest.approx(400)


def test_steps_without_a_finite_gradient_are_left_out() -> None:
    """As float16 has them now and then: the scale of the loss is halved, and training goes on."""
    noise, clean = NoiseScale(), NoiseScale()
    scale = 2.0**16
    for step in range(50):
        small, large = 1 + 40 / 8, 1 + 40 / 32
        if step % 10 == 3:
            noise.observe(
                math.inf if step % 20 == 3 else math.nan, math.inf, small_batch=8, large_batch=32, scale=scale
            )
            scale /= 2
            continue
        noise.observe(small * scale**2, large * scale**2, small_batch=8, large_batch=32, scale=scale)
        clean.observe(small, large, small_batch=8, large_batch=32)
    assert noise.value == pytest.approx(clean.value) == pytest.approx(40)
    assert (noise.num_steps, noise.num_skipped) == (45, 5)
    again = NoiseScale()
    again.load_state_dict(noise.state_dict())
    assert (again.value, again.num_skipped) == (noise.value, 5)
