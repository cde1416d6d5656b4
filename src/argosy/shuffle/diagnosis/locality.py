"""The three ways in which it can hurt that a worker learns from its own shard alone.

A step that averages the gradients of all workers does not care which of them read a sample, unless a sample's gradient
depends on the others in its worker's batch, or workers go their own way for some steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_IN_BATCH = (
    "inbatch", "contrastive", "triplet", "infonce", "ntxent", "npair", "simclr", "cliploss", "supcon", "barlow",
    "vicreg",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Locality:
    """What is known of a training run: None where it was not told."""

    batch_norms: tuple[str, ...] | None
    """BatchNorm layers with each worker's own statistics."""
    in_batch_loss: bool | None
    """Whether samples are held against others of the same batch."""
    averaging_every: int = 1
    """Steps that a worker takes alone before all are averaged."""

    @property
    def hurts(self) -> bool:
        return bool(self.batch_norms or self.in_batch_loss or self.averaging_every > 1)


def locality(model: Any = None, loss: Any = None, averaging_every: int = 1) -> Locality:
    """Look at a torch module, and at a loss: a module, a function, or its name; `"in_batch"` for any that is so."""
    if isinstance(averaging_every, bool) or not isinstance(averaging_every, int) or averaging_every < 1:
        raise ValueError(f"averaging_every is a number of steps above 0, not {averaging_every!r}")
    return Locality(
        batch_norms=None if model is None else local_batch_norms(model),
        in_batch_loss=None if loss is None else is_in_batch(loss),
        averaging_every=averaging_every,
    )


def together(told: Sequence[Locality]) -> Locality:
    """What hurts on one rank hurts all of them."""
    layers = [each.batch_norms for each in told if each.batch_norms is not None]
    losses = [each.in_batch_loss for each in told if each.in_batch_loss is not None]
    return Locality(
        batch_norms=max(layers, key=len) if layers else None,
        in_batch_loss=any(losses) if losses else None,
        averaging_every=max(each.averaging_every for each in told),
    )


def local_batch_norms(model: Any) -> tuple[str, ...]:
    """The names of a module's BatchNorm layers whose statistics are of one worker's batch alone."""
    if not hasattr(model, "named_modules"):
        raise TypeError(f"model is a torch module, not {type(model).__name__}")
    return tuple(name or type(layer).__name__ for name, layer in model.named_modules() if _is_local_batch_norm(layer))


def _is_local_batch_norm(layer: Any) -> bool:
    kinds = {kind.__name__ for kind in type(layer).__mro__}
    return "_BatchNorm" in kinds and "SyncBatchNorm" not in kinds


def is_in_batch(loss: Any) -> bool:
    """Told by the name."""
    name = loss if isinstance(loss, str) else getattr(loss, "__name__", type(loss).__name__)
    plain = "".join(letter for letter in name.lower() if letter.isalnum())
    return any(known in plain for known in _IN_BATCH)
