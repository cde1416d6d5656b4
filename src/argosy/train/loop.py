"""The training loop, on every rank of a run."""

from __future__ import annotations

import copy
import socket
from typing import Any

import torch
from torch import nn

from argosy.comm.attempt import attempt
from argosy.comm.ranks import Ranks
from argosy.train.checkpoint import describe
from argosy.train.course import Course, course_of
from argosy.train.data import Samples, batches, check_classes, check_outputs, samples_of
from argosy.train.device import device_of, own_threads
from argosy.train.ear import ear_of
from argosy.train.evaluate import evaluate
from argosy.train.exchanging import Rows, exchanging
from argosy.train.fitted import Fit
from argosy.train.group import Group, joined
from argosy.train.job import Job
from argosy.train.keeper import Keeper
from argosy.train.learners.build import built, learner_of
from argosy.train.learners.learner import Batch, Learner
from argosy.train.ledger import Ledger
from argosy.train.losses import Losses
from argosy.train.noise import NoiseScale
from argosy.train.offload.opening import offloading
from argosy.train.optimizers import optimizer_for, set_rate
from argosy.train.position import Position
from argosy.train.precision import Precision
from argosy.train.random_state import seed_all

_FLUSH = 50
"""Steps after which ranks tell one another their losses."""


def train(job: Job, data: Any, valid: Any, ranks: Ranks) -> Fit:
    """All ranks call it, with their own rows of a table or all of the same samples. All get the same model."""
    place = _place(ranks)
    device = attempt(ranks, lambda: device_of(job.device, place)).settled()[ranks.rank]
    with own_threads(place), joined(ranks, device) as group:
        return _train(job, data, valid, group, device)


def _train(job: Job, data: Any, valid: Any, group: Group, device: torch.device) -> Fit:
    samples = samples_of(data, features=job.features, label=job.label, ranks=group.ranks)
    held_out = None if valid is None else samples_of(valid, like=samples, ranks=group.ranks)
    course = course_of(job, samples, group)
    with exchanging(course, samples, group) as (there, rows):
        return _learn(job, course, there, held_out, rows, group, device)


def _learn(
    job: Job,
    course: Course,
    samples: Samples,
    held_out: Samples | None,
    rows: Rows,
    group: Group,
    device: torch.device,
) -> Fit:
    model = built(job.model, job.seed, device if job.offload is None else torch.device("cpu"))
    description = describe(model.state_dict())
    precision = Precision(job.precision, device)
    learner = learner_of(job, model, group, precision, workers=course.workers // group.size)
    seed_all(job.seed, group.rank)
    first = next(batches(samples, course.epoch(0), device=device, prefetch=0))
    ahead = _ahead(job, samples, device)
    with offloading(job, learner, group, device, first, prefetch=ahead) as mover:
        _check_labels(model, first, samples, held_out)
        with mover.saving(first):
            learner.prepare(first)
        mover.prepared()
        optimizer = optimizer_for(job, learner.parameters)
        mover.adopt(optimizer)
        noise = NoiseScale() if job.noise is True else job.noise or None
        path = job.ledger if group.rank == 0 else None
        losses = Losses(group, numbered_over="this rank" if course.fraction is None else "all ranks together")
        ledger = Ledger(path, every_steps=_FLUSH, together=losses, **course.facts(job))
        listen = ear_of(noise, learner, ledger, job, precision)
        learner.lap = mover.lapped(learner.lap)
        keeper = Keeper(
            job.checkpoint,
            group,
            model=description,
            workers=course.workers,
            asked_for={"scheme": type(job.scheme).__name__, "seed": job.seed, "shuffle": str(course.shuffled)},
            learner=learner,
            optimizer=optimizer,
            precision=precision,
            ledger=ledger,
            noise=noise,
        )
        at = keeper.resume()
        losses.start(at.step)
        losses.kept = keeper.last
        resumed_at = at.step or None
        stopped = _stops(job, ledger, group)
        judged_by = {"loss": job.loss, **job.metrics}
        ledger.start()

        while at.epoch < job.epochs and not stopped:
            epoch, steps = at.epoch, course.epoch(at.epoch, at.taken)
            rows.enter(epoch, last=epoch + 1 == job.epochs)
            for number, batch in enumerate(batches(samples, steps, device=device, prefetch=ahead), steps.start):
                ledger.lap("data")
                lr = set_rate(optimizer, course.rates.at(at.step))
                with mover.saving(batch):
                    share = learner.learn(batch)
                loss = losses.looked_at(share, at.step + 1, steps.ids(number))
                listen(batch, at)
                mover.follow(optimizer, precision, learner.parameters, job.clip)
                learner.stepped(at.step + 1)
                ledger.lap("optimizer")
                ledger.step(samples=batch.num_global, loss=loss, lr=lr, epoch=epoch)
                at = at.after(steps, number)
                rows.progress((number + 1) / steps.num_steps)

                judging, keeping = held_out is not None and _evaluation_is_due(at, batch, job), keeper.due(at)
                if (judging or keeping) and device.type == "cuda":
                    torch.cuda.synchronize(device)  # what is still to be computed is no part of what comes now
                    ledger.lap("optimizer")
                if held_out is not None and judging:
                    agreed = learner.settled()
                    metrics = evaluate(agreed, held_out, judged_by, group, precision, device, uniform=learner.uniform)
                    ledger.evaluated(**metrics)
                    stopped = _stops(job, ledger, group)
                if keeping:
                    keeper.save(at)
                    losses.kept = keeper.last
                if stopped:
                    break
        keeper.save(at)
        offloaded = mover.told()
        if offloaded is not None:
            ledger.note("offload", **offloaded.to_plain())
        ledger.close()
        return Fit(
            model=_handed_out(job, learner),
            ledger=ledger,
            steps=at.step,
            samples=at.samples,
            classes=samples.classes,
            why_stopped="stop" if stopped else "epochs",
            resumed_at=resumed_at,
            noise=noise,
            offload=offloaded,
        )


def _ahead(job: Job, samples: Samples, device: torch.device) -> int:
    """How many batches are gathered ahead. A Dataset may draw random numbers, which one thread draws in one order."""
    if samples.row_nbytes is None:
        return 0
    if job.prefetch is not None:
        return job.prefetch
    return 2 if device.type != "cpu" or torch.get_num_threads() > 1 else 0


def _stops(job: Job, ledger: Ledger, group: Group) -> bool:
    """Where one rank wants to stop, all do: they may have looked at a clock, and would wait for one another else."""
    if job.stop is None or not ledger.evaluations:
        return False
    return any(group.ranks.allgather(bool(job.stop(ledger.evaluations))))


def _evaluation_is_due(at: Position, batch: Batch, job: Job) -> bool:
    """At the end of the run and of each epoch, or each time so many samples more have been learned from."""
    every = job.evaluate_every
    if every is None or at.epoch == job.epochs:
        return at.at_end_of_epoch
    return at.samples // every > (at.samples - batch.num_global) // every


def _handed_out(job: Job, learner: Learner) -> nn.Module:
    """A plain model on the CPU, with the state that all ranks agree on."""
    state = learner.handed_out()
    plain = copy.deepcopy(job.model) if isinstance(job.model, nn.Module) else job.model()
    plain.load_state_dict(state)
    return plain


def _place(ranks: Ranks) -> tuple[int, int]:
    """This rank's number among those of its node, and how many these are."""
    hosts = ranks.allgather(socket.gethostname())
    peers = [rank for rank, host in enumerate(hosts) if host == hosts[ranks.rank]]
    return peers.index(ranks.rank), len(peers)


def _check_labels(model: nn.Module, batch: Batch, samples: Samples, held_out: Samples | None) -> None:
    """Where the model tells classes apart, it knows all of them, and so does training. Leaves the model as it was."""
    kept = [buffer.clone() for buffer in model.buffers()]
    with torch.no_grad(), torch.random.fork_rng():
        output = model(batch.inputs[: batch.bounds[1]])
    for buffer, was in zip(model.buffers(), kept, strict=True):
        buffer.copy_(was)
    if output.ndim > 1 and output.ndim == batch.labels.ndim + 1 and output.shape[1] > 1:
        check_classes(samples, held_out)
        if samples.num_classes is not None:
            check_outputs(samples.num_classes - 1, output.shape[1])
