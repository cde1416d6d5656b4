"""How often to run what follows from the time there is, and is never so little that noise cannot be told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from argosy.memory.affording import (
    FINALS,
    FOR_PLANS,
    LEAST_REPEATS,
    affordable_finals,
    affordable_repeats,
)

seconds = st.floats(1e-4, 1e4)
counts = st.integers(1, 500)


@given(wanted=st.integers(LEAST_REPEATS, 16), placements=counts, run=seconds, left=seconds)
def test_runs_fit_into_the_time_and_leave_some_for_the_plans_or_are_the_least_there_can_be(
    wanted: int, placements: int, run: float, left: float
) -> None:
    found = affordable_repeats(wanted, placements, run_seconds=run, left_seconds=left)
    assert LEAST_REPEATS <= found <= wanted
    assert found == LEAST_REPEATS or found * placements * run <= (1 - FOR_PLANS) * left * (1 + 1e-9)
    assert found == wanted or (found + 1) * placements * run > (1 - FOR_PLANS) * left * (1 - 1e-9)


@given(before=st.integers(0, 100), plans=st.integers(1, 3), run=seconds, left=seconds)
def test_plans_and_the_best_run_in_turns_as_often_as_the_rest_of_the_time_allows(
    before: int, plans: int, run: float, left: float
) -> None:
    found = affordable_finals(before=before, plans=plans, run_seconds=run, left_seconds=left)
    assert FINALS[0] <= found <= FINALS[1]
    assert found == FINALS[0] or plans * (before + 2 * found) * run <= left * (1 + 1e-9)
    assert found == FINALS[1] or plans * (before + 2 * (found + 1)) * run > left * (1 - 1e-9)


def test_without_a_limit_it_is_what_is_wanted() -> None:
    assert affordable_repeats(16, 200, run_seconds=1e9, left_seconds=None) == 16
    assert affordable_finals(before=24, plans=3, run_seconds=1e9, left_seconds=None) == FINALS[1]


def test_a_run_that_took_no_time_to_speak_of_is_affordable() -> None:
    assert affordable_repeats(16, 200, run_seconds=0.0, left_seconds=1.0) == 16
    assert affordable_finals(before=24, plans=3, run_seconds=0.0, left_seconds=1.0) == FINALS[1]


def test_a_number_of_runs_that_was_asked_for_below_the_least_is_kept() -> None:
    assert affordable_repeats(1, 200, run_seconds=1.0, left_seconds=1.0) == 1
