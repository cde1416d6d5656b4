"""Which placements to run: few, and such that the cost of every object can be told from them."""

from __future__ import annotations

import numpy as np

from argosy.memory.placement import Slow

MOST_PLACEMENTS = 10**6
"""That anybody runs."""
DESIGNS = ("endpoints", "one-at-a-time", "random")


def design_rows(design: str, num_objects: int, *, placements: int | None = None, seed: int = 0) -> Slow:
    """All fast first, all slow second, then what the design adds. No placement comes twice.

    `endpoints` adds nothing. `one-at-a-time` adds each object alone in slow memory. `random` adds `placements` in
    which every object is slow about half of the time: three times as many as there are objects unless said, at least
    24, at most half of all there are.
    """
    ends = np.array([[False] * num_objects, [True] * num_objects])
    if design == "endpoints":
        return ends
    if design == "one-at-a-time":
        return distinct(np.concatenate([ends, np.eye(num_objects, dtype=np.bool_)]))
    if design == "random":
        some = min(max(3 * num_objects, 24), (2**num_objects - 2) // 2)
        count = some if placements is None else placements
        drawn = distinct(np.concatenate([ends, _folded(count, num_objects, np.random.default_rng(seed))]))
        return np.concatenate([drawn, held_out_rows(drawn, count + 2 - len(drawn), seed=seed)])
    raise ValueError(f"there is no design {design!r}; there are: {', '.join(DESIGNS)}")


def held_out_rows(known: Slow, count: int, *, seed: int = 0) -> Slow:
    """So many mixed placements, none of them in `known`; fewer where there are no more.

    Half have each object slow or fast by a coin whose bias is drawn anew for each placement, from nearly all fast to
    nearly all slow: a coin of one bias would only ever ask about the middle.
    """
    num_objects = known.shape[1]
    rng = np.random.default_rng(seed)
    seen = {row.tobytes() for row in known}
    seen |= {np.full(num_objects, end).tobytes() for end in (False, True)}
    if num_objects <= 16 and 2**num_objects - len(seen) <= 4 * count:
        everything = all_rows(num_objects)
        left = [row for row in everything[rng.permutation(len(everything))] if row.tobytes() not in seen]
        return np.array(left[:count], dtype=np.bool_).reshape(-1, num_objects)
    rows: list[Slow] = []
    while len(rows) < count:
        row: Slow = np.asarray(rng.random(num_objects) < rng.uniform(0.05, 0.95))
        if row.tobytes() not in seen:
            seen.add(row.tobytes())
            rows.append(row)
    return np.array(rows, dtype=np.bool_).reshape(-1, num_objects)


def all_rows(num_objects: int) -> Slow:
    """Every placement there is: 2 to the power of `num_objects`."""
    bits: Slow = (np.arange(2**num_objects)[:, None] >> np.arange(num_objects)) & 1 == 1
    return bits


def distinct(rows: Slow) -> Slow:
    """The same rows in the same order, each once."""
    _, first = np.unique(rows, axis=0, return_index=True)
    return rows[np.sort(first)]


def _folded(count: int, num_objects: int, rng: np.random.Generator) -> Slow:
    """Placements in pairs that are each other's opposite, from one object slow to one object fast.

    So every object is slow in half of them, and the ends are approached from both sides: with half of the objects slow
    in each placement, a law would have to guess what happens where nearly all is fast, which is where plans go.
    """
    num_slow = np.linspace(1, max(num_objects // 2, 1), max(count // 2, 1)).round().astype(int)
    rows = np.zeros((len(num_slow), num_objects), dtype=np.bool_)
    for row, how_many in zip(rows, num_slow, strict=True):
        row[rng.permutation(num_objects)[:how_many]] = True
    return np.stack([rows, ~rows], axis=1).reshape(-1, num_objects)[:count]
