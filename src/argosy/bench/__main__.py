"""`python -m argosy.bench ENGINE CASE ROWS THREADS`: one engine, which answers line by line.

On `round` it answers with the seconds that the case took, on `check` with the digest of its result. It ends when there
is no more to read. What the engine itself prints goes to standard error.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time

from argosy.bench.cases import CASES, Case
from argosy.bench.data import tables_of
from argosy.bench.digest import digest
from argosy.bench.engines import KINDS, Engine


def main() -> None:
    name, case, num_rows, num_threads = sys.argv[1], CASES[sys.argv[2]], int(sys.argv[3]), int(sys.argv[4])
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        engine = KINDS[name].open(num_threads)
        try:
            engine.load(*tables_of(case, num_rows))
            for line in sys.stdin:
                answer = _check(engine, case) if line.strip() == "check" else _round(engine, case)
                print(json.dumps(answer), file=answers, flush=True)
        finally:
            engine.close()


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
