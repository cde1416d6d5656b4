"""How fast samples move between two ranks, all of them at once."""

from __future__ import annotations

import sys
from statistics import median

from figures import Figure, Options, spread
from sections import run
from shuffle_ranks import on_ranks

SAMPLE_NBYTES = 4096


def bandwidth(options: Options) -> list[Figure]:
    """GB/s of 4 KiB samples exchanged between 2 ranks, over one large gloo send, and over a barrier for each sample."""
    in_all = options.count(1 << 30, 1 << 26)
    return [*_moved("1 GB in all", in_all, options), *_moved("1 GB each way", 2 * in_all, options)]


def _moved(what: str, nbytes: int, options: Options) -> list[Figure]:
    if options.quick:
        what = what.replace("1 GB", "64 MB")
    one_by_one = options.count(2000, 300)
    told = {"num_samples": nbytes // SAMPLE_NBYTES, "rounds": options.turns(9, 3), "warm_up": 2}
    seen = on_ranks(2, "exchange_bandwidth", **told, one_by_one=one_by_one)[0]
    rates = {side: [moved / seconds / 1e9 for seconds, moved in turns] for side, turns in seen.items()}
    middle = {side: median(values) for side, values in rates.items()}
    seconds, moved = median(each[0] for each in seen["exchange"]), median(each[1] for each in seen["exchange"])
    note = f"{seconds:.2f} s for {moved / 1e9:.3f} GB, spread {spread(rates['exchange']):.0%}"
    scaled = f"timed on {2 * one_by_one:,} samples, as bytes a second; {middle['one by one'] * 1e3:.1f} MB/s"
    ours = middle["exchange"]
    return [
        Figure(what=f"{what}: exchange, both directions together", value=ours, unit="GB/s", note=note),
        Figure(what=f"{what}: one send", value=middle["send"], unit="GB/s", note=f"spread {spread(rates['send']):.0%}"),
        Figure(what=f"{what}: exchange / one send", value=ours / middle["send"], unit="x", at_least=0.5),
        Figure(what=f"{what}: exchange / half of it sent each way at once", value=ours / middle["both ways"], unit="x"),
        Figure(
            what=f"{what}: exchange / a barrier and a pickle for each sample",
            value=ours / middle["one by one"],
            unit="x",
            at_least=20,
            note=scaled,
        ),
    ]


if __name__ == "__main__":
    sys.exit(run({"bandwidth": bandwidth}, __doc__))
