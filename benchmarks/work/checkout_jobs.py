"""The work that `benchmarks/checkouts.py` times: what README gives figures of, by names that every version has.

python benchmarks/work/checkout_jobs.py frame    reads names of jobs, a line each, and answers with their seconds
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

PARTS = {
    "pilot": ("round trip", "round trip, 2 ranks", "2,000 tasks", "start"),
    "frame": ("join", "sort", "group_by", "string_join", "null_join"),
    "tree": ("overhead", "logistic regression", "k-means", "ALS", "chains", "sorts"),
    "train": ("fit, 2 ranks", "batches"),
    "shuffle": ("exchange, 2 ranks", "order"),
    "memory": ("predictions in a batch", "predictions one by one"),
}
ROWS = 4_000_000

Jobs = Mapping[str, Callable[[], float]]


def timed(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _nothing() -> None:
    """An empty task."""


def _nothing_together(comm: Any) -> None:
    """An empty task on several ranks."""


@contextmanager
def pilot() -> Iterator[Jobs]:
    import argosy

    def start() -> None:
        with argosy.Pilot(ranks=2) as fresh:
            fresh.submit(_nothing).result()

    with argosy.Pilot(ranks=2) as open_pilot:

        def trips(work: Callable[..., None], ranks: int) -> float:
            return median(timed(lambda: open_pilot.submit(work, ranks=ranks).result()) for _ in range(500))

        def many() -> None:
            for future in [open_pilot.submit(_nothing) for _ in range(2000)]:
                future.result()

        yield {
            "round trip": partial(trips, _nothing, 1),
            "round trip, 2 ranks": partial(trips, _nothing_together, 2),
            "2,000 tasks": partial(timed, many),
            "start": partial(timed, start),
        }


@contextmanager
def frame() -> Iterator[Jobs]:
    """Tables in memory on two ranks; a result stays on its ranks, as README measures it."""
    from argosy.bench.cases import CASES
    from argosy.bench.data import tables_of
    from argosy.bench.engines import KINDS

    def job(name: str) -> float:
        """Its tables are loaded for each round anew, so that only one case is in memory."""
        engine.load(*tables_of(CASES[name], ROWS))
        seconds = []
        for _ in range(4):
            begin = time.perf_counter()
            result = engine.run(CASES[name])
            seconds.append(time.perf_counter() - begin)
            engine.free(result)
        return min(seconds[1:])

    engine: Any = KINDS["argosy"].open(2)
    try:
        yield {name: partial(job, name) for name in PARTS["frame"]}
    finally:
        engine.close()


@contextmanager
def tree() -> Iterator[Jobs]:
    import argosy
    from work.tree_chains import CHAINS
    from work.tree_programs import PROGRAMS
    from work.tree_statements import LOOPS, arguments

    def decorated(program: Any, sizes: tuple[int, ...]) -> Callable[[], float]:
        run, given = argosy.futurize(program.run), program.make(*sizes)
        for _ in range(6):  # it measures which way is the faster one
            run(*given)
        return lambda: timed(lambda: run(*given))

    loop = next(iter(LOOPS.values()))
    issued, (x, y) = argosy.futurize(loop, grain=0), arguments()
    chains = list(CHAINS.values())
    yield {
        "overhead": lambda: timed(lambda: issued(x, y, 10_000)),
        "logistic regression": decorated(PROGRAMS["logistic regression"], (100, 100, 1000)),
        "k-means": decorated(PROGRAMS["k-means"], (100_000, 2, 3, 20)),
        "ALS": decorated(PROGRAMS["ALS"], (150, 150, 10, 2)),
        "chains": decorated(chains[0], chains[0].large[0]),
        "sorts": decorated(chains[2], chains[2].large[0]),
    }


@contextmanager
def train() -> Iterator[Jobs]:
    from figures import Options
    from torch.optim import SGD
    from train_data import _batches, _epoch, _rate, _table

    import argosy
    from argosy.train.ledger.lines import read_lines
    from work.pictures import BATCH, EPOCHS, LR, build, pictures

    data = pictures()
    table = _table(Options(quick=True))[0]

    def fit() -> float:
        """Of a middling epoch, from the ledger: no moment between its first step and its last is left out."""
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
        return median(spent[1:])

    with argosy.Pilot(ranks=2):
        yield {"fit, 2 ranks": fit, "batches": lambda: 1 / _rate(_batches(table, _epoch(table)), 300)}


@contextmanager
def shuffle() -> Iterator[Jobs]:
    from shuffle_ranks import on_ranks

    import argosy

    def exchange() -> float:
        told = {"num_samples": (1 << 28) // 4096, "rounds": 3, "warm_up": 1}
        seen = on_ranks(2, "exchange_bandwidth", **told, one_by_one=10)[0]["exchange"]
        return min(seconds for seconds, _ in seen)

    def order() -> None:
        argosy.shuffle.partial_order(2_000_000, 8, fraction=0.1, seed=0, epoch=3)

    yield {"exchange, 2 ranks": exchange, "order": partial(timed, order)}


@contextmanager
def memory() -> Iterator[Jobs]:
    import numpy as np

    from argosy.memory import calibrate, miniapps

    estimator = calibrate(miniapps.load("cg"), "one-at-a-time", repeats=1, law="hinge", noise=1.0)
    rows = np.random.default_rng(0).random((100_000, len(estimator.objects))) < 0.5
    one = dict.fromkeys(estimator.objects, estimator.fast)
    yield {
        "predictions in a batch": lambda: min(timed(lambda: estimator.predict_many(rows)) for _ in range(5)),
        "predictions one by one": lambda: median(timed(lambda: estimator.predict(one)) for _ in range(1001)),
    }


if __name__ == "__main__":
    with {"pilot": pilot, "frame": frame, "tree": tree, "train": train, "shuffle": shuffle, "memory": memory}[
        sys.argv[1]
    ]() as jobs:
        for line in sys.stdin:
            print(f"SECONDS {jobs[line.strip()]()!r}", flush=True)
