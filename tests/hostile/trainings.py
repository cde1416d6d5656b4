"""Valid calls of training, its parts, and partial exchange."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from hostile.judging import Case
from hostile.kinds import (
    a,
    amount,
    anything,
    either,
    flag,
    fresh,
    function,
    listed,
    mapping,
    number,
    of,
    optional,
    path,
    some_text,
    text,
    whole,
    words,
)
from torch import nn

from argosy import shuffle, train


def model() -> Any:
    torch.manual_seed(0)
    return nn.Linear(2, 3)


def data() -> Any:
    x = np.arange(40, dtype=np.float32).reshape(20, 2) / 40
    return x, np.arange(20) % 3


def folder() -> str:
    return tempfile.mkdtemp(prefix="hostile-train-")


@functools.cache
def runs() -> tuple[Any, ...]:
    return tuple(
        train.Run(
            workers=workers, seed=seed, batch=8 * workers, samples_per_second=100.0 * workers,
            evaluations=tuple(train.Evaluation(samples=n, seconds=n / 100 / workers, metrics={"accuracy": n / 100 * (1 - 0.01 * seed)}) for n in (0, 20, 40, 60, 80)),
        )
        for workers in (1, 2) for seed in (0, 1)
    )  # fmt: skip


def noise() -> Any:
    scale = train.NoiseScale()
    for _ in range(8):
        scale.observe(2.0, 1.0, small_batch=4, large_batch=16)
    return scale


def warm() -> None:
    """What the first training of a process loads takes its time, and must not be broken off."""
    train.fit(model(), data(), batch_size=8, offload="all")


FIT = {
    "model": fresh(model, either(of(nn.Module), function)), "data": fresh(data, anything),
    "loss": a("cross_entropy", either(text, function)), "optimizer": a("sgd", either(text, function, of(torch.optim.Optimizer))),
    "batch_size": a(8, either(whole(1), of(train.BatchSize)), "batch size", "batch"), "epochs": a(1, whole(1)), "valid": a(None, anything),
    "metrics": a("accuracy", optional(either(text, mapping, of(list, tuple, set))), "metric"), "ranks": a(None, optional(whole(1))),
    "scheme": a("sync", either(text, of(train.Sync, train.LocalSGD, train.DiLoCo, train.Hierarchical))), "shuffle": a(True, either(flag, number(0, 1), text), "fraction"),
    "lr_rule": a("none", optional(either(text, of(train.LrRule))), "learning-rate rule"), "seed": a(1, whole()), "precision": a("float32", text), "device": a("cpu", text),
    "lr": a(0.1, optional(number(above=0))), "workers": a(1, optional(whole(1))), "features": a(None, anything), "label": a(None, optional(text)),
    "schedule": a("cosine", optional(either(text, function))), "clip": a(1.0, optional(number(above=0))), "accumulate": a(1, whole(1)),
    "batch_norm": a("average", words("average", "sync")), "stop": a(None, optional(lambda v: callable(v) and not isinstance(v, type))), "evaluate_every": a(None, optional(whole(1))),
    "noise": a(None, optional(either(flag, of(train.NoiseScale)))), "noise_every": a(16, whole(1)), "prefetch": a(0, optional(whole(0))),
}  # fmt: skip


def fitted(result: Any) -> Any:
    return [*(round(one, 6) for one in result.losses), result.steps]


def cases() -> list[Case]:
    above = number(above=0)
    share = number(0, 1)
    return [
        Case(name="fit", call=train.fit, arguments=FIT, finish=fitted, slow=True, calls=("model", "loss", "optimizer", "metrics", "schedule", "stop")),
        Case(name="fit local_sgd", call=lambda **m: train.fit(model(), data(), batch_size=8, lr=0.1, scheme="local_sgd", **m), arguments={"every": a(2, optional(whole(1)))}, finish=fitted, slow=True),
        Case(name="fit kept", call=lambda **m: train.fit(model(), data(), batch_size=8, lr=0.1, **m), arguments={"checkpoint": fresh(folder, optional(either(path, of(train.Checkpoint)))), "ledger": fresh(lambda: folder() + "/l.jsonl", optional(path))}, finish=fitted, slow=True),
        Case(name="fit offload", call=lambda **m: train.fit(model(), data(), batch_size=8, lr=0.1, **m), arguments={"offload": a("all", optional(either(text, of(train.Offload)))), "memory": a("1GiB", optional(amount))}, finish=fitted, slow=True),
        Case(name="fit valid", call=lambda **m: train.fit(model(), data(), batch_size=8, lr=0.1, **m), arguments={"valid": fresh(data, anything), "metrics": a("accuracy", optional(either(text, mapping, of(list, tuple, set))), "metric"), "evaluate_every": a(10, optional(whole(1))), "stop": a(train.EarlyStop(metric="accuracy"), optional(lambda v: callable(v) and not isinstance(v, type)))}, finish=fitted, slow=True, calls=("metrics", "stop")),
        Case(name="global_batch", call=train.global_batch, arguments={"size": a(8, whole(1), "batch size")}, finish=str),
        Case(name="per_worker", call=train.per_worker, arguments={"size": a(8, whole(1), "batch size")}, finish=str),
        Case(name="BatchSize", call=train.BatchSize, arguments={"size": a(8, whole(1)), "of": a("each worker", words("all workers", "each worker"))}, finish=str),
        Case(name="Checkpoint", call=train.Checkpoint, arguments={"folder": a("x", path), "every_steps": a(3, optional(whole(1))), "keep": a(2, whole(1))}, finish=lambda r: (r.keep, r.every_steps)),
        Case(name="DiLoCo", call=train.DiLoCo, arguments={"every": a(5, whole(1)), "outer_lr": a(0.7, above), "outer_momentum": a(0.9, lambda v: share(v) and v < 1)}, finish=lambda r: (r.every, r.outer_lr)),
        Case(name="LocalSGD", call=train.LocalSGD, arguments={"every": a(5, whole(1))}, finish=lambda r: r.every),
        Case(name="Hierarchical", call=train.Hierarchical, arguments={"every": a(5, whole(1)), "ranks_per_node": a(2, optional(whole(1)))}, finish=lambda r: (r.every, r.ranks_per_node)),
        Case(name="Sync", call=train.Sync, arguments={"sharded": a(True, flag)}, finish=lambda r: r.sharded),
        Case(name="EarlyStop", call=lambda **m: train.EarlyStop(**m), arguments={"metric": a("accuracy", some_text), "patience": a(3, optional(whole(1))), "least": a(0.5, number(0)), "target": a(0.9, optional(number())), "higher": a(True, optional(flag))}, finish=lambda r: r([train.Evaluation(samples=1, seconds=1.0, metrics={"accuracy": 0.95, "a": 1.0})])),
        Case(name="LrRule", call=train.LrRule, arguments={"kind": a("gain", words("none", "linear", "sqrt", "gain"), "learning-rate rule"), "base_batch": a(8, optional(whole(1))), "warmup_epochs": a(1.0, optional(number(0))), "noise_scale": a(50.0, optional(above), "noise scale")}, finish=lambda r: r.factor(16, 8)),
        Case(name="Offload", call=train.Offload, arguments={"kind": a("auto", words("auto", "all"), "offload"), "memory": a("1GiB", optional(amount)), "folder": a("/tmp", optional(path))}, finish=lambda r: r.nbytes),
        Case(name="Link", call=train.Link, arguments={"latency_seconds": a(1e-6, number(0)), "bytes_per_second": a(1e9, above), "ranks_per_node": a(2, whole(1)), "inside": a(None, optional(of(train.Link)))}, finish=lambda r: r.all_reduce_seconds(1000, 4)),
        Case(name="Link.all_reduce_seconds", call=train.Link(latency_seconds=1e-6, bytes_per_second=1e9).all_reduce_seconds, arguments={"nbytes": a(1000, number(0)), "ranks": a(4, whole(1))}, finish=lambda r: r),
        Case(name="NoiseScale", call=train.NoiseScale, arguments={"confidence": a(0.9, lambda v: share(v) and 0 < v < 1)}, finish=lambda r: r.confidence),
        Case(name="NoiseScale.observe", call=lambda small, large, **m: _observed(small, large, **m), arguments={"small": a(2.0, anything), "large": a(1.0, anything), "small_batch": a(4, above, "sizes of batch"), "large_batch": a(16, above, "sizes of batch"), "at": a(100, optional(number(0)))}, finish=lambda r: r),
        Case(name="NoiseScale.between", call=lambda start, stop, **m: noise().between(start, stop, **m), arguments={"start": a(0, number(infinite=True), "samples"), "stop": a(100, number(infinite=True), "samples")}, finish=lambda r: r),
        Case(name="NoiseScale.trajectory", call=lambda windows, **m: noise().trajectory(windows, **m), arguments={"windows": a(2, whole(1), "window")}, finish=lambda r: r),
        Case(name="NoiseScale.ceiling", call=lambda batch, **m: noise().ceiling(batch, **m), arguments={"batch": a(8, above)}, finish=lambda r: r),
        Case(name="NoiseScale.together", call=lambda scales: train.NoiseScale.together(scales), arguments={"scales": fresh(lambda: [noise()], of(list, tuple))}, finish=lambda r: r.value, typo=False),
        Case(name="NoiseScale.measure", call=lambda **m: _measured(**m), arguments={"model": fresh(model, of(nn.Module)), "loss": a(nn.functional.cross_entropy, function), "inputs": a(torch.ones(8, 2), of(torch.Tensor)), "labels": a(torch.zeros(8, dtype=torch.int64), of(torch.Tensor)), "parts": a(4, whole(2))}, finish=lambda r: None, calls=("loss", "model")),
        Case(name="NoiseScale.load_state_dict", call=lambda state: train.NoiseScale().load_state_dict(state), arguments={"state": fresh(lambda: noise().state_dict(), _state, "noise scale")}, typo=False),
        Case(name="predict", call=train.predict, arguments={"noise_scale": a(1000.0, either(number(0), of(list, tuple, np.ndarray), lambda v: hasattr(v, "value")), "noise scale"), "batch": a(8, whole(1)), "workers": a((1, 2, 4), listed), "step_seconds": a(0.1, optional(above)), "nbytes": a(1e6, optional(number(0))), "link": a(train.Link(latency_seconds=1e-6, bytes_per_second=1e9), optional(of(train.Link))), "overlap": a(0.5, share), "baseline": a(1, whole(1))}, finish=lambda r: r.as_dict()),
        Case(name="speedup", call=train.speedup, arguments={"runs": a(runs(), of(list, tuple)), "targets": a([0.3, 0.5], either(words("auto"), of(list, tuple)), "target"), "metric": a("accuracy", optional(text)), "higher": a(True, optional(flag)), "baseline": a(1, optional(whole(1))), "s_par": a(None, optional(mapping)), "confidence": a(0.9, optional(lambda v: share(v) and 0 < v < 1))}, finish=lambda r: str(r)),
        Case(name="Ledger", call=lambda **m: _kept(**m), arguments={"path": fresh(lambda: folder() + "/l.jsonl", optional(path)), "every_steps": a(2, whole(1)), "every_seconds": a(1.0, number(0, infinite=True)), "synchronize": a(None, optional(function))}, finish=lambda r: r, typo=False),
        Case(name="Ledger.step", call=lambda **m: _step(**m), arguments={"samples": a(8, whole(0)), "loss": a(0.5, anything), "lr": a(0.1, anything), "epoch": a(1, optional(whole(0)))}, finish=lambda r: r, typo=False),
        Case(name="Ledger.evaluated", call=lambda accuracy: train.Ledger().evaluated(accuracy=accuracy), arguments={"accuracy": a(0.5, either(number(infinite=True), lambda v: isinstance(v, (float, np.floating, np.ndarray))))}, typo=False),
        Case(name="Ledger.phase", call=lambda name: train.Ledger().phase(name), arguments={"name": a("forward", words("data", "forward", "backward", "comm", "optimizer", "evaluation", "checkpoint", "other"), "phase")}, typo=False),
        Case(name="Ledger.read", call=lambda path: train.Ledger.read(path), arguments={"path": fresh(_ledger, path)}, typo=False),
        Case(name="Ledger.load_state_dict", call=lambda state: train.Ledger().load_state_dict(state), arguments={"state": fresh(lambda: train.Ledger().state_dict(), _state, "ledger")}, typo=False),
        Case(name="global_order", call=shuffle.global_order, arguments={"num_samples": a(8, whole(0)), "seed": a(1, whole()), "epoch": a(2, whole(0))}, finish=lambda r: r.tolist()),
        Case(name="local_order", call=shuffle.local_order, arguments={"num_samples": a(8, whole(0)), "rank": a(1, whole(0)), "seed": a(1, whole()), "epoch": a(2, whole(0))}, finish=lambda r: r.tolist()),
        Case(name="partial_order", call=shuffle.partial_order, arguments={"num_samples": a(8, whole(1)), "num_ranks": a(2, whole(1)), "fraction": a(0.5, share), "seed": a(1, whole()), "epoch": a(2, whole(0))}, finish=lambda r: [one.tolist() for one in r]),
        Case(name="retention", call=shuffle.retention, arguments={"fraction": a(0.5, share), "num_ranks": a(2, whole(1)), "epochs": a(2, whole(0))}, finish=lambda r: r),
        Case(name="diagnose", call=shuffle.diagnose, arguments={"shards": a([np.zeros(50, int), np.ones(50, int)], anything), "features": a(None, anything), "model": a(None, anything), "averaging_every": a(1, whole(1)), "batch_size": a(8, optional(whole(1))), "fraction": a(0.5, optional(share)), "epochs": a(3, whole(1)), "tolerance": a(0.1, share)}, finish=lambda r: r.fraction),
        Case(name="PartialExchange", call=lambda **m: _exchanged(**m), arguments={"dataset": fresh(_dataset, anything), "fraction": a(0.5, either(share, words("auto"))), "seed": a(1, whole()), "store": a("memory", path), "sharded": a(False, flag), "transform": a(None, optional(function)), "readers": a(0, whole(0, 2)), "epochs": a(2, optional(whole(1))), "timeout_seconds": a(10.0, above)}, finish=lambda r: r, slow=True),
        Case(name="PartialExchange.loader", call=lambda batch_size, num_workers: _loaded(batch_size, num_workers), arguments={"batch_size": a(4, whole(1)), "num_workers": a(0, whole(0, 2))}, finish=lambda r: r, slow=True, typo=False),
        Case(name="PartialExchange.set_epoch", call=lambda epoch: _at_epoch(epoch), arguments={"epoch": a(2, whole(0))}, finish=lambda r: r, slow=True, typo=False),
        Case(name="PartialExchange.load_state_dict", call=lambda state: _resumed(state), arguments={"state": fresh(_exchange_state, mapping)}, finish=lambda r: None, slow=True, typo=False),
    ]  # fmt: skip


def _state(value: Any) -> bool:
    return isinstance(value, dict) and "version" in value


def _observed(small: Any, large: Any, **more: Any) -> Any:
    scale = train.NoiseScale()
    scale.observe(small, large, **more)
    return scale.num_steps


def _measured(model: Any, loss: Any, inputs: Any, labels: Any, **more: Any) -> Any:
    train.NoiseScale().measure(model, loss, inputs, labels, **more)


def _kept(**more: Any) -> Any:
    with train.Ledger(**more) as ledger:
        ledger.step(samples=4, loss=0.5)
        ledger.step(samples=4, loss=0.25)
        return ledger.losses if more.get("together") is None else None


def _step(**more: Any) -> Any:
    ledger = train.Ledger()
    ledger.step(**more)
    return ledger.samples, ledger.losses


def _ledger() -> str:
    path = Path(folder()) / "l.jsonl"
    with train.Ledger(path, workers=1, seed=0) as ledger:
        ledger.step(samples=4, loss=0.5)
    return str(path)


def _dataset() -> Any:
    return torch.utils.data.TensorDataset(torch.arange(12.0), torch.arange(12) % 2)


def _exchanged(dataset: Any, **more: Any) -> Any:
    with shuffle.PartialExchange(dataset, **more) as exchange:
        return [len(list(exchange)) for _ in range(2)]


def _loaded(batch_size: Any, num_workers: Any) -> Any:
    with shuffle.PartialExchange(_dataset()) as exchange:
        return [batch[0].tolist() for batch in exchange.loader(batch_size, num_workers=num_workers)]


def _at_epoch(epoch: Any) -> Any:
    with shuffle.PartialExchange(_dataset()) as exchange:
        exchange.set_epoch(epoch)
        return exchange.epoch


def _exchange_state() -> Any:
    with shuffle.PartialExchange(_dataset()) as exchange:
        return exchange.state_dict()


def _resumed(state: Any) -> Any:
    with shuffle.PartialExchange(_dataset()) as exchange:
        exchange.load_state_dict(state)
