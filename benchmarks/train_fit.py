"""`fit` beside a plain DDP script under torchrun: the same model, samples, batch and number of ranks."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from children import HERE, ChildFailed, child
from figures import Figure, Options, spread
from work.pictures import BATCH, EPOCHS, LR, NUM_SAMPLES, build, pictures

import argosy
from argosy.train.ledger.lines import read_lines

RANKS = 2


def throughput(options: Options) -> list[Figure]:
    """Samples a second while training, two gloo ranks; both sides stay up and train in short turns."""
    rounds = options.turns(15, 3)
    rates: dict[str, list[float]] = {"rows": [], "fit": [], "indexed": []}
    data = pictures()
    with argosy.Pilot(ranks=RANKS, name="throughput"), _plain("rows") as rows, _plain("indexed") as indexed:
        sides = {"rows": rows, "fit": lambda _number: _fit(data), "indexed": indexed}
        for number in range(rounds + 1):
            for side in sorted(sides, reverse=number % 2 == 1):  # nobody is always after the same one
                seconds = sides[side](number)
                if number:  # the first turn loads and compiles
                    rates[side].append(NUM_SAMPLES / median(seconds[1:]))
    ratios = {side: [a / b for a, b in zip(rates["fit"], rates[side], strict=True)] for side in ("rows", "indexed")}
    return [
        Figure(what="fit", value=median(rates["fit"]), unit="/s", note=f"spread {spread(rates['fit']):.0%}"),
        Figure(what="torchrun, DataLoader", value=median(rates["rows"]), unit="/s"),
        Figure(what="torchrun, one index operation a batch", value=median(rates["indexed"]), unit="/s"),
        Figure(what="fit / torchrun with a DataLoader", value=median(ratios["rows"]), unit="x", at_least=0.98),
        Figure(what="fit / torchrun, indexed by hand", value=median(ratios["indexed"]), unit="x", at_least=0.98),
    ]


@contextmanager
def _plain(loader: str) -> Iterator[Any]:
    """A function that lets the script train once more, and returns the seconds of its epochs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={RANKS}"]
        with child([*launch, str(HERE / "work" / "plain_ddp.py"), name, loader]) as running:

            def train(number: int) -> list[float]:
                (folder / f"go-{number}").touch()
                done = folder / f"done-{number}"
                while not done.exists():
                    if running.process.poll() is not None:
                        raise ChildFailed(running.last_words())
                    time.sleep(0.05)
                seconds: list[float] = json.loads(done.read_text())
                return seconds

            yield train


def _fit(data: Any) -> list[float]:
    """From the ledger, which leaves out no moment between its first step and its last."""
    from torch.optim import SGD

    spent = [0.0] * EPOCHS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.jsonl"
        argosy.train.fit(
            build,
            data,
            optimizer=lambda parameters: SGD(parameters, lr=LR, momentum=0.9),
            batch_size=argosy.train.global_batch(BATCH),
            epochs=EPOCHS,
            ledger=path,
        )
        for _, line in read_lines(path):
            if line["kind"] == "step":
                spent[line["epoch"]] += sum(line["seconds"].values())
    return spent
