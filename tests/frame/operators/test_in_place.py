"""Rows that are where their hashes say need not move again, and are told apart as fast as others."""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa

from argosy.comm.ranks import Ranks
from argosy.comm.threads import on_threads
from argosy.frame.operators.group_by import group_by
from argosy.frame.operators.order import by_key
from argosy.frame.plan import Agg


def test_groups_of_rows_that_are_in_place_do_not_crowd_into_a_few_slots() -> None:
    """Rows of a rank that go by the hash of the key have hashes of one range; a table of slots by hash was half empty
    and half a single long chain, and 200,000 rows took seconds."""
    keys = np.random.default_rng(0).integers(0, 60_000, 300_000)
    table = pa.table({"k": keys})

    def work(ranks: Ranks) -> float:
        mine = by_key(table if ranks.rank == 0 else table.slice(0, 0), ["k"], ranks)
        began = time.thread_time()
        groups = group_by(mine, ["k"], [Agg(name="n", kind="len", column=None)], ranks, in_place_by=["k"])
        assert sum(ranks.allgather(groups.num_rows)) == len(np.unique(keys))
        return time.thread_time() - began

    assert max(on_threads(5, work)) < 1
