"""Which placements are run: both ends, each once, and never one again that calibration has seen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.memory.designs import DESIGNS, all_rows, design_rows, distinct, held_out_rows


@given(st.sampled_from(DESIGNS), st.integers(1, 24), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_both_ends_come_first_and_nothing_twice(design: str, num_objects: int, seed: int) -> None:
    rows = design_rows(design, num_objects, seed=seed)
    assert not rows[0].any()
    assert rows[1].all()
    assert len({row.tobytes() for row in rows}) == len(rows)


def test_each_design_has_its_size() -> None:
    assert len(design_rows("endpoints", 9)) == 2
    assert len(design_rows("one-at-a-time", 9)) == 11
    assert len(design_rows("random", 12)) == 38
    assert len(design_rows("random", 12, placements=5)) == 7
    with pytest.raises(ValueError, match="no design 'grid'; there are: endpoints, one-at-a-time, random"):
        design_rows("grid", 3)


def test_in_a_random_design_every_object_is_slow_half_of_the_time_and_both_ends_are_approached() -> None:
    rows = design_rows("random", 24, placements=48, seed=3)[2:]
    assert len(rows) == 48
    assert (np.abs(rows.mean(axis=0) - 0.5) < 0.1).all()
    assert {int(count) for count in rows.sum(axis=1)} >= {1, 2, 12, 22, 23}


@given(st.integers(1, 20), st.integers(0, 60), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_held_out_placements_are_new_mixed_and_distinct(num_objects: int, count: int, seed: int) -> None:
    known = design_rows("random", num_objects, placements=10, seed=seed)
    rows = held_out_rows(known, count, seed=seed)
    seen = {row.tobytes() for row in known}
    assert len({row.tobytes() for row in rows}) == len(rows) == min(count, 2**num_objects - len(seen))
    assert not any(row.tobytes() in seen for row in rows)


def test_all_rows_are_all() -> None:
    rows = all_rows(4)
    assert len(distinct(rows)) == 16
    assert np.array_equal(distinct(np.concatenate([rows, rows])), rows)
