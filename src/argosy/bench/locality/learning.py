"""One run: all workers learn in this process, side by side, and what they learned is tested at the end."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

from argosy.bench.locality.network import Network
from argosy.bench.locality.reading import Reading
from argosy.bench.locality.replay import replayed

MOMENTUM = 0.9
_WARM_UP = 0.1
"""Share of the steps in which the learning rate rises; then it falls as a cosine."""
_TESTED_AT_ONCE = 2048


@dataclass(frozen=True, kw_only=True, slots=True)
class Images:
    """A task's samples on the device: those that are learned from are standardised already, as the model does it."""

    train: tuple[Any, Any]
    valid: tuple[Any, Any]


def images_of(data: Any, device: Any) -> Images:
    pixels, labels = (torch.from_numpy(one).to(device) for one in data.train)
    pixels = pixels.float()
    spread = pixels.std(dim=(1, 2, 3), keepdim=True) + 1.0
    standard = (pixels - pixels.mean(dim=(1, 2, 3), keepdim=True)) / spread
    valid = tuple(torch.from_numpy(one).to(device) for one in data.valid)
    return Images(train=(standard, labels), valid=(valid[0], valid[1]))


def learned(
    network: Network, images: Images, reading: Reading, *, epochs: int, batch: int, lr: float, every: int
) -> float:
    """Accuracy on the held-out samples, after so many epochs of SGD with momentum.

    With one set of parameters a step takes the mean gradient of all workers. With a set for each, workers step by
    themselves and are averaged every `every` steps; each keeps its own momentum.
    """
    lines = [torch.from_numpy(reading.epoch(number)) for number in range(epochs)]
    steps = torch.cat([line.unfold(1, batch, batch).transpose(0, 1) for line in lines])
    steps = steps.to(images.train[1].device)
    stepper = _Stepper(network, images, steps[0])
    take_step = replayed(stepper.step, steps.device)
    for number, chosen in enumerate(steps):
        stepper.set(chosen, lr * factor(number, len(steps)))
        take_step()
        if network.num_sets > 1 and (number + 1) % every == 0:
            network.average()
    return accuracy_of(network.settled(), images.valid)


def factor(step: int, num_steps: int) -> float:
    """Of the learning rate."""
    warm = max(1, round(_WARM_UP * num_steps))
    if step < warm:
        return (step + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, num_steps - warm)))


class _Stepper:
    """What a step reads lies in tensors that stay where they are, so that it can be replayed."""

    def __init__(self, network: Network, images: Images, chosen: Any) -> None:
        self._network = network
        self._pixels, self._labels = images.train
        self._chosen = chosen.clone()
        self._rate = torch.zeros((), device=chosen.device)
        self._momenta = [torch.zeros_like(one) for one in network.parameters]

    def set(self, chosen: Any, rate: float) -> None:
        self._chosen.copy_(chosen)
        self._rate.fill_(rate)

    def step(self) -> None:
        network = self._network
        scores = network.scores(network.rows(self._pixels[self._chosen]))
        loss = F.cross_entropy(scores, self._labels[self._chosen].flatten()) * network.num_sets
        gradients = torch.autograd.grad(loss, network.parameters)
        with torch.no_grad():
            for one, momentum, gradient in zip(network.parameters, self._momenta, gradients, strict=True):
                momentum.mul_(MOMENTUM).add_(gradient)
                one.addcmul_(momentum, self._rate, value=-1)


def accuracy_of(model: Callable[[Any], Any], valid: tuple[Any, Any]) -> float:
    right = 0
    with torch.no_grad():
        for inputs, labels in zip(*(one.split(_TESTED_AT_ONCE) for one in valid), strict=True):
            right += int((model(inputs).argmax(1) == labels).sum())
    return right / len(valid[1])
