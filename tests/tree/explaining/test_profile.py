"""Count, seconds and bytes of lines, and the critical path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import argosy


def make() -> Any:
    """A new function each time, so that nothing is known of it."""

    @argosy.futurize(grain=0)
    def work(n: int) -> Any:
        a = np.ones(n)
        b = np.zeros(n)
        for i in range(3):
            c = np.cos(a * i)
            d = np.exp(a - i)
            b = b + a + 0 * c * d
        return b.sum()

    return work


def test_before_any_call_it_says_how_to_get_one() -> None:
    profile = make().profile
    assert profile.lines == ()
    assert "nothing of work has run as expressions so far; work.profile.of(...)" in str(profile)


def test_plain_calls_add_up() -> None:
    work = make()
    assert work(10) == 30
    assert work(10) == 30
    counts = {line.text: line.count for line in work.profile.lines}
    assert counts["a = np.ones(n)"] == 2
    assert counts["c = np.cos(a * i)"] == 6
    assert work.profile.seconds is work.profile.parallelism is None
    assert work.profile.critical_path == []
    assert str(work.profile).startswith("all calls of work so far")


def test_what_runs_in_its_turn_counts_in_plain_calls_too() -> None:
    @argosy.futurize(grain=0)
    def speaks(x: Any) -> Any:
        print(end="")
        return x + 1

    speaks(1)
    assert [line.text for line in speaks.profile.lines] == ["print(end='')", "return x + 1"]


def test_a_watched_call_has_counts_bytes_and_a_critical_path() -> None:
    work = make()
    profile = work.profile.of(1000)
    by_text = {line.text: line for line in profile.lines}
    assert by_text["a = np.ones(n)"].nbytes == 8000
    assert by_text["return b.sum()"].nbytes == 0
    assert profile.seconds > 0
    assert profile.parallelism == pytest.approx(profile.work_seconds / profile.seconds)
    assert profile.critical_seconds == pytest.approx(sum(taken for _, taken in profile.critical_path))
    assert profile.critical_path[-1][0] == by_text["return b.sum()"].line
    assert profile.critical_seconds <= profile.work_seconds + 1e-9


def test_the_profile_stays_that_of_the_watched_call() -> None:
    work = make()
    watched = work.profile.of(10)
    work(10)
    assert work.profile == watched
    work.explain(20)
    assert work.profile != watched


def test_arguments_named_like_its_own_reach_the_function() -> None:
    @argosy.futurize(grain=0)
    def takes(self: Any, args: Any) -> Any:
        return self + args

    assert takes.profile.of(self=1, args=2).lines[0].count == 1
    assert "return self + args" in takes.explain(self=1, args=2)
