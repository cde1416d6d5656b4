"""A ledger for Lightning: `Trainer(callbacks=[LedgerCallback(Ledger("run.jsonl", workers=1, seed=0))])`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from argosy.errors import TrainError

if TYPE_CHECKING:
    from argosy.train.ledger.ledger import Ledger

    class _Callback:
        pass

else:

    def _callback() -> type:
        names = ("lightning.pytorch", "pytorch_lightning")
        for name in sorted(names, key=lambda name: name not in sys.modules):
            try:
                return import_module(name).Callback
            except ModuleNotFoundError as error:
                missing = error
        raise ModuleNotFoundError("LedgerCallback needs Lightning: pip install lightning") from missing

    _Callback = _callback()


class LedgerCallback(_Callback):
    """Tells the ledger what the Trainer does. The ledger's state goes into Lightning's checkpoints.

    A step is a step of the optimizer: batches that accumulate are one. `num_samples(batch)` counts the samples of one
    batch on this rank; without it, the first tensor's rows are counted. Samples are multiplied by the number of ranks.
    With `watch=True` the exposed communication of DDP is measured; the strategy must not have a hook of its own then.
    """

    def __init__(self, ledger: Ledger, *, num_samples: Callable[[Any], int] | None = None, watch: bool = False) -> None:
        super().__init__()
        self.ledger = ledger
        self._num_samples = num_samples or _rows_of
        self._watch = watch
        self._losses: list[Any] = []
        self._samples = 0
        self._optimizer_steps = 0

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002
        self._optimizer_steps = trainer.global_step
        if self._watch:
            self.ledger.watch(trainer.strategy.model)
        self.ledger.start()

    def on_train_batch_start(self, *_: Any) -> None:
        self.ledger.lap("data")

    def on_before_backward(self, *_: Any) -> None:
        self.ledger.lap("forward")

    def on_after_backward(self, *_: Any) -> None:
        self.ledger.lap("backward")

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, *_: Any) -> None:  # noqa: ARG002
        self.ledger.lap("optimizer")
        loss = outputs.get("loss") if isinstance(outputs, Mapping) else outputs
        if loss is not None:
            self._losses.append(loss.detach())
        self._samples += self._num_samples(batch) * trainer.world_size
        if trainer.global_step != self._optimizer_steps:
            self._optimizer_steps = trainer.global_step
            mean = sum(self._losses) / len(self._losses) if self._losses else None
            lr = trainer.optimizers[0].param_groups[0]["lr"] if trainer.optimizers else None
            self.ledger.step(samples=self._samples, loss=mean, lr=lr, epoch=trainer.current_epoch)
            self._losses, self._samples = [], 0

    def on_validation_start(self, *_: Any) -> None:
        self.ledger.lap("other")

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002
        if not trainer.sanity_checking:
            self.ledger.evaluated(**trainer.callback_metrics)

    def on_train_end(self, *_: Any) -> None:
        self.ledger.flush()

    def state_dict(self) -> dict[str, Any]:
        return self.ledger.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.ledger.load_state_dict(state_dict)


def _rows_of(batch: Any) -> int:
    """Rows of the first tensor that is found in it."""
    if hasattr(batch, "shape"):
        return int(batch.shape[0]) if len(batch.shape) else 1
    parts = batch.values() if isinstance(batch, Mapping) else batch if isinstance(batch, (list, tuple)) else ()
    for part in parts:
        return _rows_of(part)
    raise TrainError(f"cannot count the samples of a batch of type {type(batch).__qualname__}; give num_samples=")
