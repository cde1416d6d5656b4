"""Whether two ways of training are as good as each other: two one-sided t-tests (TOST) on differences paired by seed.

"No difference was found" says little where there are few seeds. This asks the other way round: is the true difference
shown to be smaller than a margin, in both directions?
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, stdev

from argosy.errors import TooFewSeeds

LEVEL = 0.05
"""Chance to call two ways equivalent that are not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Equivalence:
    """Of the mean difference, in its own unit."""

    mean: float
    low: float
    """The interval of 1 - 2 * LEVEL: the two ways are equivalent exactly if it lies inside the margin."""
    high: float
    p: float
    """The larger of the p-values of both tests."""
    margin: float

    @property
    def verdict(self) -> str:
        """`equivalent`; or `worse` or `better` where the interval has no 0 in it; or `open`: more seeds would tell."""
        if self.p < LEVEL:
            return "equivalent"
        if self.high < 0:
            return "worse"
        return "better" if self.low > 0 else "open"


def tost(differences: Sequence[float], margin: float) -> Equivalence:
    """`differences` are ours minus theirs, one for each seed."""
    if len(differences) < 2:
        raise TooFewSeeds(f"a test over seeds needs 2 of them or more, not {len(differences)}; take more seeds")
    mean, freedom = fmean(differences), len(differences) - 1
    error = stdev(differences) / math.sqrt(len(differences))
    if error == 0:
        p = 0.0 if abs(mean) < margin else 1.0
        return Equivalence(mean=mean, low=mean, high=mean, p=p, margin=margin)
    half = t_quantile(1 - LEVEL, freedom) * error
    p = max(t_tail((mean + margin) / error, freedom), t_tail((margin - mean) / error, freedom))
    return Equivalence(mean=mean, low=mean - half, high=mean + half, p=p, margin=margin)


def t_tail(t: float, freedom: float) -> float:
    """P(T > t) of Student's t."""
    square = t * t
    if square < freedom:  # near the middle, where the other form would round t away
        half = 0.5 * (1 - incomplete_beta(0.5, freedom / 2, square / (freedom + square)))
    else:
        half = 0.5 * incomplete_beta(freedom / 2, 0.5, freedom / (freedom + square))
    return half if t >= 0 else 1 - half


@lru_cache(maxsize=256)
def t_quantile(share: float, freedom: float) -> float:
    """The t below which this share of Student's t lies, by bisection."""
    if share < 0.5:
        return -t_quantile(1 - share, freedom)
    low, high = 0.0, 1.0
    while t_tail(high, freedom) > 1 - share:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if t_tail(middle, freedom) > 1 - share else (low, middle)
    return (low + high) / 2


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction, where that converges fast."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    front = a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(front) / (a * _fraction(a, b, x))


def _fraction(a: float, b: float, x: float) -> float:
    """1 + d1/(1 + d2/(1 + ...)) from its far end, where it no longer matters:
    d(2m) = m (b - m) x / ((a + 2m - 1)(a + 2m)), d(2m + 1) = -(a + m)(a + b + m) x / ((a + 2m)(a + 2m + 1))."""
    value = 1.0
    for m in range(200, -1, -1):
        value = 1 - (a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)) / value
        if m > 0:
            value = 1 + m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) / value
    return value
