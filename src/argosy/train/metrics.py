"""What a model is judged by: means over samples of a function of its output and the labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import torch
from torch.nn import functional

from argosy import arguments

Metric = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""Of a batch's output and labels: the mean over its samples."""


def accuracy(output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The share of samples whose class is right; with one output a sample, whose sign is."""
    if output.ndim == labels.ndim or output.shape[1] == 1:
        return ((output.reshape(labels.shape) > 0) == (labels > 0.5)).float().mean()
    return (output.argmax(dim=1) == labels).float().mean()


def top5(output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The share of samples whose class is among the five likeliest."""
    best = output.topk(min(5, output.shape[1]), dim=1).indices
    return (best == labels[:, None]).any(dim=1).float().mean()


def mse(output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return functional.mse_loss(output.reshape(labels.shape), labels)


def mae(output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return functional.l1_loss(output.reshape(labels.shape), labels)


def _binary(output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return functional.binary_cross_entropy_with_logits(output.reshape(labels.shape), labels.to(output.dtype))


METRICS: dict[str, Metric] = {"accuracy": accuracy, "top5": top5, "mse": mse, "mae": mae}
LOSSES: dict[str, Metric] = {
    "cross_entropy": functional.cross_entropy,
    "binary_cross_entropy": _binary,
    "mse": mse,
    "mae": mae,
}


def loss_of(given: str | Metric) -> Metric:
    if isinstance(given, str):
        return _named(given, LOSSES, "loss")
    return arguments.function("loss", given, "a name or a function of outputs and labels")


def metrics_of(given: str | Iterable[str] | Mapping[str, str | Metric] | None) -> dict[str, Metric]:
    """By name. A name of ours stands for its function."""
    if given is None:
        return {}
    wanted = "a name, a list of names, or a dictionary of names and functions of outputs and labels"
    if isinstance(given, str):
        given = [given]
    named: dict[Any, Any] = (
        dict(given)
        if isinstance(given, Mapping)
        else {name: name for name in arguments.names("metrics", given, wanted)}
    )
    return {
        arguments.text("a name in metrics", name): _named(one, METRICS, "metric")
        if isinstance(one, str)
        else arguments.function(f"metrics[{arguments.show(name)}]", one)
        for name, one in named.items()
    }


def _named(name: str, known: Mapping[str, Metric], what: str) -> Metric:
    if name in known:
        return known[name]
    near = get_close_matches(name[:1000], known, n=1)
    hint = f", did you mean {near[0]!r}?" if near else ""
    raise ValueError(
        f"there is no {what} {arguments.show(name)}{hint}; there are {', '.join(known)}, or give a function"
    )
