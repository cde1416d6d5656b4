"""Train a model on the ranks where its samples lie."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from argosy import arguments
from argosy.calls import Call, declared
from argosy.errors import PeerFailed
from argosy.pilot.current import current_pilot
from argosy.resources import Allocation, Need
from argosy.train.batch_size import BatchSize, batch_size_of
from argosy.train.job import Checkpoint, Job
from argosy.train.offload.asked import Offload, offload_of
from argosy.train.rates import LrRule, Schedule, lr_rule_of, schedule_of
from argosy.train.schemes import Scheme, scheme_of
from argosy.train.shuffling import shuffle_of
from argosy.train.stopping import Stop

if TYPE_CHECKING:
    from argosy.train.fitted import Fit
    from argosy.train.noise import NoiseScale

_LATER_SECONDS = 2.0
_RERUNS = 2
"""How often a run without checkpoints starts again after the loss of a rank."""
_RESUMES = 1000
"""How often one with checkpoints goes on."""


@declared(Call(waits=True, shows_with=frozenset({"checkpoint", "ledger", "comm"})))
def fit(
    model: Any,
    data: Any,
    *,
    loss: str | Callable[..., Any] = "cross_entropy",
    optimizer: Any = "sgd",
    batch_size: int | BatchSize,
    epochs: int = 1,
    valid: Any = None,
    metrics: str | Iterable[str] | Mapping[str, Any] | None = None,
    ranks: int | None = None,
    scheme: str | Scheme = "sync",
    shuffle: bool | float | str = True,
    lr_rule: str | LrRule | None = None,
    seed: int = 0,
    checkpoint: str | os.PathLike[str] | Checkpoint | None = None,
    precision: str = "float32",
    device: str = "auto",
    lr: float | None = None,
    every: int | None = None,
    workers: int | None = None,
    features: str | Sequence[str] | None = None,
    label: str | None = None,
    schedule: str | Schedule | None = None,
    clip: float | None = None,
    accumulate: int = 1,
    batch_norm: Literal["average", "sync"] = "average",
    stop: Stop | None = None,
    evaluate_every: int | None = None,
    ledger: str | os.PathLike[str] | None = None,
    noise: NoiseScale | bool | None = None,
    noise_every: int = 16,
    prefetch: int | None = None,
    offload: str | Offload | None = None,
    memory: str | int | None = None,
    comm: Any = None,
) -> Fit:
    """Train `model` on `data`: as a task of the open pilot, in this process without one, or on the ranks of `comm`.

    `model`: a torch module, which stays as it is, or a function that makes one. `data`, `valid`: a frame, of which each
    rank learns from its own rows (`features`, `label` name columns), arrays `(inputs, labels)`, or a torch `Dataset`.
    `optimizer`: a function from parameters to a torch optimizer, a class of such, or a name, with `lr`. `batch_size`:
    `global_batch(n)` or `per_worker(n)`; a plain number is for all workers together, so that more ranks do not change
    the training. `lr_rule` says what a larger batch does to the learning rate, and the ledger says what was done.

    `ranks`: all of the pilot's unless told, as far as `workers` divide evenly over them. `workers`: how many learn
    together; more than ranks are virtual ones, which share a rank. `scheme`: "sync" (DDP), "fsdp", or "local_sgd",
    "diloco" and "hierarchical" with `every`, or a value like `DiLoCo(every=50, outer_lr=0.7)`. `batch_norm`: statistics
    are averaged before each evaluation, or "sync" takes those of all workers in each step.

    `device`: "auto" and "cuda" claim a GPU for each rank, or a share of one where there are fewer; "cpu" claims none.

    `shuffle`: True is a new order in each epoch, of all samples, or of each rank's own rows of a frame. A fraction from
    0.0 to 1.0 is the share of its samples that each worker exchanges before each epoch but the first; rows of a frame
    then move between ranks while the epoch before is learned from. 0.0 is local, 1.0 or "global" is over all workers.

    `checkpoint`: a folder; a run that finds itself there goes on where it was, also on another number of ranks. `stop`:
    like `EarlyStop(metric="accuracy", target=0.9)`. `evaluate_every`: samples between evaluations (else an epoch).
    `noise`: True measures the gradient noise scale on the way. `prefetch`: batches that a thread gathers ahead (unless
    told, where a rank has a core or a GPU to spare).

    `offload`: "auto" keeps parameters, optimizer states and activations of some layers in slow memory between their
    uses, so that each rank takes no more fast memory than `memory` ("8GiB"), by a plan that the first steps measure;
    "all" does so with everything. What is learned stays the same, bit for bit; `result.offload` says what it cost.
    """
    from argosy.train.metrics import loss_of, metrics_of
    from argosy.train.optimizers import optimizer_of
    from argosy.train.precision import precision_of

    epochs, accumulate, noise_every = (
        arguments.whole(name, given, least=1, most=2**31 - 1)
        for name, given in (("epochs", epochs), ("accumulate", accumulate), ("noise_every", noise_every))
    )
    workers, ranks, evaluate_every = (
        None if given is None else arguments.whole(name, given, least=1, most=2**63 - 1)
        for name, given in (("workers", workers), ("ranks", ranks), ("evaluate_every", evaluate_every))
    )
    prefetch = None if prefetch is None else arguments.whole("prefetch", prefetch, least=0)
    seed = arguments.whole("seed", seed, least=-(2**63), most=2**63 - 1)
    clip = None if clip is None else arguments.number("clip", clip, above=0, infinite=True)
    if stop is not None and (isinstance(stop, type) or not callable(stop)):
        raise TypeError(f"stop must be a function of the evaluations, like EarlyStop(...), not {arguments.show(stop)}")
    if not callable(model) or (isinstance(model, type) and not hasattr(model, "forward")):
        raise TypeError(f"model must be a torch module or a function that makes one, not {arguments.show(model)}")
    for name, word in (("precision", precision), ("device", device)):
        arguments.text(name, word)
    if label is not None:
        arguments.text("label", label)
    schedule_of(schedule), precision_of(precision)
    if noise is not None and not hasattr(noise, "observe"):
        noise = arguments.flag("noise", noise)
    if stop is not None and valid is None:
        raise ValueError("stop= waits for evaluations, but there is nothing to evaluate; give valid= too")
    arguments.one_of("batch_norm", batch_norm, ("average", "sync"))
    job = Job(
        model=model,
        loss=loss_of(loss),
        optimizer=optimizer_of(optimizer, lr),
        batch_size=batch_size_of(batch_size, workers or 1),
        workers=workers,
        epochs=epochs,
        metrics=metrics_of(metrics),
        scheme=scheme_of(scheme, every),
        shuffle=shuffle_of(shuffle, on_ranks=_is_frame(data) or hasattr(data, "column_names")),
        lr_rule=lr_rule_of(lr_rule),
        schedule=schedule,
        seed=seed,
        checkpoint=_checkpoint_of(checkpoint),
        precision=precision,
        device=device,
        features=None if features is None else list(arguments.names("features", features)),
        label=label,
        clip=clip,
        accumulate=accumulate,
        batch_norm=batch_norm,
        stop=stop,
        evaluate_every=evaluate_every,
        ledger=_ledger_of(ledger, checkpoint),
        noise=noise,
        noise_every=noise_every,
        prefetch=prefetch,
        offload=offload_of(offload, memory),
    )
    pilot = current_pilot()
    if comm is not None or pilot is None:
        return _here(job, data, valid, ranks, comm)
    home = _home_of(data, ranks) if _is_frame(data) else ranks
    on = home or _most_ranks(pilot.allocation.num_ranks, workers)
    need = Need(ranks=on, gpus_per_rank=_gpus_of_each(on, device, pilot.allocation))
    again = _RERUNS if job.checkpoint is None else _RESUMES
    given = _for_all(data), _for_all(valid)
    future = pilot._submit(_on_ranks, (job, *given), {}, need, retries_on_loss=again, name="fit")
    try:
        fitted: Fit = future.result()
    except BaseException:
        future.cancel()
        raise
    return fitted


def _here(job: Job, data: Any, valid: Any, ranks: int | None, comm: Any) -> Fit:
    from argosy.comm.ranks import ranks_of
    from argosy.train.loop import train

    there = ranks_of(comm)
    if ranks is not None and ranks != there.size:
        raise ValueError(
            f"fit was asked for {ranks} ranks, but runs on {there.size}; "
            "open a pilot with as many around it: with argosy.Pilot(ranks=...)"
        )
    return train(job, _table_of(data), _table_of(valid), there)


def _gpus_of_each(ranks: int, device: str, allocation: Allocation) -> float:
    """One, or its share where there are fewer GPUs than ranks; none for a device that is not, or names one by itself.

    Ranks may all come to lie on the node that has the fewest for each of them.
    """
    if device not in ("auto", "cuda"):
        return 0
    together = max(-(-min(ranks, node.ranks) // node.gpus) if node.gpus else 0 for node in allocation.nodes)
    return 1 / together if together and all(node.gpus for node in allocation.nodes) else 0


def _most_ranks(there: int, workers: int | None) -> int:
    """As many as there are, or as the workers divide evenly over."""
    return there if workers is None else max(ranks for ranks in range(1, there + 1) if workers % ranks == 0)


def _home_of(frame: Any, ranks: int | None) -> int:
    """How many ranks the frame lies on."""
    there: int = frame.__argosy_future__().num_ranks
    if ranks is not None and ranks != there:
        raise ValueError(
            f"the frame lies on {there} ranks and is learned from there, but ranks={ranks} is asked for; leave it out, "
            "or pass frame.collect() to give every rank all rows"
        )
    return there


def _on_ranks(job: Job, data: Any, valid: Any, comm: Any) -> Fit | None:
    """What every rank of the task does; the user gets what rank 0 returns.

    What is raised first is what the user gets, and that should be the exception itself: ranks that were only freed by
    it take longer than the one that frees them.
    """
    try:
        fitted = _here(job, data, valid, None, comm)
    except PeerFailed:
        time.sleep(_LATER_SECONDS)
        raise
    return fitted if comm.rank == 0 else None


def _table_of(data: Any) -> Any:
    """Without a pilot a frame lies in this process."""
    return data.collect() if _is_frame(data) else data


@dataclass(frozen=True)
class _ForAll:
    """A table of which every rank gets all rows. A plain one would be taken for the rank's own part of a frame."""

    table: Any

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def _for_all(data: Any) -> Any:
    return _ForAll(data) if hasattr(data, "column_names") and hasattr(data, "__arrow_c_stream__") else data


def _is_frame(data: Any) -> bool:
    return hasattr(type(data), "__argosy_future__")


def _checkpoint_of(given: str | os.PathLike[str] | Checkpoint | None) -> Checkpoint | None:
    if given is None:
        return None
    asked = given if isinstance(given, Checkpoint) else Checkpoint(folder=Path(arguments.path("checkpoint", given)))
    return replace(asked, folder=Path(asked.folder).absolute())


def _ledger_of(given: str | os.PathLike[str] | None, checkpoint: Any) -> Path | None:
    if given is not None:
        return Path(arguments.path("ledger", given)).absolute()
    kept = _checkpoint_of(checkpoint)
    return None if kept is None else Path(kept.folder) / "ledger.jsonl"
