"""Every law of the tests with fresh examples, again and again with the next seed, until the time is over."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).parents[1]
PYTEST = [sys.executable, "-m", "pytest", "-q", "-m", "hypothesis", "--timeout=1800", "-p", "no:cacheprovider"]
NONE_RAN = 5
"""What pytest ends with when no test was chosen."""


def main(minutes: float, seed: int) -> int:
    """The first round is always whole; another begins while there is time for it."""
    until = time.monotonic() + minutes * 60
    rounds, took = 0, 0.0
    while rounds == 0 or time.monotonic() + took < until:
        began = time.monotonic()
        print(f"laws: round {rounds + 1}, repeat with --seed {seed + rounds}", flush=True)
        code = subprocess.run(
            [*PYTEST, f"--hypothesis-seed={seed + rounds}", str(TESTS)],
            cwd=TESTS.parent,
            env={"ARGOSY_LAWS": "1", **os.environ, "ARGOSY_SEED": str(seed + rounds)},
            check=False,
        ).returncode
        rounds, took = rounds + 1, time.monotonic() - began
        if code:
            print(f"laws: {'no law was found' if code == NONE_RAN else 'a law is broken'}, seed {seed + rounds - 1}")
            return 1
    print(f"laws: {rounds} rounds, 0 broken, seeds {seed} to {seed + rounds - 1}")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    sys.exit(main(asked.minutes, asked.seed))
