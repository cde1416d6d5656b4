"""What a diagnosis says, in sentences, and the fraction that it comes to."""

from __future__ import annotations

from collections.abc import Sequence

from argosy.shuffle.diagnosis.locality import Locality
from argosy.shuffle.diagnosis.mixing import skew_left
from argosy.shuffle.diagnosis.skew import Skew

UNKNOWN = 0.1
"""The fraction where nothing is known of the shards."""
INSURANCE = 0.05
"""The fraction where locality should do little harm."""
_NEARLY_EVEN = 0.1
_NAMED = 3  # layers that are named


def advice(
    sizes: Sequence[int], skew: float | None, needed: float, *, by_chance: float, locality: Locality, tolerance: float
) -> tuple[float, str]:
    """The fraction to exchange, and why. `needed` mixes the skew; by chance alone labels differ by `by_chance`."""
    if len(sizes) == 1:
        return 0.0, "one rank holds all samples: there is nothing to exchange"
    if skew is None:
        return UNKNOWN, f"nothing is known of the shards: {UNKNOWN:g} mixes most skews in some ten epochs"
    if needed and (locality.hurts or locality.batch_norms is None or _uneven(sizes)):
        return needed, f"the skew is above {tolerance:g} and can hurt: it has to be mixed"
    if needed:
        return min(needed, INSURANCE), (
            "the skew should do no harm: with gradients averaged at each step and shards of equal size, a step expects "
            "the same gradient whoever reads a sample; a small fraction is mostly an insurance"
        )
    if locality.hurts and by_chance > tolerance:
        return INSURANCE, (
            f"there is no skew to mix, but shards this small differ by {by_chance:.2f} by chance alone: a small "
            "fraction sees to it that they do not differ in the same way for ever"
        )
    return 0.0, f"the skew is not above {tolerance:g}: local shuffling will do, none needs to be exchanged"


def on_sizes(sizes: Sequence[int]) -> str:
    if min(sizes) == max(sizes):
        return f"{len(sizes)} shards of {sizes[0]} samples"
    shards = f"{len(sizes)} shards of {min(sizes)} to {max(sizes)} samples"
    if not _uneven(sizes):
        return shards
    return f"{shards}: in a plain mean over ranks, samples of small shards weigh more, with a skew so do their kinds"


def _uneven(sizes: Sequence[int]) -> bool:
    return max(sizes) - min(sizes) > max(1, _NEARLY_EVEN * max(sizes))


def on_skew(name: str, found: Skew | None) -> str:
    if found is None:
        return f"{name}: not told, or not alike on all ranks"
    skew = f"skew {found.skew:.2f}" if found.skew else "no skew"
    return f"{name}: shards differ by {found.measured:.3f}, by chance alone they would by {found.by_chance:.3f}: {skew}"


def on_locality(locality: Locality, batch_size: int | None, smallest: int) -> list[str]:
    """A sentence for each of the three ways in which locality can hurt."""
    return [
        _on_model(locality.batch_norms),
        _on_loss(locality.in_batch_loss),
        _on_averaging(locality, batch_size, smallest),
    ]


def on_left(skew: float, fraction: float, epochs: int, tolerance: float) -> str:
    left = skew_left(skew, fraction=fraction, epochs=epochs)
    verdict = "within" if left <= tolerance * (1 + 1e-9) else "above"
    return f"with fraction={fraction:g} a skew of {left:.2g} is left after {epochs} epochs: {verdict} {tolerance:g}"


def _on_model(layers: tuple[str, ...] | None) -> str:
    if layers is None:
        return "model: not told; it may have BatchNorm layers, whose statistics are of one worker's batch"
    if not layers:
        return "model: no BatchNorm layer has a worker's own statistics"
    named = ", ".join(layers[:_NAMED]) + (", ..." if len(layers) > _NAMED else "")
    return (
        f"model: BatchNorm layers with each worker's own statistics ({len(layers)}: {named}): their outputs depend on "
        "the shard; those of SyncBatchNorm or GroupNorm do not"
    )


def _on_loss(in_batch: bool | None) -> str:
    if in_batch:
        return "loss: holds samples against others of the same batch, which come from one shard"
    if in_batch is None:
        return "loss: not told; taken as one of single samples"
    return "loss: of single samples"


def _on_averaging(locality: Locality, batch_size: int | None, smallest: int) -> str:
    steps = locality.averaging_every
    if steps == 1:
        return "averaging: at each step"
    if batch_size is None or not smallest:
        return f"averaging: workers take {steps} steps alone, each towards its own shard"
    passes = steps * batch_size / smallest
    return f"averaging: workers take {steps} steps alone, {passes:.2g} passes over the smallest shard"
