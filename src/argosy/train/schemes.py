"""How workers learn together, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, replace

from argosy import arguments
from argosy.calls import value


def _check_every(made: LocalSGD | DiLoCo | Hierarchical) -> None:
    arguments.settle(made, every=arguments.whole("every", made.every, least=1, wanted="a number of steps above 0"))


@value()
@dataclass(frozen=True, kw_only=True, slots=True)
class Sync:
    """Every step follows the mean gradient of all workers (PyTorch's DDP)."""

    sharded: bool = False
    """Parameters, gradients and optimizer states are divided over the ranks (PyTorch's FSDP2)."""

    def __post_init__(self) -> None:
        arguments.settle(self, sharded=arguments.flag("sharded", self.sharded))


@value()
@dataclass(frozen=True, kw_only=True, slots=True)
class LocalSGD:
    """Workers step by themselves, and average their parameters every so many steps."""

    every: int = 16

    def __post_init__(self) -> None:
        _check_every(self)


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
        _check_every(self)
        momentum = arguments.number("outer_momentum", self.outer_momentum, least=0)
        if momentum >= 1:
            raise ValueError(f"outer_momentum must be a number of at least 0 and below 1, not {momentum}")
        arguments.settle(self, outer_lr=arguments.number("outer_lr", self.outer_lr, above=0), outer_momentum=momentum)


@value()
@dataclass(frozen=True, kw_only=True, slots=True)
class Hierarchical:
    """Ranks of one node follow their mean gradient in each step; nodes average their parameters every so many steps."""

    every: int = 16
    ranks_per_node: int | None = None
    """Unless told, as the machines are."""

    def __post_init__(self) -> None:
        _check_every(self)
        if self.ranks_per_node is not None:
            arguments.settle(self, ranks_per_node=arguments.whole("ranks_per_node", self.ranks_per_node, least=1))


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
            raise ValueError(f"there is no scheme {arguments.show(given)}; there are {', '.join(_NAMED)}")
        given = _NAMED[given]
    if not isinstance(given, Scheme):
        raise TypeError(
            f"a scheme is a name or one of Sync, LocalSGD, DiLoCo, Hierarchical, not {arguments.show(given)}"
        )
    if every is None:
        return given
    if isinstance(given, Sync):
        raise ValueError("every= is for schemes that average every so many steps, but 'sync' does so in each step")
    return replace(given, every=every)
