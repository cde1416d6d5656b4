"""The folding chains: an exact count of all folds stands beside the simulation."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.train.tasks.chain import contacts_of, energy, places_of, walk
from argosy.train.tasks.draws import start
from argosy.train.tasks.fold import CHAINS, STATES, frames


@cache
def all_folds(beads: int) -> tuple[str, ...]:
    """Each fold once: the first step is to the right, and the first turn upwards."""
    found: list[str] = []

    def grow(steps: str, places: list[tuple[int, int]]) -> None:
        if len(places) == beads:
            found.append(steps)
            return
        for step, (x, y) in zip("0123", ((1, 0), (0, 1), (-1, 0), (0, -1)), strict=True):
            there = places[-1][0] + x, places[-1][1] + y
            if there not in places and not (step == "3" and set(steps) == {"0"}):
                grow(steps + step, [*places, there])

    grow("0", [(0, 0), (1, 0)])
    return tuple(found)


def shy(beads: str) -> np.ndarray:
    return np.array([bead == "H" for bead in beads])


def test_there_are_as_many_folds_as_the_books_say() -> None:
    assert [len(all_folds(beads)) for beads in (3, 4, 5, 6, 7, 8)] == [2, 5, 13, 36, 98, 272]


@pytest.mark.parametrize(("beads", "native"), CHAINS)
def test_a_native_fold_is_a_fold_of_eight_contacts_between_two_shy_beads(beads: str, native: str) -> None:
    places = places_of(native)
    assert len({tuple(place) for place in places.tolist()}) == len(beads)
    pairs = np.argwhere(np.triu(contacts_of(places)))
    assert len(pairs) == 8
    assert shy(beads)[pairs].all()
    assert energy(places, shy(beads)) == -8


def test_a_long_walk_visits_folds_as_often_as_their_energy_says() -> None:
    beads, temperature = "HPHPPHHH", 0.7
    energies = np.array([energy(places_of(fold), shy(beads)) for fold in all_folds(len(beads))])
    straight = np.array([set(fold) == {"0"} for fold in all_folds(len(beads))])
    weights = np.exp(-energies / temperature) * np.where(straight, 1, 2)
    places, trial, state = places_of("0" * 7), places_of("0" * 7), np.zeros(1, np.uint64)
    start(state, 4, 0)
    seen = []
    for _ in range(40_000):
        walk(state, places, shy(beads), temperature, 20, trial)
        seen.append(energy(places, shy(beads)))
    for level in np.unique(energies):
        assert np.mean(np.array(seen) == level) == pytest.approx(
            weights[energies == level].sum() / weights.sum(), abs=0.012
        )


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**31), moves=st.integers(0, 300), chain=st.sampled_from(CHAINS))
def test_a_chain_stays_a_chain_and_no_place_is_taken_twice(seed: int, moves: int, chain: tuple[str, str]) -> None:
    places, state = places_of(chain[1]), np.zeros(1, np.uint64)
    start(state, seed, 0)
    walk(state, places, shy(chain[0]), 0.5, moves, places.copy())
    assert (np.abs(np.diff(places, axis=0)).sum(axis=1) == 1).all()
    assert len({tuple(place) for place in places.tolist()}) == len(places)


def test_maps_are_symmetric_and_folded_maps_hold_six_native_contacts_of_one_chain() -> None:
    maps, labels = frames(800, seed=3)
    assert np.array_equal(maps, maps.transpose(0, 2, 1))
    natives = np.array([contacts_of(places_of(native)) for _, native in CHAINS])
    native = np.einsum("nij,cij->nc", maps.astype(int), natives.astype(int)) // 2
    assert (native[labels == STATES.index("folded")].max(axis=1) >= 6).all()
    assert (native[labels == STATES.index("unfolded")].min(axis=1) < 3).all()


def test_no_single_contact_tells_the_state() -> None:
    maps, labels = frames(6_000, seed=1)
    right = []
    for one, other in np.argwhere(np.triu(maps.any(axis=0))):
        there = maps[:, one, other] == 1
        right.append(sum(np.bincount(labels[part]).max() for part in (there, ~there) if part.any()) / len(labels))
    assert max(right) < 0.7
