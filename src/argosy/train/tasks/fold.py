"""Lattice proteins that fold and unfold: from one frame's contact map to the state of the chain.

Four HP chains of 16 beads, each with one fold of lowest energy among all 802,075 there are, are followed by Monte Carlo
at several temperatures, half of them from the native fold and half from a straight line. A sample is the contact map of
one frame. Its class is told by how many of the native fold's contacts are there, and by its energy. The model is not
told which of the chains it looks at: the same contact is native to one and wrong in another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from argosy.train.tasks.chain import contacts_of, energy, places_of, walk
from argosy.train.tasks.draws import below, start
from argosy.train.tasks.task import Samples, Task

CHAINS = (
    ("HPHPHHPPHPPHPHHH", "011221232303010"),
    ("HHPHPHPPHPHHPPHH", "012232303000122"),
    ("HPHPHPPHHHPPHHHH", "011212323230010"),
    ("HHHPHPHHPPHPHHPH", "010332232121010"),
)
"""Beads, and the native fold as its steps. Each has 8 native contacts, all between two H."""
STATES = ("unfolded", "misfolded", "partly folded", "folded")
"""Folded: at least 6 of the 8 native contacts. Partly folded: at least 3. Misfolded: fewer, but energy at most -4."""

BEADS = 16
_FRAMES = 16
"""Frames that are taken of one trajectory."""
_MOVES = 400
"""Moves between two frames: 25 for each bead."""
_TEMPERATURES = np.array([0.30, 0.36, 0.42, 0.50, 0.65])
_SPLITS = {"train": 0, "valid": 1}


def fold(*, num_train: int = 40_000, num_valid: int = 2_048) -> Task:
    def samples(split: str, count: int, seed: int) -> Samples:
        return frames(count, seed=2 * seed + _SPLITS[split])

    return Task(
        name="fold",
        title="state of a folding lattice protein from its contact map",
        classes=STATES,
        samples=samples,
        build=_build,
        num_train=num_train,
        num_valid=num_valid,
        batch=8,
        lr=0.025,
        budget=24_000,
        evaluate_every=512,
    )


def frames(count: int, *, seed: int) -> Samples:
    """Contact maps uint8 [count, BEADS, BEADS] and their states, in order of trajectories. A trajectory depends on the
    seed and on its number alone."""
    natives = np.array([places_of(native) for _, native in CHAINS])
    water_shy = np.array([[bead == "H" for bead in beads] for beads, _ in CHAINS])
    native_contacts = np.array([contacts_of(places) for places in natives])
    maps = np.zeros((count, BEADS, BEADS), np.uint8)
    labels = np.zeros(count, np.int64)
    _simulate(seed, natives, water_shy, native_contacts, _TEMPERATURES, maps, labels)
    return maps, labels


def _build(batch_norm: bool) -> Any:
    from argosy.train.tasks.models import DenseNet

    return DenseNet(inputs=BEADS * BEADS, classes=len(STATES), widths=(64, 32), scale=4.0, batch_norm=batch_norm)


@njit(cache=True, nogil=True)
def _simulate(seed, natives, water_shy, native_contacts, temperatures, maps, labels):  # type: ignore[no-untyped-def]
    state = np.zeros(1, np.uint64)
    places, trial = np.zeros_like(natives[0]), np.zeros_like(natives[0])
    for first in range(0, len(maps), _FRAMES):
        start(state, seed, first // _FRAMES)
        chain = below(state, len(natives))
        temperature = temperatures[below(state, len(temperatures))]
        if below(state, 2) == 0:
            places[:] = natives[chain]
        else:
            for bead in range(len(places)):
                places[bead] = bead, 0
        for frame in range(first, min(first + _FRAMES, len(maps))):
            walk(state, places, water_shy[chain], temperature, _MOVES, trial)
            native = _read_contacts(places, native_contacts[chain], maps[frame])
            if native >= 6:
                labels[frame] = 3
            elif native >= 3:
                labels[frame] = 2
            elif energy(places, water_shy[chain]) <= -4:
                labels[frame] = 1


@njit(cache=True, nogil=True)
def _read_contacts(places, native_contacts, seen):  # type: ignore[no-untyped-def]
    """Writes the contact map; returns how many of the native contacts are in it."""
    native = 0
    for one in range(len(places)):
        for other in range(one + 3, len(places), 2):
            apart = abs(places[one, 0] - places[other, 0]) + abs(places[one, 1] - places[other, 1])
            if apart == 1:
                seen[one, other] = seen[other, one] = 1
                native += native_contacts[one, other]
    return native
