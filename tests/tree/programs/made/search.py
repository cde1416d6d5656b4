"""Make programs for some minutes and print the smallest that differ from plain Python.

PYTHONPATH=tests python -m tree.programs.made.search --minutes 10
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from tree.programs.made.grammar import sources
from tree.programs.made.module import trouble_of_source

_ROUND = 100


def main() -> int:
    """Rounds of programs, each with its own seed, until the time is over; 1 if there was trouble."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0, help="of the first round")
    chosen = parser.parse_args()
    end = time.monotonic() + 60 * chosen.minutes
    tried = troubles = 0
    with tempfile.TemporaryDirectory() as folder:
        number = chosen.seed
        while time.monotonic() < end:
            found = _round(number, Path(folder))
            tried += _ROUND
            if found:
                troubles += 1
                source, what = found
                print(f"--- seed {number}: {what}\n{source[source.index('def arguments') :]}", flush=True)
            number += 1
    print(f"{tried} programs, {troubles} rounds with trouble")
    return 1 if troubles else 0


def _round(number: int, folder: Path) -> tuple[str, str] | None:
    """The smallest program of this round with trouble, and the trouble."""
    failed: list[tuple[str, str]] = []

    @seed(number)
    @settings(
        max_examples=_ROUND,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(source=sources())
    def attempt(source: str) -> None:
        found = trouble_of_source(source, folder)
        if found:
            failed.append((source, found))
            raise AssertionError(found)

    try:
        attempt()
    except Exception:
        if not failed:
            raise
    return min(failed, key=lambda pair: len(pair[0]), default=None)


if __name__ == "__main__":
    sys.exit(main())
