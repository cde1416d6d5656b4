"""Many workers in one network do what as many plain models would do."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn

from argosy.bench.locality.learning import MOMENTUM, Images, factor, learned
from argosy.bench.locality.network import Network
from argosy.bench.locality.reading import reading_of
from argosy.train.tasks.models import ConvNet

torch.set_num_threads(1)
WORKERS, BATCH, CLASSES = 3, 4, 5


def model_of(batch_norm: bool) -> ConvNet:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return ConvNet(channels=2, classes=CLASSES, widths=(3, 4), batch_norm=batch_norm).double()


def problem(num_samples: int = WORKERS * BATCH * 4) -> tuple[Any, Any]:
    draw = torch.Generator().manual_seed(1)
    pixels = torch.randint(0, 256, (num_samples, 2, 8, 8), generator=draw).double()
    return pixels, torch.randint(0, CLASSES, (num_samples,), generator=draw)


def standard(pixels: Any) -> Any:
    spread = pixels.std(dim=(1, 2, 3), keepdim=True) + 1.0
    return (pixels - pixels.mean(dim=(1, 2, 3), keepdim=True)) / spread


def norms_of(model: Any) -> list[Any]:
    return [part for part in model.modules() if isinstance(part, nn.BatchNorm2d)]


class Fleet:
    """The same training, written as plainly as can be: one model a worker, one after the other."""

    def __init__(self, norm: str, every: int) -> None:
        self.norm, self.every = norm, every
        self.models = [model_of(norm != "none").train() for _ in range(WORKERS)]
        self.steppers = [torch.optim.SGD(one.parameters(), lr=0.0, momentum=MOMENTUM) for one in self.models]
        self.num_steps = 0

    def step(self, pixels: Any, labels: Any, rate: float) -> None:
        """Pixels [workers, batch, ...]."""
        gradients = []
        for worker, model in enumerate(self.models):
            model.zero_grad()
            nn.functional.cross_entropy(model(pixels[worker]), labels[worker]).backward()
            gradients.append([one.grad for one in model.parameters()])
        for model, stepper in zip(self.models, self.steppers, strict=True):
            if self.every == 1:
                for one, *parts in zip(model.parameters(), *gradients, strict=True):
                    one.grad = sum(parts) / WORKERS
            stepper.param_groups[0]["lr"] = rate
            stepper.step()
        self.num_steps += 1
        if self.every > 1 and self.num_steps % self.every == 0:
            with torch.no_grad():
                for parts in zip(*(model.parameters() for model in self.models), strict=True):
                    mean = sum(parts) / WORKERS
                    for one in parts:
                        one.copy_(mean)

    def settled(self) -> Any:
        model = copy.deepcopy(self.models[0]).eval()
        with torch.no_grad():
            for mine, *parts in zip(model.parameters(), *(one.parameters() for one in self.models), strict=True):
                mine.copy_(sum(parts) / WORKERS)
            if self.norm == "averaged":
                for mine, *parts in zip(norms_of(model), *map(norms_of, self.models), strict=True):
                    mine.running_mean.copy_(sum(one.running_mean for one in parts) / WORKERS)
                    mine.running_var.copy_(sum(one.running_var for one in parts) / WORKERS)
        return model


def taught(network: Network, *, every: int, epochs: int = 3, lr: float = 0.3) -> list[tuple[Any, float]]:
    """Train the network, and give the samples and the rate of each step."""
    pixels, labels = problem()
    reading = reading_of(labels.numpy(), WORKERS, shards="sorted", fraction=0.3, seed=2)
    images = Images(train=(standard(pixels), labels), valid=(pixels, labels))
    learned(network, images, reading, epochs=epochs, batch=BATCH, lr=lr, every=every)
    steps = [
        torch.from_numpy(reading.epoch(number))[:, at : at + BATCH]
        for number in range(epochs)
        for at in range(0, len(pixels) // WORKERS, BATCH)
    ]
    return [(chosen, lr * factor(number, len(steps))) for number, chosen in enumerate(steps)]


@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("norm", ["local", "averaged", "none"])
def test_a_network_of_many_workers_learns_what_as_many_plain_models_learn(norm: str, every: int) -> None:
    num_sets = 1 if every == 1 else WORKERS
    network = Network(model_of(norm != "none"), num_workers=WORKERS, num_sets=num_sets, norm=norm)
    fleet = Fleet(norm, every)
    pixels, labels = problem()
    for chosen, rate in taught(network, every=every):
        fleet.step(pixels[chosen], labels[chosen], rate)
    ours, plain = network.settled(), fleet.settled()
    assert not torch.allclose(plain(pixels), model_of(norm != "none").eval()(pixels))
    torch.testing.assert_close(ours(pixels), plain(pixels))


def test_synchronised_statistics_are_those_of_one_worker_with_the_whole_batch() -> None:
    network = Network(model_of(True), num_workers=WORKERS, num_sets=1, norm="synchronised")
    plain = model_of(True).train()
    stepper = torch.optim.SGD(plain.parameters(), lr=0.0, momentum=MOMENTUM)
    pixels, labels = problem()
    for chosen, rate in taught(network, every=1):
        stepper.param_groups[0]["lr"] = rate
        stepper.zero_grad()
        nn.functional.cross_entropy(plain(pixels[chosen.flatten()]), labels[chosen.flatten()]).backward()
        stepper.step()
    torch.testing.assert_close(network.settled()(pixels), plain.eval()(pixels))


def test_workers_apart_with_synchronised_statistics_score_like_workers_together_while_their_parameters_agree() -> None:
    pixels, _ = problem(WORKERS * BATCH)
    images = standard(pixels).unflatten(0, (WORKERS, BATCH))
    networks = [
        Network(model_of(True), num_workers=WORKERS, num_sets=sets, norm="synchronised") for sets in (1, WORKERS)
    ]
    together, apart = (network.scores(network.rows(images)) for network in networks)
    torch.testing.assert_close(together, apart)
    for one, other in zip(networks[0].statistics, networks[1].statistics, strict=True):
        torch.testing.assert_close(one, other)


def test_local_statistics_are_worker_0s_and_averaged_ones_the_mean() -> None:
    pixels, _ = problem(WORKERS * BATCH)
    images = standard(pixels).unflatten(0, (WORKERS, BATCH))
    found = {}
    for norm in ("local", "averaged"):
        network = Network(model_of(True), num_workers=WORKERS, num_sets=1, norm=norm)
        network.scores(network.rows(images))
        found[norm] = norms_of(network.settled())[0].running_mean
        each = network.statistics[0][0]
    torch.testing.assert_close(found["local"], each[0])
    torch.testing.assert_close(found["averaged"], each.mean(0))
    assert not torch.allclose(found["local"], found["averaged"])


def test_the_rate_rises_to_its_full_value_and_falls_to_nothing() -> None:
    factors = [factor(step, 100) for step in range(100)]
    assert max(factors) == factors[9] == 1
    assert factors[:10] == sorted(factors[:10])
    assert factors[9:] == sorted(factors[9:], reverse=True)
    assert 0 < factors[-1] < 0.001
