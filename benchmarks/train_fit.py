"""`fit` beside a plain DDP script under torchrun: the same model, samples, batch and number of ranks."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from children import HERE, ask
from figures import Figure, Options
from work.pictures import BATCH, LR, build, pictures

import argosy
from argosy.train.ledger.lines import read_lines

RANKS = 2


def throughput(options: Options) -> list[Figure]:
    """Samples a second while training, two gloo ranks; sides in turns, first epochs left out."""
    rounds, epochs = options.turns(5, 2), options.count(5, 3)
    inputs, labels = pictures()
    ours, rows, indexed = [], [], []
    for _ in range(rounds):
        rows.append(_plain(epochs, "rows"))
        ours.append(_fit(inputs, labels, epochs))
        indexed.append(_plain(epochs, "indexed"))
    better = max(median(rows), median(indexed))
    return [
        Figure(what="fit, samples a second", value=median(ours), unit="/s"),
        Figure(what="torchrun, DataLoader", value=median(rows), unit="/s"),
        Figure(what="torchrun, one index operation a batch", value=median(indexed), unit="/s"),
        Figure(what="fit / torchrun with a DataLoader", value=median(ours) / median(rows), unit="x", at_least=0.98),
        Figure(what="fit / the better of both", value=median(ours) / better, unit="x", at_least=0.98),
    ]


def _plain(epochs: int, loader: str) -> float:
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={RANKS}"]
    rates = ask([*launch, str(HERE / "work" / "plain_ddp.py"), str(epochs), loader], timeout_seconds=300)
    return median(rates[1:])


def _fit(inputs: Any, labels: Any, epochs: int) -> float:
    """From the ledger: the time of each epoch but the first, without anything that the script does not do either."""
    from torch.optim import SGD

    spent = [0.0] * epochs
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.jsonl"
        with argosy.Pilot(ranks=RANKS, name="throughput"):
            argosy.train.fit(
                build,
                (inputs, labels),
                optimizer=lambda parameters: SGD(parameters, lr=LR, momentum=0.9),
                batch_size=argosy.train.global_batch(BATCH),
                epochs=epochs,
                ledger=path,
            )
        for _, line in read_lines(path):
            if line["kind"] == "step":
                spent[line["epoch"]] += sum(line["seconds"].values())
    return median(len(labels) / seconds for seconds in spent[1:])
