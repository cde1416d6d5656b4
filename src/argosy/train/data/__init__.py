"""From tables, arrays and Datasets to batches, without a copy of the data.

names, labels      which columns are learned from, and what classes there are
arrow              columns of a table, as they lie in memory
columns, kernels   gathering rows of one column into a batch
samples            what one rank learns from
moving             the same, while rows move between ranks
sources            samples of whatever was given
prefetch           batches, gathered ahead of their use
"""

from __future__ import annotations

from argosy.train.data.labels import check_classes, check_outputs
from argosy.train.data.moving import MovingSamples
from argosy.train.data.prefetch import batches
from argosy.train.data.samples import Samples
from argosy.train.data.sources import samples_of

__all__ = ["MovingSamples", "Samples", "batches", "check_classes", "check_outputs", "samples_of"]
