"""The gradient noise scale of a model for which it is known, from each of its sources.

Linear regression at a fixed point. Inputs x are normal in d dimensions, labels are y = x.w* + s n with normal n, the
loss of a sample is (x.w - y)^2. With e = w - w* its gradient is g = 2 x (x.e - s n), so

    G            = E g                                     = 2 e
    E |g|^2      = 4 E[|x|^2 ((x.e)^2 + s^2)]              = 4 ((d + 2) |e|^2 + d s^2)
    tr(Sigma)    = E |g|^2 - |G|^2                         = 4 ((d + 1) |e|^2 + d s^2)
    phi          = tr(Sigma) / |G|^2                       = d + 1 + d s^2 / |e|^2

as E[|x|^2 (x.e)^2] = (d + 2) |e|^2 for normal x. Each source draws its own samples.

    python benchmarks/train_noise.py RANK RANKS FOLDER STEPS     one rank of the hook's side
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import torch
from children import answer, ask, child
from figures import Figure, Options

from argosy.train.noise import NoiseScale

DIMENSIONS = 20
DISTANCE = 1.0
SPREAD = 1.5
TRUTH = DIMENSIONS + 1 + DIMENSIONS * SPREAD**2 / DISTANCE**2
BATCH = 128
RANKS = 2
LOSS = torch.nn.functional.mse_loss
_LIMIT_SECONDS = 280


def noise(options: Options) -> list[Figure]:
    """phi of a linear-Gaussian model by hook (2 gloo ranks), by accumulation and by parts, against the closed form."""
    steps = options.count(12_000, 1_000)
    found = {
        "hook on 2 ranks": _on_ranks(steps),
        "accumulation of 4": _by_accumulation(steps),
        "8 parts of one batch": _by_parts(steps // 4),
    }
    figures = [
        Figure(
            what=f"phi by {name}: off the truth by",
            value=abs(value / TRUTH - 1) * 100,
            unit="%",
            at_most=5.0,
            note=f"{value:.2f}, truth {TRUTH:.2f}",
        )
        for name, value in found.items()
    ]
    apart = abs(found["hook on 2 ranks"] / found["accumulation of 4"] - 1) * 100
    figures.append(Figure(what="hook and accumulation differ by", value=apart, unit="%", at_most=2.0))
    return figures


def _model() -> torch.nn.Module:
    """At distance from w* = 0."""
    model = torch.nn.Linear(DIMENSIONS, 1, bias=False)
    with torch.no_grad():
        model.weight.fill_(DISTANCE / DIMENSIONS**0.5)
    return model


def _batches(steps: int, size: int, seed: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        inputs = torch.randn(size, DIMENSIONS, generator=generator)
        yield inputs, SPREAD * torch.randn(size, 1, generator=generator)


def _by_accumulation(steps: int) -> float:
    model, scale = _model(), NoiseScale()
    for inputs, labels in _batches(steps, BATCH, 1):
        for rows, wanted in zip(inputs.chunk(4), labels.chunk(4), strict=True):
            (LOSS(model(rows), wanted) / 4).backward()
            scale.micro(model.parameters())
        scale.large(model.parameters(), BATCH)
        model.zero_grad()
    return scale.value


def _by_parts(steps: int) -> float:
    model, scale = _model(), NoiseScale()
    for inputs, labels in _batches(steps, BATCH, 2):
        scale.measure(model, LOSS, inputs, labels, parts=8)
    return scale.value


def _on_ranks(steps: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        first, *others = [
            [sys.executable, str(Path(__file__)), str(rank), str(RANKS), folder, str(steps)] for rank in range(RANKS)
        ]
        with child(others[0]):
            return float(ask(first, timeout_seconds=_LIMIT_SECONDS))


def _rank(rank: int, ranks: int, folder: str, steps: int) -> float:
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks)
    model, scale = DistributedDataParallel(_model()), NoiseScale()
    scale.watch(model)
    for inputs, labels in _batches(steps, BATCH // ranks, 1000 + rank):
        LOSS(model(inputs), labels).backward()
        scale.step(BATCH)
        model.zero_grad()
    value = scale.value
    dist.barrier()
    dist.destroy_process_group()
    return value


if __name__ == "__main__":
    answer(_rank(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
