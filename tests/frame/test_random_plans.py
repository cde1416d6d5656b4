"""Random frames of every type on 1, 2, 3 and 5 ranks are what DuckDB makes of the same steps.

`python tests/soak/frames.py` draws thousands of them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from frame.against_duckdb.judge import Setting, check
from frame.against_duckdb.state import Oracle
from frame.against_duckdb.steps import frames, history

from argosy.frame.prepare import prepare

NUM_PLANS = 15


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    prepare()
    one = Oracle()
    yield one
    one.close()


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5])
def test_random_frames_equal_duckdb(oracle: Oracle, num_ranks: int) -> None:
    for number in range(NUM_PLANS):
        seed = 1000 * num_ranks + number
        draw = random.Random(seed)
        state = frames(draw, oracle)
        setting = Setting.drawn(draw, num_ranks, state)
        try:
            check(oracle, state, setting)
        except Exception as error:
            raise AssertionError(f"plan {seed} on {setting}\n{history(state)}") from error
        oracle.forget()
