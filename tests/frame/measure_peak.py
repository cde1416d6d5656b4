"""Run in a process of its own: how much memory each operation took at its peak, beside its estimate, as JSON."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa

from argosy.comm.ranks import Alone
from argosy.frame import plan
from argosy.frame.buffers import keep_idle
from argosy.frame.context import Context
from argosy.frame.execute import execute
from argosy.frame.peak import peak_of

NUM_ROWS = 1_500_000


def table(num_rows: int, payload: str, seed: int) -> pa.Table:
    generator = np.random.default_rng(seed)
    numbers = generator.integers(0, max(num_rows * 9 // 10, 1), num_rows)
    text = pa.array(np.char.add("user_", np.char.zfill(numbers.astype("U8"), 8)))
    return pa.table({"k": numbers, "s": text, payload: generator.random(num_rows)})


def plans(num_rows: int) -> Iterator[tuple[str, plan.Operation]]:
    left, right = (plan.Memory(table=table(num_rows, name, seed)) for seed, name in enumerate(("a", "b")))
    numbers, others = (plan.Memory(table=one.table.drop_columns(["s"])) for one in (left, right))
    total = plan.Agg(name="total", kind="sum", column="a")
    yield "sort", plan.Sort(input=numbers, by=("k",), descending=(False,))
    yield "sort by text", plan.Sort(input=left, by=("s",), descending=(False,))
    yield "sort by two", plan.Sort(input=left, by=("a", "k"), descending=(False, True))
    yield "group", plan.Aggregate(input=numbers, keys=("k",), aggs=(total,))
    yield "group by text", plan.Aggregate(input=left, keys=("s",), aggs=(total,))
    yield "distinct", plan.Distinct(input=left)
    yield "join", plan.Join(left=numbers, right=others, left_on=("k",), right_on=("k",))
    yield "outer join", plan.Join(left=numbers, right=others, left_on=("k",), right_on=("k",), how="full")
    yield "join by text", plan.Join(left=left, right=right, left_on=("s",), right_on=("s",))
    yield "union", plan.SetOperation(kind="union", left=numbers, right=numbers)
    yield "shuffle", plan.Shuffle(input=left, seed=1)
    yield "concat", plan.Concat(first=left, second=left)


@contextmanager
def watched() -> Iterator[list[int]]:
    """The peak of this process's memory above where it began, in the list when it is over."""
    process, found, done = psutil.Process(), [0], threading.Event()
    begin = process.memory_info().rss

    def look() -> None:
        while not done.is_set():
            found[0] = max(found[0], process.memory_info().rss - begin)
            time.sleep(0.0005)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        done.set()
        thread.join()


def main() -> None:
    keep_idle(0)
    context = Context(ranks=Alone(), share_nbytes=1 << 40, folder=Path("/nowhere"))
    for _, small in plans(1000):  # loads what is loaded once
        execute(small, context).table()
    figures = {}
    for name, operation in plans(NUM_ROWS):
        pa.default_memory_pool().release_unused()
        inputs = sum(one.table.nbytes for one in operation.inputs if isinstance(one, plan.Memory))
        with watched() as peak:
            execute(operation, context).table()
        figures[name] = {"measured": peak[0] + inputs, "estimated": peak_of(operation, 1)}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
