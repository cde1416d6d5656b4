"""One key with much of the rows, against keys that are all alike: time, and how much of the result one rank holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from statistics import median

import numpy as np
import pyarrow as pa
from figures import Figure, Options, spread
from frame_rounds import timed

import argosy
from argosy import DataFrame
from argosy.bench.data import UNIQUE

RANKS = 4
HOT_SHARE = 0.3
"""Of the rows on the left, with the hot key. The right side has it once, so both results are about as large."""
_WARM_UP = 2


def skew(options: Options) -> list[Figure]:
    """One hot key with 30 % of the rows of one side, on 4 ranks, in turns with uniform keys."""
    num_rows = options.count(10_000_000, 200_000)
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    shares: dict[tuple[str, str], float] = {}
    with argosy.Pilot(ranks=RANKS, name="skew") as pilot:
        left = {kind: argosy.from_arrow(_left(num_rows, kind == "hot")).persist() for kind in ("uniform", "hot")}
        right = argosy.from_arrow(_right(num_rows)).persist()
        asked: dict[str, Callable[[DataFrame], DataFrame]] = {
            "join": lambda frame: frame.join(right, on="k"),
            "sort": lambda frame: frame.sort("k"),
        }
        for number in range(_WARM_UP + options.turns(7, 2)):
            for name, ask in asked.items():
                for kind, frame in left.items():
                    taken, counts = timed(ask(frame), pilot)
                    shares[name, kind] = max(counts) / sum(counts)
                    if number >= _WARM_UP:
                        seconds[name, kind].append(taken)
    figures = []
    for name in asked:
        for kind in left:
            times = seconds[name, kind]
            what = f"{name}, {num_rows / 1e6:g} M rows, {RANKS} ranks, {kind} keys"
            figures.append(
                Figure(what=what, value=median(times), unit="s", note=f"+-{spread(times):.0%} of {len(times)}")
            )
        ratio = median(seconds[name, "hot"]) / median(seconds[name, "uniform"])
        figures.append(Figure(what=f"{name}: hot / uniform", value=ratio, unit="x", at_most=1.5))
        largest = shares[name, "hot"]
        figures.append(Figure(what=f"{name}: largest share of the result on one rank", value=largest, at_most=0.4))
    return figures


def _left(num_rows: int, hot: bool) -> pa.Table:
    rng = np.random.default_rng(1)
    keys = rng.integers(0, _top(num_rows), num_rows)
    if hot:
        keys[rng.random(num_rows) < HOT_SHARE] = _top(num_rows)
    return pa.table({"k": keys, "a": rng.integers(0, num_rows, num_rows)})


def _right(num_rows: int) -> pa.Table:
    rng = np.random.default_rng(2)
    keys = rng.integers(0, _top(num_rows), num_rows)
    keys[num_rows // 2] = _top(num_rows)
    return pa.table({"k": keys, "b": rng.integers(0, num_rows, num_rows)})


def _top(num_rows: int) -> int:
    """Uniform keys are below this; the hot key is this."""
    return int(UNIQUE * num_rows)
