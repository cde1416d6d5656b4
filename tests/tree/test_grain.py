"""From measured times to decisions."""

from __future__ import annotations

import pytest

from argosy.tree.grain import (
    CALLS_BETWEEN_TRIALS,
    IN_PLACE_SECONDS,
    LONG_CALL_SECONDS,
    RUNS_BETWEEN_TRIALS,
    SHORT_CALL_SECONDS,
    SMALL_ITERATION_SECONDS,
    TINY_CALL_SECONDS,
    UNMEASURED,
    Choice,
    Grain,
    Ways,
)

LONG = 2 * LONG_CALL_SECONDS
SHORT = SHORT_CALL_SECONDS / 2
TINY = SHORT_CALL_SECONDS / 100


def called(ways: Ways, walked: float, plain: float) -> str:
    """One call that would take so long either way; which way it went."""
    is_plain = ways.is_plain()
    ways.took(is_plain, plain if is_plain else walked)
    return "p" if is_plain else "w"


@pytest.mark.parametrize(
    ("walked", "plain", "expected"),
    [
        (LONG, 9 * LONG, "wwwwww"),  # long calls are walked, without a look at the other way
        (LONG, TINY, "wwwwww"),
        (SHORT, SHORT / 2, "wppppp"),  # short ones are tried both ways
        (SHORT, 2 * SHORT, "wpwwww"),
        (TINY, TINY / 9, "wppppp"),
        (TINY, 2 * TINY, "wpwwww"),
        (SHORT, SHORT, "wpwwww"),  # of two that are the same, threads
    ],
)
def test_calls_go_the_faster_way_once_both_are_known(walked: float, plain: float, expected: str) -> None:
    ways = Ways()
    assert "".join(called(ways, walked, plain) for _ in expected) == expected


def test_calls_that_become_much_longer_are_looked_at_again() -> None:
    ways = Ways()
    assert [called(ways, TINY, TINY / 2) for _ in range(5)] == ["w", "p", "p", "p", "p"]
    assert called(ways, LONG, 3 * LONG) == "p"
    assert [called(ways, LONG, 3 * LONG) for _ in range(3)] == ["w", "w", "w"]


def test_calls_of_middle_length_are_tried_plainly_after_the_first_two_were_walked() -> None:
    middle = LONG_CALL_SECONDS / 2
    assert [called(ways, middle, middle / 2) for ways in [Ways()] for _ in range(5)] == ["w", "w", "p", "p", "p"]
    assert [called(ways, middle, middle * 2) for ways in [Ways()] for _ in range(5)] == ["w", "w", "p", "w", "w"]


def test_calls_that_stay_tiny_are_not_looked_at_again() -> None:
    ways = Ways()
    seen = [called(ways, TINY, TINY / 2) for _ in range(3 * CALLS_BETWEEN_TRIALS)]
    assert seen.count("w") == 1
    assert called(ways, TINY, 5 * TINY) == "p"  # five times nothing is nothing


def test_plain_calls_that_are_not_tiny_are_compared_anew_now_and_then() -> None:
    ways = Ways()
    seen = [called(ways, SHORT, SHORT / 2) for _ in range(3 * CALLS_BETWEEN_TRIALS)]
    assert 3 <= seen.count("w") <= 4
    ways = Ways()
    for _ in range(CALLS_BETWEEN_TRIALS):
        called(ways, SHORT, SHORT / 2)
    assert [called(ways, SHORT / 4, SHORT / 2) for _ in range(4)] == ["w", "w", "w", "w"]


def test_walked_calls_that_become_slower_than_plain_ones_give_way() -> None:
    ways = Ways()
    assert [called(ways, SHORT / 2, SHORT) for _ in range(3)] == ["w", "p", "w"]
    assert [called(ways, 1.5 * SHORT, SHORT) for _ in range(3)] == ["w", "p", "p"]


@pytest.mark.parametrize(
    ("seconds", "estimate", "in_place"),
    [
        (None, None, False),  # never measured: it may be anything
        (None, IN_PLACE_SECONDS / 2, True),
        (None, IN_PLACE_SECONDS, False),
        (0, 0.0, False),
        (0, 1e-9, False),
        (1e-3, 5e-4, True),
        (1e-3, 2e-3, False),
    ],
)
def test_what_is_expected_to_take_less_than_the_grain_runs_in_place(
    seconds: float | None, estimate: float | None, in_place: bool
) -> None:
    assert Grain(seconds).in_place(estimate) is in_place


@pytest.mark.parametrize(
    ("seconds", "iteration", "small"),
    [
        (None, SMALL_ITERATION_SECONDS / 2, True),
        (None, SMALL_ITERATION_SECONDS, False),
        (None, float("inf"), False),
        (0, 0.0, False),
        (SMALL_ITERATION_SECONDS / 9, SMALL_ITERATION_SECONDS / 2, True),  # walking costs as much, whatever was asked
        (1e-2, 5e-3, True),
        (1e-2, 2e-2, False),
    ],
)
def test_loops_of_small_iterations_are_plain_python(seconds: float | None, iteration: float, small: bool) -> None:
    assert Grain(seconds).small_iteration(iteration) is small


def test_only_a_grain_of_0_issues_everything() -> None:
    assert Grain(0).always
    assert Grain(0.0).always
    assert not Grain().always
    assert not Grain(1e-9).always


def run_both_ways(choice: Choice, parts: list[float], whole: float) -> str:
    """As many runs as there are times in parts; which way they went."""
    went = ""
    for seconds in parts:
        in_parts = choice.in_parts()
        choice.took(in_parts, seconds if in_parts else whole)
        went += "p" if in_parts else "w"
    return went


@pytest.mark.parametrize(
    ("parts", "whole", "later"),
    [
        ([1.0] * 20, 2.0, "p"),
        ([2.0] * 20, 1.0, "w"),
        ([9.0] + [1.0] * 19, 2.0, "p"),  # the first in parts does not count
        ([1.0] + [3.0] * 19, 2.0, "w"),
        ([1.0] * 20, 1.0, "p"),
    ],
)
def test_parts_or_the_whole_whichever_was_faster(parts: list[float], whole: float, later: str) -> None:
    went = run_both_ways(Choice(), parts, whole)
    assert went.startswith("pp")
    assert "w" in went[:8]
    assert went.endswith(later * 10)


def test_one_slow_run_in_a_trial_does_not_decide() -> None:
    assert run_both_ways(Choice(), [1.0, 9.0, *[1.0] * 18], 2.0).endswith("p" * 10)


def test_parts_and_the_whole_are_compared_again_later() -> None:
    choice = Choice()
    run_both_ways(choice, [2.0] * (RUNS_BETWEEN_TRIALS - 1), 1.0)
    assert run_both_ways(choice, [0.5] * 20, 1.0).endswith("p" * 10)


def test_only_tiny_calls_that_go_plainly_are_left_unmeasured_for_a_while() -> None:
    ways = Ways()
    assert ways.calls_unmeasured() == 0
    called(ways, TINY_CALL_SECONDS, TINY_CALL_SECONDS / 2)
    called(ways, TINY_CALL_SECONDS, TINY_CALL_SECONDS / 2)
    assert ways.calls_unmeasured() == UNMEASURED
    longer = Ways()
    called(longer, SHORT, SHORT / 2)
    called(longer, SHORT, SHORT / 2)
    assert longer.calls_unmeasured() == 0


def test_walked_calls_that_lost_much_are_tried_again_much_later() -> None:
    ways = Ways()
    seen = [called(ways, 30 * SHORT, SHORT / 2) for _ in range(30 * CALLS_BETWEEN_TRIALS)]
    assert seen[:4] == ["w", "w", "p", "p"]
    walks = seen[4:].count("w")
    assert 0 < walks * 30 * SHORT < 0.1 * len(seen) * SHORT / 2
