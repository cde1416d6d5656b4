"""Random numbers inside compiled loops: sample i of a seed is the same, however many are made and in which order."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)
_UNIT = 1.0 / 9007199254740992.0


@njit(cache=True, nogil=True, inline="always")
def _mixed(word):  # type: ignore[no-untyped-def]
    word = (word ^ (word >> np.uint64(30))) * _MIX_A
    word = (word ^ (word >> np.uint64(27))) * _MIX_B
    return word ^ (word >> np.uint64(31))


@njit(cache=True, nogil=True)
def start(state, seed, stream):  # type: ignore[no-untyped-def]
    """Puts `state` (one uint64) at the start of a stream of its own."""
    state[0] = _mixed(_mixed(np.uint64(seed) + _GOLDEN) ^ (np.uint64(stream) * _GOLDEN + _MIX_A))


@njit(cache=True, nogil=True)
def uniform(state):  # type: ignore[no-untyped-def]
    """The next number in [0, 1): splitmix64."""
    state[0] += _GOLDEN
    return float(_mixed(state[0]) >> np.uint64(11)) * _UNIT


@njit(cache=True, nogil=True)
def below(state, limit):  # type: ignore[no-untyped-def]
    """The next whole number in [0, limit)."""
    return int(uniform(state) * limit)


@njit(cache=True, nogil=True)
def normal(state):  # type: ignore[no-untyped-def]
    """The next standard normal number (Box and Muller, one of the pair)."""
    return math.sqrt(-2.0 * math.log(1.0 - uniform(state))) * math.cos(2.0 * math.pi * uniform(state))
