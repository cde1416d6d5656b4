"""The network that values objects, without torch: a file of a few kilobytes and four matrix products.

Every object goes through the same weights, and sees the others only through their mean; so the order of the objects
does not matter, and there may be any number of them.

    h = relu(x W1 + b1)        c = mean of h over the objects
    k = relu([h, c] W2 + b2)   worth = planned + k W3 + b3

An object's worth is what the run takes longer if it is slow and not fast in the next window, in round trips. A plan on
the expected future gives a first worth (a feature); the network learns by how much that is off.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from argosy.memory.learning.features import COUNT, PLANNED

SHAPES = {"W1": (COUNT, 48), "b1": (48,), "W2": (96, 48), "b2": (48,), "W3": (48, 1), "b3": (1,)}

Weights = Mapping[str, NDArray[np.float32]]


def worth_of(weights: Weights, features: NDArray[np.float64]) -> NDArray[np.float64]:
    """[..., objects, COUNT] to [..., objects]."""
    hidden = np.maximum(features @ weights["W1"] + weights["b1"], 0.0)
    common = np.broadcast_to(hidden.mean(axis=-2, keepdims=True), hidden.shape)
    mixed = np.maximum(np.concatenate([hidden, common], axis=-1) @ weights["W2"] + weights["b2"], 0.0)
    worth: NDArray[np.float64] = features[..., PLANNED] + (mixed @ weights["W3"] + weights["b3"])[..., 0]
    return worth
