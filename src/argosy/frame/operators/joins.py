"""Which way to join: move both sides by hash, send a small side to every rank, or split a key that has too much."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from argosy.comm.ranks import Alone, Ranks
from argosy.frame.flat import Flat, as_arrow
from argosy.frame.join_algorithm import side_to_copy
from argosy.frame.keys import Codes, all_valid, hashes, key_column
from argosy.frame.operators.join import cross_join, hash_join
from argosy.frame.operators.order import broadcast
from argosy.frame.operators.sort import sort
from argosy.frame.plan import JoinHow

_SAMPLE = 1 << 12
_HEAVY = 0.25
"""A key is heavy when it has more than this share of what a rank holds on average."""
_FEWEST = 8
"""Times that a heavy key is in the sample, at least."""


def join(
    left: pa.Table,
    right: pa.Table,
    left_on: Sequence[str],
    right_on: Sequence[str],
    how: JoinHow,
    suffix: str,
    algorithm: str,
    ranks: Ranks,
    in_place: tuple[bool, bool] = (False, False),
) -> tuple[pa.Table, bool]:
    """The joined rows of this rank, and whether equal keys of the left are on one rank now."""
    if how == "cross":
        return cross_join(left, broadcast(right, ranks), suffix), False
    if ranks.size == 1:
        return _in_order(hash_join(left, right, left_on, right_on, how, suffix, ranks), left_on, algorithm, ranks), True
    small = _small_side(left, right, how, algorithm, ranks) if in_place != (True, True) else None
    if small == "right":
        return hash_join(left, broadcast(right, ranks), left_on, right_on, how, suffix, Alone()), in_place[0]
    if small == "left":
        return hash_join(broadcast(left, ranks), right, left_on, right_on, how, suffix, Alone()), False
    if not any(in_place):
        heavy = _heavy_keys(left, right, left_on, right_on, how, ranks)
        if any(len(one) for one in heavy):
            joined = _split_join(left, right, left_on, right_on, how, suffix, heavy, ranks)
            return _in_order(joined, left_on, algorithm, ranks), False
    joined = hash_join(left, right, left_on, right_on, how, suffix, ranks, in_place)
    is_in_place = how in ("inner", "left", "semi", "anti")
    if how in ("left", "anti"):  # rows with a null key have stayed where they were
        is_in_place = not any(ranks.allgather(any(left.column(name).null_count for name in left_on)))
    return _in_order(joined, left_on, algorithm, ranks), is_in_place and algorithm != "sort"


def _in_order(table: pa.Table, on: Sequence[str], algorithm: str, ranks: Ranks) -> pa.Table:
    return sort(table, on, [False] * len(on), False, ranks) if algorithm == "sort" else table


def _small_side(left: pa.Table, right: pa.Table, how: JoinHow, algorithm: str, ranks: Ranks) -> str | None:
    """The side to send to every rank, if any."""
    sizes = ranks.allgather((left.nbytes, right.nbytes))
    if algorithm not in ("auto", "broadcast"):
        return None
    ours, theirs = (sum(one) for one in zip(*sizes, strict=True))
    return side_to_copy(how, ours, theirs, ranks.size, always=algorithm == "broadcast")


def _heavy_keys(
    left: pa.Table, right: pa.Table, left_on: Sequence[str], right_on: Sequence[str], how: JoinHow, ranks: Ranks
) -> tuple[Codes, Codes]:
    """Hashes of keys that are too frequent for one rank, on the left and on the right, from a sample."""
    mine = [_sample(table, on) for table, on in ((left, left_on), (right, right_on))]
    everybody = ranks.allgather([(*one, table.num_rows) for one, table in zip(mine, (left, right), strict=True)])
    found = []
    for side in (0, 1):
        drawn = [facts[side] for facts in everybody]
        total = sum(rows for _, _, rows in drawn)
        weights: dict[int, list[float]] = {}
        for codes, size, rows in drawn:
            values, counts = np.unique(codes, return_counts=True)
            for value, count in zip(values[counts > 1], counts[counts > 1], strict=True):
                known = weights.setdefault(int(value), [0.0, 0])
                known[0] += count / max(size, 1) * rows
                known[1] += count
        limit = _HEAVY * total / ranks.size
        heavy = [value for value, (rows, seen) in weights.items() if rows > limit and seen >= _FEWEST]
        found.append(np.array(sorted(heavy), np.uint64))
    if how in ("semi", "anti"):
        return found[0], found[1][:0]
    return found[0], np.setdiff1d(found[1], found[0])


def _sample(table: pa.Table, on: Sequence[str]) -> tuple[Codes, int]:
    """Hashes of drawn rows that have a key, and how many rows were drawn."""
    size = min(_SAMPLE, table.num_rows)
    if size == 0:
        return np.empty(0, np.uint64), 0
    rows = np.random.default_rng(0).integers(0, table.num_rows, size)
    keys = [key_column(column) for column in table.select(list(dict.fromkeys(on))).take(as_arrow(rows)).columns]
    ordered = [keys[list(dict.fromkeys(on)).index(name)] for name in on]
    codes, valid = hashes(ordered), all_valid(ordered)
    return (codes[valid != 0] if valid.size else codes), size


def _split_join(
    left: pa.Table,
    right: pa.Table,
    left_on: Sequence[str],
    right_on: Sequence[str],
    how: JoinHow,
    suffix: str,
    heavy: tuple[Codes, Codes],
    ranks: Ranks,
) -> pa.Table:
    """Rows of a key that is heavy on one side stay where they are, and the rows of the other side with that key go to
    every rank. A heavy key is on its own side by construction, so none of the rows that go everywhere lacks a partner.
    """
    left_heavy, left_few, left_rest = _divide(left, left_on, heavy)
    right_few, right_heavy, right_rest = _divide(right, right_on, heavy)
    if how in ("semi", "anti"):
        right_few = right_few.select(list(dict.fromkeys(right_on)))
    matching = {"full": "left", "right": "inner"}.get(how, how)
    parts = [hash_join(left_rest, right_rest, left_on, right_on, how, suffix, ranks)]
    if len(heavy[0]):
        everywhere = broadcast(right_few, ranks)
        parts.append(hash_join(left_heavy, everywhere, left_on, right_on, matching, suffix, Alone()))
    if len(heavy[1]):
        everywhere = broadcast(left_few, ranks)
        matching = {"full": "right", "left": "inner"}.get(how, how)
        parts.append(hash_join(everywhere, right_heavy, left_on, right_on, matching, suffix, Alone()))
    return pa.concat_tables(parts)


def _divide(table: pa.Table, on: Sequence[str], heavy: tuple[Codes, Codes]) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Rows whose key is heavy on the left, heavy on the right, and neither."""
    keys: list[Flat] = [key_column(table.column(name)) for name in on]
    codes, valid = hashes(keys), all_valid(keys)
    there = valid != 0 if valid.size else np.ones(len(codes), bool)
    one, two = (_is_in(codes, some) & there for some in heavy)
    return tuple(table.filter(as_arrow(mask)) for mask in (one, two, ~(one | two)))


def _is_in(codes: Codes, some: Codes) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    mask = np.zeros(len(codes), bool)
    for value in some:
        mask |= codes == value
    return mask
