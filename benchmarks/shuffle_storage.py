"""What a rank needs for its samples, at its most."""

from __future__ import annotations

import sys
import tempfile

from figures import Figure, Options
from sections import run
from shuffle_ranks import on_ranks

RANKS = 4
FRACTIONS = (0.1, 0.3, 1.0)


def storage(options: Options) -> list[Figure]:
    """A rank's store at its largest over (1+Q) of its shard and one batch of 32; the worst of 4 ranks."""
    figures = []
    for store in ("memory", "disk"):
        for equal in (True, False):
            for fraction in FRACTIONS:
                figures += _one(fraction, equal, store, options)
    return figures


def _one(fraction: float, equal: bool, store: str, options: Options) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        told = {
            "fraction": fraction,
            "equal": equal,
            "shard_nbytes": options.count(64 << 20, 32 << 20),
            "epochs": options.turns(5, 3),
            "store": "memory" if store == "memory" else folder,
        }
        answers = on_ranks(RANKS, "exchange_storage", **told)
    kind = "4 KiB each" if equal else "100 B to 20 KiB"
    what = f"{store}, {kind}, Q = {fraction}"
    stored, grown = (max(_share(answer, name, fraction) for answer in answers) for name in ("stored", "grown"))
    shard = max(answer["shard"] for answer in answers)
    over_shard = max(answer["stored"] / answer["shard"] for answer in answers)
    note = f"{over_shard:.3f} of a shard of {shard / 1e6:.0f} MB"
    mostly = "that and" if store == "memory" else "beside the disk,"
    return [
        Figure(what=f"{what}: store", value=stored, unit="x", at_most=1.0, note=note),
        Figure(what=f"{what}: memory", value=grown, unit="x", note=f"{mostly} buffers, orders, Python"),
    ]


def _share(answer: dict[str, float], name: str, fraction: float) -> float:
    return answer[name] / ((1 + fraction) * answer["shard"] + answer["batch"])


if __name__ == "__main__":
    sys.exit(run({"storage": storage}, __doc__))
