from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argosy.cli import demo_memory
from argosy.cli.demo_memory import (
    LEAST_REPEATS,
    MOST_REPEATS,
    affordable_repeats,
    first_come,
    learn_usual_day,
    make_readings,
    measure_in_turns,
    memory_story,
)
from argosy.errors import NoTier
from argosy.memory import Disk, Workload


@pytest.fixture(autouse=True)
def few_sensors(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("scipy")
    monkeypatch.setattr(demo_memory, "NUM_SENSORS", 50)
    monkeypatch.setattr(demo_memory, "SECONDS", 0.0)  # the fewest repeats


@pytest.fixture
def workload() -> Workload:
    return Workload(name="usual day", objects=make_readings, run=learn_usual_day)


def told() -> str:
    return "\n".join(f"{line}\n{below}" for line, below in memory_story())


def test_the_plan_keeps_half_of_the_bytes_and_both_columns_are_told_for_it() -> None:
    said = told()
    assert re.search(r"ran under 12 placements in RAM and on disk, 2 times each; law (linear|additive|hinge) is ", said)
    (kept,) = re.findall(r"keeps in RAM: (.*); the rest", said)
    sizes = {name: array.nbytes for name, array in make_readings().items()}
    assert 0 < sum(sizes[name] for name in kept.split(", ")) <= sum(sizes.values()) / 2
    for half in ("by the plan", "first come"):
        assert re.search(rf"^half in RAM, {half} +[\d.]+ \S+ +[\d.]+ \S+$", said, re.MULTILINE)
    for end in ("everything in RAM", "everything on disk"):
        assert re.search(rf"^{end} +[\d.]+ \S+$", said, re.MULTILINE), "measured, and predicted by nobody"


def test_the_answer_is_what_the_readings_say(workload: Workload) -> None:
    with workload.store() as store:
        odd, *warmer = workload.run(store)
        assert (odd, *warmer) == workload.run(store), "each run begins anew"
    assert 2.0 < odd < 2.4  # as far is a reading from its mean at 3 degrees; a usual day of few days is nearer to them
    assert warmer == pytest.approx([0, 0, 0, 0], abs=0.1)


def test_an_answer_that_depends_on_the_placement_would_end_the_demo(workload: Workload) -> None:
    where = replace(workload, run=lambda store: str(store.placement))
    names = list(make_readings())
    with pytest.raises(AssertionError, match="depends on where the objects are"):
        measure_in_turns(where, {tier: dict.fromkeys(names, tier) for tier in ("ram", "disk")}, 1)


def test_a_fast_disk_gets_more_repeats_than_a_slow_one(workload: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_memory, "SECONDS", 0.0)
    assert affordable_repeats(workload) == LEAST_REPEATS
    monkeypatch.setattr(demo_memory, "SECONDS", 1e6)
    assert affordable_repeats(workload) == MOST_REPEATS


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 100), max_size=8), st.integers(0, 300))
def test_first_come_keeps_the_capacity_and_refuses_only_what_does_not_fit(sizes: dict[str, int], capacity: int) -> None:
    placement = first_come(sizes, capacity, fast="ram", slow="disk")
    assert list(placement) == list(sizes)
    used = 0
    for name, tier in placement.items():
        assert (tier == "ram") == (used + sizes[name] <= capacity)
        used += sizes[name] if tier == "ram" else 0


def test_a_machine_without_a_disk_is_told_so_and_the_tour_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_: Disk) -> Path:
        raise NoTier("there is no disk to place objects on")

    monkeypatch.setattr(Disk, "folder", property(nowhere))
    assert told() == "placing objects needs a slower memory than RAM: there is no disk to place objects on\n"


def test_without_scipy_the_story_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    found: Callable[[str], Any] = {"scipy": None}.get
    monkeypatch.setattr(demo_memory, "find_spec", found)
    assert "pip install 'argosy[memory]'" in told()
