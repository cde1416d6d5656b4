"""`python -m argosy.memory.learning.train --out weights.npz` makes the weights that are shipped.

With `--minutes 3`, as much of it as there is time for.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from argosy.memory.learning import train


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m argosy.memory.learning.train", description="Teach a learner.")
    parser.add_argument("--out", type=Path, required=True, help="where to write the weights (.npz)")
    parser.add_argument("--updates", type=int, default=None, help="how many updates (default: as shipped)")
    parser.add_argument("--minutes", type=float, default=None, help="stop after so many minutes at the latest")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    train(asked.out, updates=asked.updates, minutes=asked.minutes, seed=asked.seed)


if __name__ == "__main__":
    main()
