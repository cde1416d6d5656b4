"""What of a model is gathered by itself, where it is divided over ranks."""

from __future__ import annotations

import torch
from torch import nn

from argosy.train.learners.units import units_of


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.one = nn.Linear(width, 4 * width)
        self.two = nn.Linear(4 * width, width)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return rows + self.two(self.one(rows).relu())


class Body(nn.Module):
    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.heads = nn.ModuleDict({"left": nn.Linear(width, 5 * width), "right": nn.Linear(width, 5 * width)})

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            rows = block(rows)
        return self.heads["left"](rows) + self.heads["right"](rows)


class Wrapper(nn.Module):
    """As tools wrap a model: all of it is in one child of a child."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.module = inner

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return self.module(rows)


def size(module: nn.Module) -> int:
    return sum(one.numel() for one in module.parameters())


def held(model: nn.Module) -> list[int]:
    """Parameters that are there whole at once: those of each unit, and what is left to the model itself."""
    taken: set[int] = set()
    sizes = []
    for unit in [*units_of(model), model]:
        mine = [one for one in unit.parameters() if id(one) not in taken]
        taken |= {id(one) for one in mine}
        sizes.append(sum(one.numel() for one in mine))
    return sizes


def test_what_is_wrapped_in_a_list_or_in_a_dict_is_divided() -> None:
    body = Body(32, 6)
    for model in (body, Wrapper(body), Wrapper(Wrapper(body)), nn.ModuleDict({"it": body})):
        assert max(held(model)) == size(body.blocks[0])
        assert sum(held(model)) == size(model)
        assert {*body.blocks, *body.heads.values()} <= set(units_of(model))


def test_layers_that_are_small_go_with_what_has_them() -> None:
    model = nn.Sequential(*(nn.Sequential(*(nn.Linear(20, 20) for _ in range(16))) for _ in range(8)))
    assert units_of(model) == list(model)


def test_parameters_that_are_tied_go_with_a_module_that_has_both() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(400, 32)
            self.body = Body(32, 6)
            self.out = nn.Linear(32, 400, bias=False)
            self.out.weight = self.words.weight

    model = Tied()
    units = units_of(model)
    assert model.words not in units
    assert model.out not in units
    assert set(model.body.blocks) <= set(units)
    assert held(model)[-1] == 400 * 32


def test_attention_is_never_taken_apart() -> None:
    layer = nn.TransformerEncoderLayer(64, 4, 128)
    for model in (Wrapper(layer), nn.Sequential(layer, nn.Linear(64, 64))):
        units = set(units_of(model))
        assert layer in units
        assert not units & set(list(layer.modules())[1:])
