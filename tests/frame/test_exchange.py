"""Every row arrives once, on the rank of its bucket, in the order of its source; rows outside all buckets stay."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from frame import reference
from frame.operators.columns import PAYLOADS, columns, kinds
from frame.operators.laws import NUM_RANKS, law
from hypothesis import given
from hypothesis import strategies as st

from argosy.comm.ranks import Ranks
from argosy.comm.threads import on_threads
from argosy.frame.exchange import Arrived, Buckets, exchange
from argosy.frame.flat import flatten, unflatten


@law(40)
@given(data=st.data(), num_ranks=NUM_RANKS, per_rank=st.integers(1, 3))
def test_rows_arrive_in_their_bucket_in_the_order_of_rank_and_row(
    data: st.DataObject, num_ranks: int, per_rank: int
) -> None:
    types = data.draw(st.lists(kinds(PAYLOADS), max_size=3))
    total = num_ranks * per_rank
    tables, ids = [], []
    for rank in range(num_ranks):
        num_rows = data.draw(st.integers(0, 8))
        arrays = {f"c{i}": data.draw(columns(kind, num_rows)) for i, kind in enumerate(types)}
        marks = pa.array([rank * 100 + row for row in range(num_rows)], pa.int64())
        tables.append(pa.table({**arrays, "mark": marks}))
        ids.append(data.draw(st.lists(st.integers(0, total), min_size=num_rows, max_size=num_rows)))

    def send(ranks: Ranks) -> Arrived:
        mine = np.array(ids[ranks.rank], np.uint16)
        counts = np.bincount(mine, minlength=total + 1).astype(np.int64)
        flat = [flatten(column) for column in tables[ranks.rank].columns]
        return exchange(flat, Buckets(mine, counts, per_rank), ranks)

    rows_of = [reference.rows_of(table) for table in tables]
    for rank, arrived in enumerate(on_threads(num_ranks, send)):
        table = pa.table([unflatten(column) for column in arrived.columns], schema=tables[0].schema)
        table.validate(full=True)
        rows = reference.rows_of(table)
        assert len(rows) == arrived.num_rows + arrived.num_loose
        for source in range(num_ranks):
            for bucket in range(per_rank):
                start, count = arrived.starts[source, bucket], arrived.counts[source, bucket]
                number = rank * per_rank + bucket
                wanted = [row for row, to in zip(rows_of[source], ids[source], strict=True) if to == number]
                assert rows[start : start + count] == wanted
        loose = [row for row, to in zip(rows_of[rank], ids[rank], strict=True) if to == total]
        assert rows[arrived.num_rows :] == loose
