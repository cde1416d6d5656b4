"""Values that stay on their ranks."""

from __future__ import annotations

import gc
import os
import signal
from typing import Any

import pytest

import argosy
from argosy.errors import ValueLost


def make(comm: Any, base: int = 0) -> dict[str, int]:
    return {"piece": base + comm.rank, "pid": os.getpid()}


def test_each_rank_keeps_its_value_and_the_next_task_finds_it_there(pilot: argosy.Pilot) -> None:
    kept = pilot.submit(make, ranks=3, keep=True)
    found = pilot.submit(lambda value, comm: (value["piece"], value["pid"] == os.getpid()), kept, ranks=3).results()
    assert found == [(0, True), (1, True), (2, True)]
    inherited = pilot.submit(lambda value: value["piece"], kept)  # ranks are those of the value
    assert inherited.results() == [0, 1, 2]


def test_a_kept_value_travels_when_asked_for(pilot: argosy.Pilot) -> None:
    kept = pilot.submit(make, base=7, ranks=2, keep=True)
    assert kept.result()["piece"] == 7
    assert [value["piece"] for value in kept.results()] == [7, 8]


def test_what_cannot_be_pickled_can_be_kept(pilot: argosy.Pilot) -> None:
    import threading

    kept = pilot.submit(lambda: threading.Lock(), keep=True)
    assert pilot.submit(lambda lock: lock.locked(), kept).result() is False


def test_the_wrong_number_of_ranks_is_a_clear_error(pilot: argosy.Pilot) -> None:
    kept = pilot.submit(make, ranks=2, keep=True)
    with pytest.raises(ValueLost, match="2 ranks"):
        pilot.submit(lambda value, comm: None, kept, ranks=3).result()


def count_alive(pilot: argosy.Pilot) -> int:
    def count(comm: Any) -> int:
        gc.collect()
        return sum(type(item).__name__ == "Heavy" for item in gc.get_objects())

    return sum(pilot.submit(count, ranks=4).results())


@pytest.mark.parametrize("how", ["release", "scope"])
def test_releasing_or_leaving_scope_frees_the_value(pilot: argosy.Pilot, how: str) -> None:
    def heavy(comm: Any) -> Any:
        class Heavy:
            def __init__(self) -> None:
                self.cycle = self

        return Heavy()

    kept = pilot.submit(heavy, ranks=2, keep=True)
    pilot.submit(lambda value: None, kept).result()
    assert count_alive(pilot) == 2
    if how == "release":
        kept.release()
    else:
        del kept
        gc.collect()
    assert count_alive(pilot) == 0


def test_a_value_lost_with_its_rank_is_made_again(pilot: argosy.Pilot) -> None:
    kept = pilot.submit(make, base=5, ranks=2, keep=True)
    chained = pilot.submit(lambda value: value["piece"] * 10, kept, keep=True)
    assert chained.results() == [50, 60]
    victim = kept.results()[1]["pid"]
    os.kill(victim, signal.SIGKILL)
    assert pilot.submit(lambda value: value + 1, chained, retries=1).results() == [51, 61]
    assert victim not in [value["pid"] for value in kept.results()]


def test_a_value_whose_rank_has_just_died_is_made_again_when_it_is_asked_for(pilot: argosy.Pilot) -> None:
    kept = pilot.submit(make, base=3, ranks=2, keep=True)
    victim = kept.results()[1]["pid"]
    os.kill(victim, signal.SIGKILL)
    made = kept.results(timeout=40)
    assert [value["piece"] for value in made] == [3, 4]
    assert made[1]["pid"] != victim


def test_a_released_value_cannot_be_had_any_more(pilot: argosy.Pilot) -> None:
    kept = pilot.submit(make, ranks=2, keep=True)
    assert kept.exception() is None
    kept.release()
    pilot.submit(lambda: None).result()
    for ask in (lambda: pilot.submit(lambda value: value, kept).result(timeout=20), lambda: kept.results(timeout=20)):
        with pytest.raises(ValueLost, match=f"needs the kept value of task {kept.id}: its value was released"):
            ask()
