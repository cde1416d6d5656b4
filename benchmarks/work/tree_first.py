"""The first call of a futurized function, in a process that has run nothing else.

python benchmarks/work/tree_first.py 100 100 1000
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from children import answer

from work.tree_programs import PROGRAMS
from work.tree_turns import check


def main() -> None:
    program = PROGRAMS["logistic regression"]
    given = program.make(*map(int, sys.argv[1:]))
    expected = program.run(*given)
    plain = _seconds(lambda: program.run(*given))

    begin = time.perf_counter()
    import argosy

    futurize = argosy.futurize
    loaded = time.perf_counter()
    decorated = futurize(program.run)
    decorating = time.perf_counter() - loaded
    first = _seconds(lambda: check("first call", decorated(*given), expected))
    second = _seconds(lambda: check("second call", decorated(*given), expected))
    answer({"plain": plain, "loading": loaded - begin, "decorating": decorating, "first": first, "second": second})


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
