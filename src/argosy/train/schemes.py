"""How workers learn together, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, replace

from argosy.calls import value


def _check_every(every: int) -> None:
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise ValueError(f"`every` is a number of steps above 0, not {every!r}")


@value()
@dataclass(frozen=True, kw_only=True, slots=True)
class Sync:
    """Every step follows the mean gradient of all workers (PyTorch's DDP)."""

    sharded: bool = False
    """Parameters, gradients and optimizer states are divided over the ranks (PyTorch's FSDP2)."""


@value()
@dataclass(frozen=True, kw_only=True, slots=True)
class LocalSGD:
    """Workers step by themselves, and average their parameters every so many steps."""

    every: int = 16

    def __post_init__(self) -> None:
        _check_every(self.every)


@value()
@dataclass(frozen=True, kw_only=True, slots=True)
class DiLoCo:
    """Workers step by themselves; every so many steps their mean way is the gradient of an outer Nesterov step.

    Douillard et al. 2023 (arXiv 2311.08105). The inner optimizer is the user's, AdamW as a rule.
    """

    every: int = 50
    outer_lr: float = 0.7
    outer_momentum: float = 0.9

    def __post_init__(self) -> None:
        _check_every(self.every)
        if not self.outer_lr > 0 or not 0 <= self.outer_momentum < 1:
            raise ValueError(
                f"DiLoCo needs outer_lr above 0 and outer_momentum in [0, 1), "
                f"not {self.outer_lr} and {self.outer_momentum}"
            )


@value()
@dataclass(frozen=True, kw_only=True, slots=True)
class Hierarchical:
    """Ranks of one node follow their mean gradient in each step; nodes average their parameters every so many steps."""

    every: int = 16
    ranks_per_node: int | None = None
    """Unless told, as the machines are."""

    def __post_init__(self) -> None:
        _check_every(self.every)
        if self.ranks_per_node is not None and self.ranks_per_node < 1:
            raise ValueError(f"ranks_per_node must be above 0, not {self.ranks_per_node}")


Scheme = Sync | LocalSGD | DiLoCo | Hierarchical
_NAMED: dict[str, Scheme] = {
    "sync": Sync(),
    "ddp": Sync(),
    "fsdp": Sync(sharded=True),
    "local_sgd": LocalSGD(),
    "diloco": DiLoCo(),
    "hierarchical": Hierarchical(),
}


def scheme_of(given: str | Scheme, every: int | None = None) -> Scheme:
    """`every`: how many steps lie between two averages, for a scheme that averages."""
    if isinstance(given, str):
        if given not in _NAMED:
            raise ValueError(f"there is no scheme {given!r}; there are {', '.join(_NAMED)}")
        given = _NAMED[given]
    if not isinstance(given, Scheme):
        raise TypeError(f"a scheme is a name or one of Sync, LocalSGD, DiLoCo, Hierarchical, not {given!r}")
    if every is None:
        return given
    if isinstance(given, Sync):
        raise ValueError("every= is for schemes that average every so many steps, but 'sync' does so in each step")
    return replace(given, every=every)
