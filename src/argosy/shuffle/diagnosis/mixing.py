"""How fast an exchange mixes: what of a shard is still there after some epochs, and the fraction that a skew needs.

With M ranks and a fraction Q, a sample is on the rank where it was k epochs ago with the chance

    retention = 1/M + (1 - 1/M) (1 - Q)^k

as one that was exchanged is on any rank with the same chance. Of what makes a shard differ from the whole, (1 - Q)^k is
left, beside the differences that chance alone makes between shards of that size, which no exchange takes away.
"""

from __future__ import annotations

from math import ceil
from typing import Any

from argosy import arguments
from argosy.errors import BadFraction, TooFewSamples
from argosy.shuffle.fraction import checked_fraction

_STEPS = 100  # a fraction is rounded up to a hundredth


def retention(fraction: float, num_ranks: int, epochs: int) -> float:
    """The chance that a sample is on the rank where it was `epochs` before."""
    num_ranks = _ranks(num_ranks)
    return 1 / num_ranks + (1 - 1 / num_ranks) * skew_left(1.0, fraction=fraction, epochs=epochs)


def skew_left(skew: float, *, fraction: float, epochs: int) -> float:
    """What is left of a skew between shards after so many exchanges."""
    epochs = _epochs(epochs, at_least=0)
    left: float = share_of(skew, "skew") * (1 - checked_fraction(fraction)) ** epochs
    return left


def fraction_for(skew: float, *, num_ranks: int, epochs: int, tolerance: float) -> float:
    """The smallest fraction, in hundredths, that brings a skew down to the tolerance within so many epochs.

    `skew` is how far shards differ, from 0, which is no more than by chance, to 1, which is as far as they can;
    `tolerance` is on the same scale. 0 where nothing needs to be mixed.
    """
    num_ranks, epochs = _ranks(num_ranks), _epochs(epochs, at_least=1)
    if num_ranks == 1 or share_of(skew, "skew") <= share_of(tolerance, "tolerance"):
        return 0.0
    steps = ceil(_STEPS * (1 - (tolerance / skew) ** (1 / epochs)))
    # Powers and roots are off in the last digit: the hundredth below may do.
    if skew_left(skew, fraction=(steps - 1) / _STEPS, epochs=epochs) <= tolerance * (1 + 1e-12):
        steps -= 1
    return steps / _STEPS


def share_of(given: Any, name: str) -> float:
    try:
        return checked_fraction(given)
    except BadFraction:
        raise BadFraction(
            f"{name} is a number from 0 (none) to 1 (as much as can be), not {arguments.show(given)}"
        ) from None


def _ranks(given: int) -> int:
    try:
        return arguments.whole("num_ranks", given, least=1, most=2**31 - 1)
    except ValueError:
        raise TooFewSamples(f"num_ranks must be a whole number above 0, not {arguments.show(given)}") from None


def _epochs(given: int, *, at_least: int) -> int:
    return arguments.whole("epochs", given, least=at_least, most=2**31 - 1)
