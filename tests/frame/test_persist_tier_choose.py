"""Which columns are worth their room in RAM: laws of the choice, and what was asked for."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import argosy
from argosy.frame.keep.asked import Asked, asked_for
from argosy.frame.keep.choose import Candidate, choose
from argosy.frame.keep.speeds import Speeds, measure
from argosy.memory.moves import Moves
from argosy.memory.tiers.disk import Disk

SPEEDS = Speeds(extra_seconds_per_byte=1.0, moves=Moves(fetch_seconds_per_byte=3.0, evict_seconds_per_byte=2.0))
CANDIDATES = st.lists(
    st.builds(Candidate, nbytes=st.integers(0, 9), uses=st.integers(0, 9), in_ram=st.booleans()), max_size=6
)


def seconds(candidates: list[Candidate], in_ram: tuple[bool, ...] | list[bool]) -> float:
    """Of the moves, and of all the uses so far once more."""
    reads = sum(one.nbytes * max(one.uses, 1) for one, fast in zip(candidates, in_ram, strict=True) if not fast)
    fetched = sum(one.nbytes for one, fast in zip(candidates, in_ram, strict=True) if fast and not one.in_ram)
    evicted = sum(one.nbytes for one, fast in zip(candidates, in_ram, strict=True) if one.in_ram and not fast)
    return reads * SPEEDS.extra_seconds_per_byte + SPEEDS.moves.seconds(fetched, evicted)


def nbytes(candidates: list[Candidate], in_ram: tuple[bool, ...] | list[bool]) -> int:
    return sum(one.nbytes for one, fast in zip(candidates, in_ram, strict=True) if fast)


@settings(max_examples=60)
@given(candidates=CANDIDATES, capacity=st.integers(-3, 30))
def test_the_choice_fits_and_pays_for_its_moves(candidates: list[Candidate], capacity: int) -> None:
    chosen = choose(candidates, capacity, SPEEDS)
    assert nbytes(candidates, chosen) <= max(capacity, 0)
    now = [one.in_ram for one in candidates]
    if nbytes(candidates, now) <= capacity:
        assert seconds(candidates, chosen) <= seconds(candidates, now)


@settings(max_examples=60)
@given(candidates=CANDIDATES, capacity=st.integers(0, 30))
def test_the_choice_saves_at_least_half_of_what_any_could(candidates: list[Candidate], capacity: int) -> None:
    every = itertools.product([False, True], repeat=len(candidates))
    best = min(seconds(candidates, one) for one in every if nbytes(candidates, one) <= capacity)
    nothing = seconds(candidates, [False] * len(candidates))
    saved = nothing - seconds(candidates, choose(candidates, capacity, SPEEDS))
    assert saved >= (nothing - best) / 2 or math.isclose(saved, (nothing - best) / 2)


def test_a_column_on_disk_comes_when_its_uses_have_paid_for_both_moves() -> None:
    def swapped(uses: int) -> bool:
        cold = Candidate(nbytes=5, uses=1, in_ram=True)
        return choose([cold, Candidate(nbytes=5, uses=uses, in_ram=False)], 5, SPEEDS) == [False, True]

    assert [uses for uses in range(10) if swapped(uses)] == [7, 8, 9]  # 1 + 3 to fetch + 2 to evict, and more


def test_disk_and_moves_are_measured_here(tmp_path_factory: pytest.TempPathFactory) -> None:
    speeds = measure(Disk(tmp_path_factory.mktemp("disk")))
    assert speeds.extra_seconds_per_byte >= 0
    assert speeds.moves.fetch_seconds_per_byte > 0
    assert speeds.moves.evict_seconds_per_byte > 0


def test_without_a_limit_the_tier_is_ram(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARGOSY_MEMORY", raising=False)
    assert asked_for(None, None, None) == Asked(tier="ram")
    assert asked_for("auto", None, None) == Asked(tier="auto")
    monkeypatch.setenv("ARGOSY_MEMORY", "1MiB")
    assert asked_for(None, None, None) == asked_for("auto", None, None) == Asked(tier="auto", nbytes=1 << 20)
    assert asked_for("disk", None, None) == Asked(tier="disk")
    assert asked_for(None, "2KiB", None) == Asked(tier="auto", nbytes=2048, alone=True)


def test_a_tier_that_is_none_is_an_error_that_names_them() -> None:
    frame = argosy.from_pydict({"a": [1]})
    with pytest.raises(ValueError, match="tier must be 'auto' or 'ram' or 'disk', not 'flash'"):
        frame.persist(tier="flash")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="tier must be 'auto' or 'ram' or 'disk', not 'flash'"):
        frame.persist().persist(tier="flash")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("memory", "says"),
    [
        ("lots", "memory is not an amount of memory: 'lots'"),
        (-1, "memory must be .* at least 0, not -1"),
        ("-1GiB", "not an amount"),
    ],
)
def test_memory_that_is_no_amount_is_an_error(memory: str | int, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        argosy.from_pydict({"a": [1]}).persist(memory=memory)


def test_memory_goes_with_auto_alone() -> None:
    with pytest.raises(ValueError, match="does not go with tier 'disk'"):
        argosy.from_pydict({"a": [1]}).persist(tier="disk", memory="1GiB")


def test_the_environment_is_checked_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOSY_MEMORY", "much")
    with pytest.raises(ValueError, match="ARGOSY_MEMORY is not an amount of memory: 'much'"):
        argosy.from_pydict({"a": [1]}).persist()


@pytest.mark.parametrize("memory", ["lots", -1, 0, "0GiB"])
def test_a_pilot_needs_an_amount_of_memory(memory: str | int) -> None:
    with pytest.raises(ValueError, match="memory"):
        argosy.Pilot(ranks=1, memory=memory)
