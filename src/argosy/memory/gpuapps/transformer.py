"""One training step of a transformer, a layer at a time: forward, backward by recomputing, and Adam.

Objects of layer l are its weights in one piece (`l.weights`), the two moments of Adam (`l.mean`, `l.square`), its
gradient (`l.gradient`) and what went into it (`l.input`). A layer's backward pass runs its forward pass again from its
input, with autograd, as training with checkpoints does; what happens inside lies in the device's memory.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from argosy.memory.gpuapps.filled import fill
from argosy.memory.store import Store
from argosy.memory.workload import Workload

NBYTES = 400 << 20
LAYERS = 3
HEADS = 4
SEQUENCES = 2
RATE, MEAN_DECAY, SQUARE_DECAY = 1e-3, 0.9, 0.99
WEIGHTS_PER_WIDTH_SQUARED = 12
"""Three for queries, keys and values, one for what comes out of attention, four up and four down."""


def make(nbytes: int) -> Workload:
    """Returns, from each run, the loss before the step and the norm of each layer's gradient, the last layer first."""
    in_units = LAYERS * 4 * WEIGHTS_PER_WIDTH_SQUARED + LAYERS + 3
    width = max(16 * round((nbytes / 4 / in_units) ** 0.5 / 16), 16)
    return Workload(name="transformer", objects=lambda: _objects(width), run=_run)


def _objects(width: int) -> dict[str, torch.Tensor]:
    """As many tokens as the width, so that weights and activations are read about as often as each other."""
    tokens = (SEQUENCES, max(width // SEQUENCES, 4), width)
    objects: dict[str, torch.Tensor] = {}
    for layer in range(LAYERS):
        for part in ("weights", "mean", "square", "gradient"):
            objects[f"{layer}.{part}"] = torch.zeros(WEIGHTS_PER_WIDTH_SQUARED * width * width)
        objects[f"{layer}.input"] = torch.zeros(tokens)
    goal = torch.empty(tokens)
    fill(goal, 1.0, seed=5)
    return {**objects, "output": torch.zeros(tokens), "slope": torch.zeros(tokens), "goal": goal}


def _run(store: Store) -> tuple[float, ...]:
    for layer in range(LAYERS):
        with store.window(f"start {layer}"):
            fill(store.write(f"{layer}.weights"), store["goal"].shape[-1] ** -0.5, seed=layer)
            store.write(f"{layer}.mean").zero_()
            store.write(f"{layer}.square").zero_()
    with store.window("embed"):
        fill(store.write("0.input"), 1.0, seed=9)
    for layer in range(LAYERS):
        with store.window(f"forward {layer}"), torch.no_grad():
            after = f"{layer + 1}.input" if layer + 1 < LAYERS else "output"
            store.write(after).copy_(block(store[f"{layer}.input"], store[f"{layer}.weights"]))
    with store.window("loss"):
        distance = store["output"] - store["goal"]
        torch.mul(distance, 2 / distance.numel(), out=store.write("slope"))
        results = [float(distance.square().mean())]
    for layer in reversed(range(LAYERS)):
        with store.window(f"backward {layer}"):
            _backward(store, layer)
        with store.window(f"update {layer}"):
            results.append(_update(store, layer))
    return tuple(results)


def _backward(store: Store, layer: int) -> None:
    inputs = store[f"{layer}.input"].detach().requires_grad_()
    weights = store[f"{layer}.weights"].detach().requires_grad_()
    slope = store.update("slope")
    with torch.enable_grad(), torch.autograd.set_multithreading_enabled(False):
        output = block(inputs, weights)
        by_input, by_weights = torch.autograd.grad(output, (inputs, weights), slope)
    store.write(f"{layer}.gradient").copy_(by_weights)
    slope.copy_(by_input)


def _update(store: Store, layer: int) -> float:
    """Adam's first step, for which both moments are corrected."""
    gradient, mean, square = store[f"{layer}.gradient"], store.update(f"{layer}.mean"), store.update(f"{layer}.square")
    mean.mul_(MEAN_DECAY).add_(gradient, alpha=1 - MEAN_DECAY)
    square.mul_(SQUARE_DECAY).addcmul_(gradient, gradient, value=1 - SQUARE_DECAY)
    length = (square / (1 - SQUARE_DECAY)).sqrt_().add_(1e-8)
    store.update(f"{layer}.weights").addcdiv_(mean, length, value=-RATE / (1 - MEAN_DECAY))
    return float(gradient.norm())


def block(inputs: Any, weights: Any) -> Any:
    """Attention and two dense layers, each beside a way around it; plain products, whose order of adding is fixed."""
    sequences, length, width = inputs.shape
    mixing, out, up, down = weights.view(WEIGHTS_PER_WIDTH_SQUARED, width, width).split((3, 1, 4, 4))
    normal = functional.layer_norm(inputs, (width,))
    heads = normal @ mixing.reshape(3 * width, width).t()
    queries, keys, values = heads.view(sequences, length, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
    scores = (queries @ keys.transpose(-1, -2)) * (width // HEADS) ** -0.5
    hidden = torch.ones(length, length, dtype=torch.bool, device=inputs.device).triu(1)
    attended = scores.masked_fill(hidden, -torch.inf).softmax(-1) @ values
    inputs = inputs + attended.transpose(1, 2).reshape(sequences, length, width) @ out[0].t()
    normal = functional.layer_norm(inputs, (width,))
    wide = functional.gelu(normal @ up.reshape(4 * width, width).t())
    return inputs + wide @ down.reshape(4 * width, width)
