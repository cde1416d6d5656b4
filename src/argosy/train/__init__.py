"""Training on the ranks where the samples lie, judged by how much sooner a model has learned.

`fit` is the loop; the parts stand by themselves, for anybody's own: `Ledger` (where the time goes), `NoiseScale` (how
large a batch may grow), `speedup` (what more workers were worth) and `predict` (what they will be). Importing this
package loads none of them, nor torch: each name is loaded when it is first used.

    fitting, job, course  what was asked for, and the way through the samples
    loop                  the training loop, from top to bottom
    learners              who learns: replica, sharded, averaging, stacked
    data, steps           from tables, arrays and datasets to batches
    checkpoint, keeper    a run that can be gone on with
    offload               a model larger than fast memory
    group, attempt        ranks that move together, and fail together
    ledger, run           what a run spent, and what it had learned by then
    noise, prediction     how many workers are worth asking for
    speedups, study, tasks what they were worth
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME_OF = {
    "BatchSize": "batch_size",
    "Checkpoint": "job",
    "DiLoCo": "schemes",
    "EarlyStop": "stopping",
    "Evaluation": "run",
    "Fit": "fitted",
    "Hierarchical": "schemes",
    "Ledger": "ledger",
    "Link": "prediction",
    "LocalSGD": "schemes",
    "LrRule": "rates",
    "NoiseScale": "noise.scale",
    "Offload": "offload.asked",
    "Run": "run",
    "Sync": "schemes",
    "fit": "fitting",
    "global_batch": "batch_size",
    "per_worker": "batch_size",
    "predict": "prediction",
    "speedup": "speedups",
}

__all__ = [
    "BatchSize", "Checkpoint", "DiLoCo", "EarlyStop", "Evaluation", "Fit", "Hierarchical", "Ledger", "Link", "LocalSGD",
    "LrRule", "NoiseScale", "Offload", "Run", "Sync", "fit", "global_batch", "per_worker", "predict", "speedup",
]  # fmt: skip

if TYPE_CHECKING:
    from argosy.train.batch_size import BatchSize, global_batch, per_worker
    from argosy.train.fitted import Fit
    from argosy.train.fitting import fit
    from argosy.train.job import Checkpoint
    from argosy.train.ledger import Ledger
    from argosy.train.noise import NoiseScale
    from argosy.train.offload.asked import Offload
    from argosy.train.prediction import Link, predict
    from argosy.train.rates import LrRule
    from argosy.train.run import Evaluation, Run
    from argosy.train.schemes import DiLoCo, Hierarchical, LocalSGD, Sync
    from argosy.train.speedups import speedup
    from argosy.train.stopping import EarlyStop


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(import_module(f"argosy.train.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'argosy.train' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
