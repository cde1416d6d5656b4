"""What an epoch of reading costs: local, partial and global exchange beside files that all ranks share."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from figures import Figure, Options, spread
from sections import run
from shuffle_ranks import on_ranks

RANKS = 2
FRACTIONS = {"Q = 0.0": "local", "Q = 0.1": "partial", "Q = 1.0": "global"}
SAMPLE_NBYTES = 8192
BYTES = "asked", "disk", "sent"
"""Of files that were read, of those what came from the disk, and what went to the other rank."""


def cost(options: Options) -> list[Figure]:
    """Seconds and bytes of an epoch on 2 ranks, no model, page cache dropped before each; a file for each sample."""
    num_samples = options.count(30_000, 2_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, num_samples)
        told = {"folder": name, "num_samples": num_samples, "fractions": [0.0, 0.1, 1.0]}
        answers = on_ranks(RANKS, "exchange_cost", **told, rounds=options.turns(7, 3), everything=not options.quick)
    sides = answers[0]["seen"]
    base = [median(_seconds(sides[side])) for side in sides if side not in FRACTIONS]
    figures = [
        Figure(
            what=f"{num_samples:,} samples of {SAMPLE_NBYTES:,} bytes",
            value=num_samples * SAMPLE_NBYTES / 1e6,
            unit="MB",
            note=f"page cache dropped by {answers[0]['how']}",
        )
    ]
    for side in sides:
        figures += _side(side, [answer["seen"][side] for answer in answers], min(base))
    return figures


def _write(folder: Path, num_samples: int) -> None:
    draw = np.random.default_rng(0)
    for number in range(num_samples):
        (folder / f"{number}").write_bytes(draw.bytes(SAMPLE_NBYTES))


def _side(side: str, ranks: list[list[dict[str, float]]], shared: float) -> list[Figure]:
    """`ranks`: for each rank its epochs."""
    seconds, far = median(_seconds(ranks[0])), f"spread {spread(_seconds(ranks[0])):.0%}"
    if side not in FRACTIONS and not side.endswith(" 0 processes"):
        return [Figure(what=side, value=seconds, unit="s", note=f"{far}; what its processes read is not counted")]
    later = {key: sum(median(epoch[key] for epoch in epochs[1:]) for epochs in ranks) for key in BYTES}
    note = f"{_bytes(later)} an epoch, {far}"
    if side not in FRACTIONS:
        return [Figure(what=side, value=seconds, unit="s", note=note)]
    first = {key: sum(epochs[0][key] for epochs in ranks) for key in BYTES}
    what = f"{FRACTIONS[side]}, {side}"
    return [
        Figure(what=f"{what}: first epoch, with loading", value=ranks[0][0]["seconds"], unit="s", note=_bytes(first)),
        Figure(what=f"{what}: each later epoch", value=seconds, unit="s", note=note),
        Figure(what=f"{what}: the better DistributedSampler over it", value=shared / seconds, unit="x"),
    ]


def _seconds(epochs: list[dict[str, float]]) -> list[float]:
    return [epoch["seconds"] for epoch in epochs[1:]]


def _bytes(nbytes: dict[str, Any]) -> str:
    asked, disk, sent = (nbytes[key] / 1e6 for key in BYTES)
    return f"{asked:.1f} MB of files, {disk:.1f} MB from disk, {sent:.1f} MB sent"


if __name__ == "__main__":
    sys.exit(run({"cost": cost}, __doc__))
