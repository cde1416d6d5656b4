"""Which modules of a model are gathered and let go by themselves, where it is divided over ranks (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from torch import nn

_LARGE = 1 << 20
"""Parameters from which a module is always worth gathering by itself; in a smaller model, a 64th of it."""
_HOLDERS = nn.ModuleList, nn.ModuleDict
"""They are never called: what they hold is."""
_WHOLE = nn.MultiheadAttention, nn.RNNBase, nn.TransformerEncoderLayer, nn.TransformerDecoderLayer
"""They read parameters of the modules inside them, without calling these."""


def units_of(model: nn.Module) -> list[nn.Module]:
    """The innermost first, without the model itself, to which whatever is in none of them belongs.

    Lists, dicts and sequences of modules are looked into, and so is a module that is most of the model, such as what a
    wrapper wraps. Parameters that are tied belong to a module that has all of them.
    """
    total = _size(model)
    owners = _owners(model)
    return list(_inside(model, total, min(_LARGE, max(total // 64, 1 << 12)), owners, set()))


def _inside(module: nn.Module, total: int, large: int, owners: Counter[int], seen: set[int]) -> Iterator[nn.Module]:
    """Of the children of a module."""
    limit = total // 2 if isinstance(module, _HOLDERS) else total // 4
    for part in module.children():
        if id(part) in seen or _size(part) < large:
            continue
        seen.add(id(part))
        inner: list[nn.Module] = []
        looks_like_a_list = isinstance(part, (*_HOLDERS, nn.Sequential))
        if looks_like_a_list or (_size(part) > limit and not isinstance(part, _WHOLE)):
            inner = list(_inside(part, total, large, owners, seen))
        yield from inner
        taken = {id(one) for each in inner for one in each.parameters()}
        rest = [one for one in part.parameters() if id(one) not in taken]
        here = _owners(part)
        tied_outside = any(here[id(one)] != owners[id(one)] for one in rest)
        if sum(one.numel() for one in rest) >= large and not isinstance(part, _HOLDERS) and not tied_outside:
            yield part


def _size(module: nn.Module) -> int:
    return sum(one.numel() for one in module.parameters())


def _owners(module: nn.Module) -> Counter[int]:
    """For each parameter how many modules have it, under how many names."""
    return Counter(id(one) for part in module.modules() for one in part._parameters.values() if one is not None)
