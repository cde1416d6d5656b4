"""Group a frame by keys and fold the values of each group.

Where keys repeat much, each rank folds its own rows first and sends one row for each group; else the rows themselves
are partitioned, once, and folded bucket by bucket.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from argosy.comm.ranks import Alone, Ranks
from argosy.frame.aggregates import COUNTING, DECIDING, KEEPING
from argosy.frame.exchange import to_first
from argosy.frame.flat import Fixed, Flat, as_arrow, flatten, unflatten
from argosy.frame.folds.choose import choose_fold
from argosy.frame.folds.facts import Facts, facts_of
from argosy.frame.folds.fold import Fold
from argosy.frame.folds.together import Together
from argosy.frame.gather import gather
from argosy.frame.groups import find_groups
from argosy.frame.keys import hashes, key_column
from argosy.frame.partitioning import buckets_per_rank
from argosy.frame.plan import Agg
from argosy.frame.spread import Spread

_NOTHING = Fixed(pa.uint8(), np.empty(0, np.uint8))
"""Stands for the column of an aggregate that has none."""
_SAMPLE = 1 << 14
_WORTH = 0.5
"""Fold first when that leaves less than this share of the rows."""


def group_by(
    table: pa.Table,
    keys: Sequence[str],
    aggs: Sequence[Agg],
    ranks: Ranks,
    in_place_by: Sequence[str] | None = None,
) -> pa.Table:
    """`in_place_by`: rows already are where the hashes of these columns say. When all of them are keys, none moves."""
    table, aggs = _with_values(table, aggs)
    columns = {agg.column for agg in aggs if agg.column is not None}
    table = table.select([name for name in table.column_names if name in columns or name in keys])
    facts = {name: facts_of(table.column(name), ranks) for name in sorted(columns)}
    folds = [
        choose_fold(agg, pa.null(), Facts(), bool(keys))
        if agg.column is None
        else choose_fold(agg, table.schema.field(agg.column).type, facts[agg.column], bool(keys))
        for agg in aggs
    ]
    if not keys:
        return _fold_all(table, aggs, folds, ranks)
    if in_place_by is not None and tuple(in_place_by) == tuple(keys):
        return _finish(*_fold(table, keys, aggs, folds, ranks, in_place=True), aggs, folds, ranks)
    apart = ranks.size > 1 and not (in_place_by is not None and set(in_place_by) <= set(keys))
    if apart and all(one.splits for one in folds) and _repeats(table, keys, ranks):
        names, states = _fold(table, keys, aggs, folds, Alone())
        return _merge(names, states, keys, aggs, folds, ranks)
    names, states = _fold(table, keys, aggs, folds, ranks if apart else Alone())
    return _finish(names, states, aggs, folds, ranks)


def _with_values(table: pa.Table, aggs: Sequence[Agg]) -> tuple[pa.Table, list[Agg]]:
    """Numbers and truth values that are encoded as a dictionary, or all null, as plain columns beside their own."""
    plain = []
    for agg in aggs:
        kind = pa.int64() if agg.column is None else table.schema.field(agg.column).type
        if agg.kind in KEEPING | COUNTING or not (pa.types.is_dictionary(kind) or pa.types.is_null(kind)):
            plain.append(agg)
            continue
        nothing = pa.bool_() if agg.kind in DECIDING else pa.int64()
        wanted = kind.value_type if pa.types.is_dictionary(kind) else nothing
        name = f"\0{agg.column}.{wanted}"
        if name not in table.column_names:
            table = table.append_column(name, table.column(agg.column).cast(wanted))
        plain.append(replace(agg, column=name))
    return table, plain


def _fold(
    table: pa.Table,
    keys: Sequence[str],
    aggs: Sequence[Agg],
    folds: Sequence[Fold],
    ranks: Ranks,
    in_place: bool = False,
) -> tuple[dict[str, pa.ChunkedArray], list[list[Flat]]]:
    """Keys and states of the groups that end up on this rank.

    Rows that are in place have hashes of one range only: they are told apart by the buckets of all ranks, for in
    buckets of this rank alone they would crowd into a few slots.
    """
    total = sum(ranks.allgather(table.num_rows))
    few = ranks.size == 1 and _estimate(table, keys) < 1 << 15
    per_rank = 1 if few else buckets_per_rank(total, ranks.size)
    spread = Spread(table, keys, per_rank, ranks, null_is_a_key=True, in_place=in_place)
    groups = find_groups(spread)
    states = [
        one.fold(_NOTHING if agg.column is None else spread.column(agg.column), groups.of_row, groups.size)
        for agg, one in zip(aggs, folds, strict=True)
    ]
    return {name: gather(spread.column(name), groups.first_rows) for name in keys}, states


def _merge(
    names: dict[str, pa.ChunkedArray],
    states: list[list[Flat]],
    keys: Sequence[str],
    aggs: Sequence[Agg],
    folds: Sequence[Fold],
    ranks: Ranks,
) -> pa.Table:
    """Bring the states of each group to one rank, and merge them there."""
    columns = dict(names)
    for index, parts in enumerate(states):
        columns |= {f"\0{index}.{part}": unflatten(state) for part, state in enumerate(parts)}
    table = pa.table(columns)
    total = sum(ranks.allgather(table.num_rows))
    spread = Spread(table, keys, buckets_per_rank(total, ranks.size), ranks, null_is_a_key=True)
    groups = find_groups(spread)
    arrived = [[spread.column(f"\0{index}.{part}") for part in range(len(parts))] for index, parts in enumerate(states)]
    merged = [one.merge(parts, groups.of_row, groups.size) for one, parts in zip(folds, arrived, strict=True)]
    found = {name: gather(spread.column(name), groups.first_rows) for name in keys}
    return _finish(found, merged, aggs, folds, ranks)


def _finish(
    names: dict[str, pa.ChunkedArray],
    states: list[list[Flat]],
    aggs: Sequence[Agg],
    folds: Sequence[Fold],
    ranks: Ranks,
) -> pa.Table:
    results = {agg.name: one.finish(state, ranks) for agg, one, state in zip(aggs, folds, states, strict=True)}
    return pa.table({**names, **results})


def _fold_all(table: pa.Table, aggs: Sequence[Agg], folds: Sequence[Fold], ranks: Ranks) -> pa.Table:
    """One group of all rows, on rank 0. Rows stay where they are."""
    whole = {name: flatten(table.column(name)) for name in table.column_names}
    columns = [_NOTHING if agg.column is None else whole[agg.column] for agg in aggs]
    groups, mine = np.zeros(table.num_rows, np.int32), 1 if table.num_rows else 0
    total = sum(ranks.allgather(table.num_rows))
    if ranks.size == 1 or total == 0:
        states = [one.fold(column, groups, mine) for one, column in zip(folds, columns, strict=True)]
    else:
        own = [
            [] if isinstance(one, Together) else one.fold(column, groups, mine)
            for one, column in zip(folds, columns, strict=True)
        ]
        arrived = iter(to_first([state for parts in own for state in parts], mine, ranks))
        places = np.zeros(_on_first(mine, ranks), np.int32)
        states = [
            one.of_all(column, ranks)
            if isinstance(one, Together)
            else one.merge([next(arrived) for _ in parts], places, 1 if len(places) else 0)
            for one, column, parts in zip(folds, columns, own, strict=True)
        ]
    result = _finish({}, states, aggs, folds, ranks)
    if ranks.rank == 0 and result.num_rows == 0:  # no rows anywhere: counts are 0, all else is null
        zeros = ("len", "count", "n_unique")
        types = [result.schema.field(agg.name).type for agg in aggs]
        nothing = [
            pa.array([0], kind) if agg.kind in zeros else pa.nulls(1, kind)
            for agg, kind in zip(aggs, types, strict=True)
        ]
        return pa.table(nothing, schema=result.schema)
    return result


def _on_first(num_rows: int, ranks: Ranks) -> int:
    """How many rows this rank has once all have gone to rank 0."""
    total = sum(ranks.allgather(num_rows))
    return total if ranks.rank == 0 else 0


def _repeats(table: pa.Table, keys: Sequence[str], ranks: Ranks) -> bool:
    """Whether folding first is worth its pass: by the groups that a sample lets expect on each rank."""
    facts = ranks.allgather((_estimate(table, keys), table.num_rows))
    return bool(sum(groups for groups, _ in facts) < _WORTH * sum(rows for _, rows in facts))


def _estimate(table: pa.Table, keys: Sequence[str]) -> float:
    """How many groups this rank's rows make, from the distinct keys `d` among `s` sampled rows: the `g` for which
    `d = g * (1 - exp(-s / g))`."""
    if table.num_rows == 0:
        return 0.0
    if table.num_rows <= _SAMPLE:
        sample = table
    else:
        rows = np.random.default_rng(0).integers(0, table.num_rows, _SAMPLE)
        sample = table.select(list(dict.fromkeys(keys))).take(as_arrow(rows))
    drawn = hashes([key_column(sample.column(name)) for name in keys])
    size, distinct = len(drawn), len(np.unique(drawn))
    if size == table.num_rows:
        return float(distinct)
    low, high = float(distinct), float(table.num_rows)
    for _ in range(50):
        middle = (low + high) / 2
        if middle * -np.expm1(-size / middle) < distinct:
            low = middle
        else:
            high = middle
    return low
