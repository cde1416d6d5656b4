"""What is heard of gradients while a model learns: exposed communication, and the noise scale."""

from __future__ import annotations

from collections.abc import Callable

from argosy.train.job import Job
from argosy.train.learners.averaging import Averaging
from argosy.train.learners.learner import Batch, Learner
from argosy.train.learners.norm import meeting_of
from argosy.train.learners.replica import Replica
from argosy.train.ledger import Ledger
from argosy.train.noise import NoiseScale
from argosy.train.position import Position
from argosy.train.precision import Precision

Ear = Callable[[Batch, Position], None]


def ear_of(noise: NoiseScale | None, learner: Learner, ledger: Ledger, job: Job, precision: Precision) -> Ear:
    """Hooks into the learner, and gives what is to be called between its backward pass and the optimizer's step.

    On several ranks the noise scale is heard in each step, from what DDP reduces; on one rank every `noise_every`
    steps, by one more backward pass over the batch in parts.
    """
    learner.lap = ledger.lap
    replica = learner.inner if isinstance(learner, Averaging) else learner
    parallel = replica.parallel if isinstance(replica, Replica) else None
    everywhere = parallel is not None and replica is learner
    if parallel is not None:
        ledger.watch(parallel, None if noise is None or not everywhere else noise.hook(group=parallel.process_group))

    def hear(batch: Batch, at: Position) -> None:
        if noise is None:
            return
        if everywhere:
            noise.step(batch.num_global, scale=precision.scaler.get_scale())
        elif at.step % job.noise_every == 0 and isinstance(replica, Replica):
            most = 2 if meeting_of(replica.module) == "never" else 8  # small parts have other BatchNorm statistics
            parts = min(most, len(batch.labels))
            if parts > 1:
                noise.measure(replica.module, job.loss, batch.inputs, batch.labels, parts=parts, at=at.samples)
                ledger.lap("evaluation")

    return hear
