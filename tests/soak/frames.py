"""Random frames on 1 to 5 ranks, held against DuckDB: every type, nulls, NaN, empty ranks, memory that is short.

A finding is printed with its seed, its steps and the first step that goes wrong. `--plans` ends after so many.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from frame.against_duckdb.judge import Setting, check, first_wrong
from frame.against_duckdb.state import Oracle
from frame.against_duckdb.steps import frames, history

from argosy.frame.prepare import prepare

RANKS = (1, 2, 3, 4, 5)
MOST_FINDINGS = 25


def main(minutes: float, seed: int, plans: int | None = None, only: int | None = None) -> int:
    """Plan `n` is drawn from `seed + n`, whatever came before it."""
    prepare()
    until = time.monotonic() + minutes * 60
    oracle, counts, findings = Oracle(), Counter[int](), 0
    number = seed
    while (time.monotonic() < until if plans is None else number < seed + plans) and findings < MOST_FINDINGS:
        findings += not hunt(oracle, number, counts, RANKS[number % len(RANKS) :][:1])
        number += 1
        if number % 1000 == 0:
            print(f"frames: {number - seed} plans", flush=True)
    ran = ", ".join(f"{counts[one]} on {one}" for one in RANKS)
    print(f"frames: {number - seed} plans from seed {seed}, run {ran} ranks, {findings} wrong")
    return 1 if findings else 0


def hunt(oracle: Oracle, seed: int, counts: Counter[int], ranks: tuple[int, ...] = RANKS) -> bool:
    """Whether the plan of this seed is right wherever it was run."""
    draw = random.Random(seed)
    try:
        state = frames(draw, oracle)
        for num_ranks in ranks:
            setting = Setting.drawn(draw, num_ranks, state)
            counts[num_ranks] += 1
            try:
                check(oracle, state, setting)
            except Exception:
                print(f"\nplan {seed} on {setting}\n{history(state)}\n{traceback.format_exc(-4)}")
                wrong = first_wrong(oracle, state, setting)
                if wrong is not None:
                    print(f"first wrong after:\n{history(wrong[0])}\n{wrong[1]}\n", flush=True)
                return False
    except Exception:
        print(f"\nplan {seed} could not be drawn\n{traceback.format_exc()}", flush=True)
        return False
    finally:
        oracle.forget()
    return True


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plans", type=int, default=None)
    asked = parser.parse_args()
    sys.exit(main(asked.minutes, asked.seed, asked.plans))
