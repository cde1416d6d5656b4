"""`python -m argosy.bench ENGINE CASE ROWS THREADS`: one engine, which answers line by line.

On `round` it answers with the seconds that the case took, on `check` with the digest of its result. It ends when there
is no more to read, also in the middle of a round. What the engine itself prints goes to standard error.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Iterator

from argosy.bench.cases import CASES, Case
from argosy.bench.data import tables_of
from argosy.bench.digest import digest
from argosy.bench.engines import KINDS, Engine

_END_SECONDS = 10.0
"""For what is under way when whoever asks has gone."""


def main() -> None:
    name, case, num_rows, num_threads = sys.argv[1], CASES[sys.argv[2]], int(sys.argv[3]), int(sys.argv[4])
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        engine = KINDS[name].open(num_threads)
        try:
            engine.load(*tables_of(case, num_rows))
            for question in _questions():
                answer = _check(engine, case) if question == "check" else _round(engine, case)
                print(json.dumps(answer), file=answers, flush=True)
        finally:
            engine.close()


def _questions() -> Iterator[str]:
    """Lines of standard input as they come. They are read on the side, so that their end is seen during a round."""
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line.strip())
        lines.put(None)
        time.sleep(_END_SECONDS)
        os._exit(1)

    threading.Thread(target=read, daemon=True).start()
    while (line := lines.get()) is not None:
        yield line


def _round(engine: Engine, case: Case) -> float:
    gc.collect()
    began = time.perf_counter()
    result = engine.run(case)
    seconds = time.perf_counter() - began
    engine.free(result)
    return seconds


def _check(engine: Engine, case: Case) -> tuple[int, int]:
    result = engine.run(case)
    table = engine.to_arrow(result)
    engine.free(result)
    return digest(table, sorted_by="k" if case.kind == "sort" else None)


if __name__ == "__main__":
    main()
