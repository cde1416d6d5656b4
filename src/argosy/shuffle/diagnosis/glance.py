"""What one rank tells the others of its shard: how often each label occurs, and means and spreads. Never a sample."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy import arguments

MOST_READ = 4096
"""Samples of a shard that are read to learn its labels and features."""
_MOST_FEATURES = 256
_MOST_CLASSES = 1000
_NUMBERS = "biuf"

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Classes:
    """The labels that occur in a shard, and how often each does."""

    values: Array
    counts: Array


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Moments:
    """Of each feature: how many finite values there are, their mean, and the sum of their squared distances from it."""

    counts: Array
    means: Array
    squares: Array


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Glance:
    """A few kilobytes about one shard, however large it is."""

    num_samples: int
    """In the shard; not all of them need to have been looked at."""
    classes: Classes | None = None
    """None where there are no labels, or so many that they are measures and not classes."""
    labels: Moments | None = None
    """Of labels that are numbers."""
    features: Moments | None = None


_WANTED = "an array of labels or a dataset of pairs (x, y)"


def glance(labels: Any = None, features: Any = None, *, num_samples: int | None = None) -> Glance:
    """Look at the labels of a shard, one for each sample, and its features, a row for each. Either may be missing.

    Samples with many features are summed up in 256: each is the mean of some neighbours.
    """
    told = None if labels is None else _plain(labels)
    rows = None if features is None else _rows(_plain(features))
    if told is not None and told.ndim == 0:
        raise TypeError(f"labels of a shard must be an array, not {arguments.show(labels)}")
    if told is not None and rows is not None and len(told) != len(rows):
        raise ValueError(f"there are {len(told)} labels for {len(rows)} rows of features; give one for each sample")
    seen = max(len(each) for each in (told, rows, ()) if each is not None)
    return Glance(
        num_samples=seen if num_samples is None else num_samples,
        classes=None if told is None else _classes(told),
        labels=None if told is None or told.dtype.kind not in _NUMBERS else _moments(_rows(told)),
        features=None if rows is None else _moments(rows),
    )


def glance_at(shard: Any) -> Glance:
    """Look at an array of labels, or at some thousand samples, drawn at random, of a dataset of pairs (x, y)."""
    if getattr(shard, "ndim", 1) == 0 or isinstance(shard, str | bytes | type) or not hasattr(shard, "__len__"):
        raise TypeError(f"each of the shards must be {_WANTED}, not {arguments.show(shard)}")
    if hasattr(shard, "__array__") or not len(shard) or _is_scalar(shard[0]):
        return glance(shard)
    picked: Any = range(len(shard))
    if len(shard) > MOST_READ:
        picked = np.sort(np.random.default_rng(0).choice(len(shard), MOST_READ, replace=False)).tolist()
    pairs = [shard[index] for index in picked]
    if any(not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in pairs):
        raise TypeError(
            f"each of the shards must be {_WANTED}, but this one has {type(pairs[0]).__name__}; "
            "give an array with the label of each sample"
        )
    xs, ys = [_plain(x) for x, _ in pairs], np.stack([_plain(y) for _, y in pairs])
    alike = len({x.shape for x in xs}) == 1 and xs[0].dtype.kind in _NUMBERS
    return glance(ys, np.stack([_summed(x) for x in xs]) if alike else None, num_samples=len(shard))


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, Number)) or getattr(value, "ndim", None) == 0


def _plain(values: Any) -> Array:
    """As a NumPy array, also from a tensor on a device."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    array = np.asarray(values)
    return array.astype(str) if array.dtype.kind == "O" else array


def _rows(values: Array) -> Array:
    """A row of at most 256 numbers for each sample."""
    if values.dtype.kind not in _NUMBERS:
        raise TypeError(f"features must be numbers, but these are {values.dtype}; give labels, or leave them out")
    if values.ndim == 0:
        raise TypeError(f"features of a shard must be an array, not {arguments.show(values)}")
    flat = values.reshape(len(values), -1) if len(values) else np.empty((0, 1))
    return np.stack([_summed(row) for row in flat]) if flat.shape[1] > _MOST_FEATURES else flat.astype(np.float64)


def _summed(sample: Array) -> Array:
    """A sample's features, or the means of 256 runs of them where there are more."""
    flat = sample.reshape(-1).astype(np.float64)
    if len(flat) <= _MOST_FEATURES:
        return flat
    starts = np.linspace(0, len(flat), _MOST_FEATURES, endpoint=False).astype(np.int64)
    means: Array = np.add.reduceat(flat, starts) / np.diff(starts, append=len(flat))
    return means


def _classes(labels: Array) -> Classes | None:
    if labels.ndim > 1:
        return None
    values, counts = np.unique(labels, return_counts=True)
    many = len(values) > _MOST_CLASSES and labels.dtype.kind in _NUMBERS
    return None if many else Classes(values=values, counts=counts)


def _moments(rows: Array) -> Moments:
    finite = np.isfinite(rows)
    counts = finite.sum(axis=0)
    means = np.where(finite, rows, 0).sum(axis=0) / np.maximum(counts, 1)
    squares = (np.where(finite, rows - means, 0) ** 2).sum(axis=0)
    return Moments(counts=counts, means=means, squares=squares)
