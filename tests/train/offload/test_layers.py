"""Which module needs which parameters."""

from __future__ import annotations

import torch
from torch import nn
from train.offload.models import Tied, wide

from argosy.train.offload.layers import SMALL, layers_of

INPUTS = torch.randn(5, 8)


def movable(model: nn.Module, inputs: torch.Tensor | None = INPUTS) -> dict[str, set[str]]:
    names = {id(one): name for name, one in model.named_parameters()}
    layers, _ = layers_of(model, inputs)
    return {layer.name: {names[id(one)] for one in layer.movable} for layer in layers if layer.movable}


def test_a_weight_belongs_to_its_module_and_small_ones_stay() -> None:
    model = wide()
    assert movable(model) == {"4": {"4.weight"}, "6": {"6.weight"}}
    _, reasons = layers_of(model, INPUTS)
    assert reasons["0.weight"] == reasons["4.bias"] == SMALL


def test_attention_reads_the_weights_of_its_output_itself() -> None:
    model = Tied()
    found = movable(model)
    assert found["attention"] == {"attention.in_proj_weight", "attention.out_proj.weight"}
    assert "attention.out_proj" not in found


def test_what_several_layers_read_stays() -> None:
    model = Tied()
    layers, reasons = layers_of(model, INPUTS)
    assert reasons["there.weight"] == "several layers share it"
    assert "other layers run" in reasons["back.weight"]
    assert "other layers run" in reasons["scale"]
    assert {layer.name for layer in layers} >= {"there", "back", "(model)"}


def test_every_parameter_that_learns_is_in_one_layer() -> None:
    model = Tied()
    model.back.bias.requires_grad_(False)
    layers, _ = layers_of(model, INPUTS)
    found = [id(one) for layer in layers for one in layer.parameters]
    assert sorted(found) == sorted(id(one) for one in model.parameters() if one.requires_grad)


def test_a_weight_that_nobody_reads_stays() -> None:
    model = nn.Sequential(nn.Linear(8, 3))
    model.register_parameter("spare", nn.Parameter(torch.zeros(64, 64)))
    _, reasons = layers_of(model, INPUTS)
    assert "no layer" in reasons["spare"]


def test_a_weight_that_is_a_part_of_another_tensor_stays() -> None:
    model = nn.Sequential(nn.Linear(8, 256))
    model[0].weight = nn.Parameter(torch.zeros(512, 8)[:256])
    _, reasons = layers_of(model, INPUTS)
    assert "larger tensor" in reasons["0.weight"]


def test_looking_leaves_statistics_random_numbers_and_the_mode_as_they_were() -> None:
    model = wide().eval()
    before = {name: one.clone() for name, one in model.state_dict().items()}
    torch.manual_seed(3)
    state = torch.get_rng_state()
    layers_of(model, INPUTS)
    assert torch.equal(torch.get_rng_state(), state)
    assert not model.training
    assert all(torch.equal(one, before[name]) for name, one in model.state_dict().items())
    assert not model[4]._forward_hooks


def test_without_samples_to_look_at_all_parameters_stay() -> None:
    assert movable(wide(), None) == {}
