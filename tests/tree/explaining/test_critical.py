"""The longest chain."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from tree.explaining.runs import run

from argosy.tree.explaining.critical import critical_path
from argosy.tree.explaining.record import IN_TURN, NOT_RUN, Ran


def test_the_longest_chain_is_found_not_the_one_with_most_links() -> None:
    runs = [run(0, 0, 1), run(1, 0, 5), run(2, 1, 2, [0]), run(3, 5, 6, [1, 2])]
    assert [one.number for one in critical_path(runs)] == [1, 3]


def test_what_runs_alone_waits_for_all_before_and_all_after_wait_for_it() -> None:
    runs = [run(0, 0, 1), run(1, 0, 3), run(2, 3, 4, where=IN_TURN, alone=True), run(3, 4, 5)]
    assert [one.number for one in critical_path(runs)] == [1, 2, 3]


def test_what_was_never_run_is_not_in_it() -> None:
    runs = [run(0, 0, 1), run(1, 0, 0, [0], state=NOT_RUN)]
    assert [one.number for one in critical_path(runs)] == [0]


def test_of_nothing_there_is_no_chain() -> None:
    assert critical_path([]) == []


@st.composite
def histories(draw: st.DrawFn) -> list[Ran]:
    found = []
    for number in range(draw(st.integers(1, 12))):
        waits = draw(st.lists(st.integers(0, number - 1), unique=True, max_size=3)) if number else []
        found.append(run(number, 0, draw(st.integers(0, 9)), waits))
    return found


@settings(max_examples=50, deadline=None)
@given(histories())
def test_it_is_a_chain_and_no_chain_takes_longer(runs: list[Ran]) -> None:
    chain = critical_path(runs)
    for one, two in pairwise(chain):
        assert one.number in {cause.number for cause in two.causes}

    def longest(number: int) -> float:
        return runs[number].seconds + max((longest(cause.number) for cause in runs[number].causes), default=0.0)

    assert sum(one.seconds for one in chain) == max(longest(one.number) for one in runs)
