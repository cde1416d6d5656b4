"""The way through the samples, settled before the first step: batch, workers, learning rates, steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from argosy.errors import BadBatch, RanksDisagree
from argosy.shuffle.cut import Cut
from argosy.shuffle.holdings import Holdings
from argosy.shuffle.lines import holdings_of
from argosy.shuffle.steps import EpochSteps, exchanged_epoch, replicated_epoch, sharded_epoch
from argosy.train.group import Group
from argosy.train.job import Job
from argosy.train.rates import Rates, rates_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Course:
    """The same on all ranks, but for the rank's own number."""

    sizes: tuple[int, ...]
    """Rows of each rank; one number where every rank has all samples."""
    sharded: bool
    ranks: int
    rank: int
    workers: int
    batch: int
    """Samples of a step, of all workers."""
    seed: int
    shuffle: bool
    """Whether each epoch has an order of its own."""
    fraction: float | None
    """The share of their samples that workers exchange before each epoch; None where they do not."""
    rates: Rates

    def epoch(self, number: int, taken: Sequence[Cut] = ()) -> EpochSteps:
        """This rank's steps of an epoch; `taken` is what was done of it before."""
        if self.fraction is not None:
            return exchanged_epoch(
                self.sizes,
                fraction=self.fraction,
                deal=not self.sharded,
                batch=self.batch,
                ranks=self.ranks,
                rank=self.rank,
                workers=self.workers,
                seed=self.seed,
                epoch=number,
                taken=taken,
            )
        if self.sharded:
            return sharded_epoch(
                self.sizes,
                batch=self.batch,
                rank=self.rank,
                workers=self.workers,
                seed=self.seed,
                epoch=number,
                shuffle=self.shuffle,
                taken=taken,
            )
        return replicated_epoch(
            self.sizes[0],
            batch=self.batch,
            ranks=self.ranks,
            rank=self.rank,
            workers=self.workers,
            seed=self.seed,
            epoch=number,
            shuffle=self.shuffle,
            taken=taken,
        )

    def holdings(self) -> Holdings | None:
        """Which worker holds which rows in which epoch. None where no row ever moves to another rank."""
        if not self.sharded or not self.fraction or self.workers == 1:
            return None
        return holdings_of(self.sizes, fraction=self.fraction, deal=False, workers=self.workers, seed=self.seed)

    @property
    def shuffled(self) -> bool | float:
        """As it was asked for: by a fraction, or at all."""
        return self.shuffle if self.fraction is None else self.fraction

    def facts(self, job: Job) -> dict[str, Any]:
        """What the ledger says of it."""
        return {
            "workers": self.workers,
            "ranks": self.ranks,
            "seed": self.seed,
            "batch": self.batch,
            "batch_said": str(job.batch_size),
            "samples_per_epoch": sum(self.sizes),
            "epochs": job.epochs,
            "scheme": str(job.scheme),
            "batch_norm": job.batch_norm,
            "shuffle": self.shuffled,
            "precision": job.precision,
            **self.rates.facts(),
        }


def course_of(job: Job, samples: Any, group: Group) -> Course:
    """A collective: ranks tell one another how many samples they have."""
    workers = job.workers or group.size
    if workers % group.size:
        raise BadBatch(
            f"{workers} workers do not divide evenly over {group.size} ranks; take a multiple of {group.size}"
        )
    sizes = tuple(group.ranks.allgather(len(samples)))
    if not samples.sharded:
        if len(set(sizes)) > 1:
            raise RanksDisagree(
                f"every rank should have the same samples, but they have {', '.join(map(str, sizes))} of them; "
                "give every rank the same, or a table of its own rows"
            )
        sizes = sizes[:1]
    batch = job.batch_size.of_all(workers)
    steps_per_epoch = -(-sum(sizes) // batch)
    base = job.batch_size.size  # of one worker, or of all, as it was said
    rates = rates_of(
        job.lr_rule, job.schedule, batch=batch, base_batch=base, steps_per_epoch=steps_per_epoch, epochs=job.epochs
    )
    return Course(
        sizes=sizes,
        sharded=samples.sharded,
        ranks=group.size,
        rank=group.rank,
        workers=workers,
        batch=batch,
        seed=job.seed,
        shuffle=job.shuffle.kind != "none",
        fraction=job.shuffle.exchanged(sharded=samples.sharded),
        rates=rates,
    )
