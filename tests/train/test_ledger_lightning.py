"""The ledger of a Lightning Trainer."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

from argosy.errors import TrainError
from argosy.train.ledger import Ledger

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    lightning = pytest.importorskip("lightning.pytorch")
    from argosy.train.ledger.lightning import LedgerCallback, _rows_of

pytestmark = pytest.mark.filterwarnings("ignore")


class Model(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch: Any, _: int) -> torch.Tensor:
        return (self.layer(batch[0]) - batch[1]).square().mean()

    def validation_step(self, batch: Any, _: int) -> None:
        self.log("mse", (self.layer(batch[0]) - batch[1]).square().mean())

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.125)


def fit(ledger: Ledger, epochs: int, folder: Path, resume: Path | None = None, **more: Any) -> Any:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    samples = torch.utils.data.TensorDataset(torch.randn(32, 4), torch.randn(32, 1))
    trainer = lightning.Trainer(
        max_epochs=epochs, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, default_root_dir=folder,
        callbacks=[LedgerCallback(ledger)], **more,
    )  # fmt: skip
    loaders = [torch.utils.data.DataLoader(samples, batch_size=8) for _ in range(2)]
    trainer.fit(Model(), *loaders, ckpt_path=resume)
    return trainer


def test_a_trainer_fills_the_ledger(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "run.jsonl", workers=1, seed=0)
    fit(ledger, 2, tmp_path)
    assert (ledger.steps, ledger.samples) == (8, 64)
    assert [at.samples for at in ledger.evaluations] == [32, 64]
    assert set(ledger.evaluations[0].metrics) == {"mse"}
    for phase in ("data", "forward", "backward", "optimizer", "evaluation"):
        assert ledger.seconds[phase] > 0
    assert ledger.losses[-1] < ledger.losses[0]
    assert list(Ledger.read(tmp_path / "run.jsonl").losses) == ledger.losses


def test_batches_that_accumulate_are_one_step(tmp_path: Path) -> None:
    ledger = Ledger()
    fit(ledger, 1, tmp_path, accumulate_grad_batches=2)
    assert (ledger.steps, ledger.samples) == (2, 32)


def test_the_ledger_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    whole = Ledger()
    fit(whole, 2, tmp_path)
    first = Ledger(tmp_path / "run.jsonl", workers=1, seed=0)
    fit(first, 1, tmp_path).save_checkpoint(tmp_path / "one.ckpt")
    second = Ledger(tmp_path / "run.jsonl", workers=1, seed=0)
    fit(second, 2, tmp_path, resume=tmp_path / "one.ckpt")
    second.close()
    assert second.losses == whole.losses
    assert list(Ledger.read(tmp_path / "run.jsonl").losses) == whole.losses


def test_samples_are_the_rows_of_the_first_tensor() -> None:
    assert _rows_of({"image": [torch.zeros(3, 2)], "label": torch.zeros(9)}) == 3
    with pytest.raises(TrainError, match="give num_samples="):
        _rows_of("text")
