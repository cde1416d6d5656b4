"""How far shards differ in labels and in features, beyond what chance alone does to shards of their size.

A skew is 0 where shards are as a random partition would have them, and 1 where they differ as far as they can.
Exchanging a fraction Q multiplies it by 1 - Q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log, pi, sqrt

import numpy as np

from argosy.shuffle.diagnosis.glance import Array, Classes, Glance, Moments

_SIGMAS = 3.0  # what is less than this beyond chance is taken for chance
_ROUNDING = 1e-12
_LOG_FACTORIALS = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 32)))])


@dataclass(frozen=True, kw_only=True, slots=True)
class Skew:
    """How far shards differ."""

    measured: float
    by_chance: float
    """What a random partition into shards of these sizes has in the mean."""
    skew: float
    """How much of the way from chance to the most that there can be; 0 where chance alone may have done it."""


def label_skew(glances: Sequence[Glance]) -> Skew | None:
    """How far labels differ between shards; None where some rank has none to tell.

    Labels with few values are classes. Those with many are measures, and taken as a feature is.
    """
    told = [each for each in glances if each.num_samples]
    classes = [each.classes for each in told if each.classes is not None]
    if told and len(classes) == len(told):
        return _class_skew(classes)
    return _mean_skew([each.labels for each in told])


def feature_skew(glances: Sequence[Glance]) -> Skew | None:
    """How far features differ between shards, by the one that stands out most; None where some rank tells none."""
    return _mean_skew([each.features for each in glances if each.num_samples])


def _class_skew(shards: Sequence[Classes]) -> Skew:
    """Of the samples of a shard, the share that would have to be others for it to have the classes of the whole.

    It is the total variation distance between the classes of a shard and of all, in the mean over samples. Chance
    gives, for a class with K of N samples and a shard of n, the mean distance of a hypergeometric number from its mean.
    """
    values, columns = np.unique(np.concatenate([each.values for each in shards]), return_inverse=True)
    table = np.zeros((len(shards), len(values)))
    rows = np.repeat(np.arange(len(shards)), [len(each.values) for each in shards])
    table[rows, columns] = np.concatenate([each.counts for each in shards])
    in_shard, in_class, total = table.sum(axis=1), table.sum(axis=0), float(table.sum())
    measured = float(np.abs(table - np.outer(in_shard, in_class) / total).sum() / 2 / total)
    sizes, times = np.unique(in_shard, return_counts=True)
    by_chance = float((_distance_by_chance(in_class, sizes[:, None], total) * times[:, None]).sum() / 2 / total)
    most = 1 - max(float(np.sum((in_class / total) ** 2)), float(np.sum((in_shard / total) ** 2)))
    # One sample changes the distance of its shard by at most 1/n, so that the variance of the mean is at most 1 / 2N.
    return _skew(measured, by_chance, most, doubt=_SIGMAS * sqrt(1 / (2 * total)))


def _mean_skew(shards: Sequence[Moments | None]) -> Skew | None:
    """The share of a feature's variance that lies between shards.

    Chance gives (M - 1) / (N - 1). The skew is the root of what is beyond it: the distances between the shards' means
    are what an exchange makes smaller.
    """
    told = [each for each in shards if each is not None]
    if not told or len(told) < len(shards) or len({each.means.shape for each in told}) > 1:
        return None
    counts, means = np.stack([each.counts for each in told]), np.stack([each.means for each in told])
    within = np.stack([each.squares for each in told]).sum(axis=0)
    total, num_shards = counts.sum(axis=0), (counts > 0).sum(axis=0)
    whole = (counts * means).sum(axis=0) / np.maximum(total, 1)
    between = (counts * (means - whole) ** 2).sum(axis=0)
    varies = between + within > _ROUNDING * total * whole**2
    usable = varies & (num_shards > 1) & (total > num_shards)
    if not usable.any():
        return Skew(measured=0.0, by_chance=0.0, skew=0.0)
    share = (between / np.where(usable, between + within, 1))[usable]
    num_shards, total = num_shards[usable], total[usable]
    by_chance = (num_shards - 1) / (total - 1)
    # By chance the share has the Beta distribution with (M - 1)/2 and (N - M)/2; the largest of many is further out.
    deviation = np.sqrt(2 * by_chance * (1 - by_chance) / (total + 1))
    most = int(np.argmax((share - by_chance) / deviation))
    doubt = (_SIGMAS + sqrt(2 * log(len(share)))) * float(deviation[most])
    found = _skew(float(share[most]), float(by_chance[most]), 1.0, doubt=doubt)
    return replace(found, skew=sqrt(found.skew))


def _skew(measured: float, by_chance: float, most: float, *, doubt: float) -> Skew:
    beyond = measured - by_chance
    skew = min(1.0, beyond / (most - by_chance)) if beyond > doubt and most > by_chance else 0.0
    return Skew(measured=measured, by_chance=by_chance, skew=skew)


def _distance_by_chance(marked: Array, drawn: Array, total: float) -> Array:
    """The mean of |X - E X|, where X is how many marked ones there are among those drawn.

    (x - E X) p(x) = g(x) - g(x + 1) with g(x) = x (N - K - n + x) p(x) / N, so that the sum of one side is g at the
    first x above the mean.
    """
    first = np.floor(marked * drawn / total) + 1
    possible = first <= np.minimum(marked, drawn)
    x = np.where(possible, first, 0)
    others = np.minimum(drawn - x, total - marked)
    log_chance = _log_choose(marked, x) + _log_choose(total - marked, others) - _log_choose(np.asarray(total), drawn)
    return np.where(possible, 2 * x * (total - marked - drawn + x) / total * np.exp(log_chance), 0.0)


def _log_choose(of: Array, some: Array) -> Array:
    return _log_factorial(of) - _log_factorial(some) - _log_factorial(of - some)


def _log_factorial(n: Array) -> Array:
    """By Stirling's series, to twelve digits, and from a table where n is small."""
    big = np.maximum(n, len(_LOG_FACTORIALS))
    series = big * np.log(big) - big + np.log(2 * pi * big) / 2 + 1 / (12 * big) - 1 / (360 * big**3)
    small = np.minimum(n, len(_LOG_FACTORIALS) - 1).astype(np.int64)
    return np.where(n < len(_LOG_FACTORIALS), _LOG_FACTORIALS[small], series)
