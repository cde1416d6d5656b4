"""A gas that streams through a porous bed, on a periodic grid: one direction a step, three kernels each.

The conserved fields U (density, two momenta, energy) change by what passes a cell's faces,

    U[c] -= dt / volume[c] * (F[face after c] - F[face before c]),
    F = open / 2 * (wind * (U + U') - wave * (U' - U) + push),

where U' is on the other side of the face, `wind` is the mean velocity across it, `wave` the larger |velocity| + speed
of sound of the two cells times a viscosity, `open` the share of the face that is not blocked, and `push` is p + p' for
the momentum across the face, wind * (p + p') for the energy, else 0. The pressure p is (gamma - 1) * (energy -
momentum**2 / (2 density)), at least the floor. Even steps go along the rows, odd ones across them; after each pair come
gravity, drag and heating. Mass is conserved.

The fields that move are in single precision and touched in every step; the start, and the survey that the end is
compared with, are in double precision and touched once a run.
"""

from __future__ import annotations

import numpy as np

from argosy.memory.miniapps.compiled import Array, compiled
from argosy.memory.store import Store
from argosy.memory.workload import Workload

ITERATIONS = 2
DT = np.float32(0.05)
GAMMAS = np.array([1.4, 5 / 3], np.float32)
STATE = ("density", "momentum_x", "momentum_y", "energy")
FACES = ("wind", "wave")
SINGLE = (*STATE, *FACES, "pressure", "volume", "open_x", "open_y", "viscosity", "floor", "gravity", "drag", "heating")
NBYTES_PER_CELL = 66 + 4 * len(SINGLE)
"""Starts 8, 16 and 8, surveys 8 and 24, gas and sensor 1 each, and the fields in single precision."""


def make(nbytes: int, iterations: int) -> Workload:
    """Returns, from each run, the mass, the energy, the mean pressure at the sensors, and how far the end is from the
    surveys."""
    cells = nbytes / NBYTES_PER_CELL
    rows = max(round(cells**0.5), 4)
    return Workload(
        name="hydro",
        objects=lambda: _objects((rows, max(round(cells / rows), 4))),
        run=lambda store: _run(store, iterations),
    )


def _objects(shape: tuple[int, int]) -> dict[str, Array]:
    random = np.random.default_rng(23)

    def single(least: float, most: float) -> Array:
        return random.random(shape, dtype=np.float32) * np.float32(most - least) + np.float32(least)

    return {
        "start.density": random.random(shape) + 1.0,
        "start.velocity": random.random((2, *shape)) * 0.2 - 0.1,
        "start.pressure": random.random(shape) + 1.0,
        **{name: np.zeros(shape, np.float32) for name in (*STATE, "pressure", *FACES)},
        "volume": single(0.75, 1.25),
        "open_x": single(0.5, 1.0),
        "open_y": single(0.5, 1.0),
        "viscosity": single(1.0, 1.2),
        "floor": single(0.5, 1.2),
        "gravity": single(-0.2, 0.0),
        "drag": single(0.0, 0.3),
        "heating": single(0.0, 0.1),
        "gas": (random.random(shape, dtype=np.float32) < 0.3).astype(np.uint8),
        "sensor": (random.random(shape, dtype=np.float32) < 0.1).astype(np.uint8),
        "survey.pressure": random.random(shape) + 1.0,
        "survey.state": random.random((3, *shape)),
    }


def _run(store: Store, iterations: int) -> tuple[float, ...]:
    with store.window("start"):
        begin = store["start.density"], store["start.velocity"], store["start.pressure"], store["gas"]
        _start(*begin, GAMMAS, *(store.write(name) for name in STATE))
    for step in range(iterations):
        across = step % 2 == 1
        which = "across" if across else "along"
        opening = "open_y" if across else "open_x"
        with store.window("pressure"):
            _press(*(store[name] for name in STATE), store["floor"], store["gas"], GAMMAS, store.write("pressure"))
        with store.window(f"faces {which}"):
            cell = store["density"], store["momentum_y" if across else "momentum_x"], store["pressure"], store["gas"]
            _cross(*cell, GAMMAS, store["viscosity"], store.write("wind"), store.write("wave"), across)
        with store.window(f"move {which}"):
            faces = store["wind"], store["wave"], store["pressure"], store[opening], store["volume"]
            for field in STATE:
                _move(store.update(field), *_pushed(field, across), *faces, across)
        if across:
            with store.window("forces"):
                fields = store["density"], store.update("momentum_y"), store.update("energy")
                _force(*fields, store["gravity"], store["drag"], store["heating"])
    with store.window("totals"):
        fields = store["density"], store["energy"], store["volume"]
        mass, energy, watched = _totals(*fields, store["pressure"], store["sensor"])
    with store.window("survey"):
        now = store["pressure"], store["density"], store["momentum_x"], store["momentum_y"]
        apart = _compare(*now, store["survey.pressure"], store["survey.state"])
    return mass, energy, watched, apart


def _pushed(field: str, across: bool) -> tuple[np.float32, np.float32]:
    """How pressure pushes a field: at rest, and with the wind."""
    still = field == ("momentum_y" if across else "momentum_x")
    return np.float32(still), np.float32(field == "energy")


@compiled
def _start(
    density0: Array,
    velocity0: Array,
    pressure0: Array,
    gas: Array,
    gammas: Array,
    density: Array,
    momentum_x: Array,
    momentum_y: Array,
    energy: Array,
) -> None:
    for j in range(density.shape[0]):
        for i in range(density.shape[1]):
            mass = density0[j, i]
            u = velocity0[0, j, i]
            v = velocity0[1, j, i]
            density[j, i] = mass
            momentum_x[j, i] = mass * u
            momentum_y[j, i] = mass * v
            energy[j, i] = pressure0[j, i] / (gammas[gas[j, i]] - 1.0) + 0.5 * mass * (u * u + v * v)


@compiled
def _press(
    density: Array,
    momentum_x: Array,
    momentum_y: Array,
    energy: Array,
    floor: Array,
    gas: Array,
    gammas: Array,
    pressure: Array,
) -> None:
    for j in range(density.shape[0]):
        for i in range(density.shape[1]):
            moving = np.float32(0.5) * (momentum_x[j, i] ** 2 + momentum_y[j, i] ** 2) / density[j, i]
            inner = (gammas[gas[j, i]] - np.float32(1)) * (energy[j, i] - moving)
            pressure[j, i] = max(inner, floor[j, i])


@compiled
def _cross(
    density: Array,
    momentum: Array,
    pressure: Array,
    gas: Array,
    gammas: Array,
    viscosity: Array,
    wind: Array,
    wave: Array,
    across: bool,
) -> None:
    """Of the face between each cell and the next one, in its row or in its column."""
    rows, columns = density.shape
    for j in range(rows):
        m = (j + 1) % rows if across else j
        for i in range(columns):
            n = i if across else (i + 1) % columns
            here = momentum[j, i] / density[j, i]
            there = momentum[m, n] / density[m, n]
            sound_here = np.sqrt(gammas[gas[j, i]] * pressure[j, i] / density[j, i])
            sound_there = np.sqrt(gammas[gas[m, n]] * pressure[m, n] / density[m, n])
            wind[j, i] = np.float32(0.5) * (here + there)
            wave[j, i] = viscosity[j, i] * max(abs(here) + sound_here, abs(there) + sound_there)


@compiled
def _move(
    field: Array,
    still: np.float32,
    carried: np.float32,
    wind: Array,
    wave: Array,
    pressure: Array,
    opening: Array,
    volume: Array,
    across: bool,
) -> None:
    """One field, in place; `still` and `carried` say how pressure pushes it, at rest and with the wind.

    Beside the field three rows are kept: its first one as it was, what entered through the faces before the row under
    way, and what passes those after it.
    """
    rows, columns = field.shape
    first = field[0].copy()
    before = np.empty(columns, np.float32)
    after = np.empty(columns, np.float32)
    for row in range(-1, rows) if across else range(rows):
        j = row % rows
        m = (j + 1) % rows if across else j
        for i in range(columns):
            n = i if across else (i + 1) % columns
            there = first[n] if across and m == 0 else field[m, n]
            push = (still + carried * wind[j, i]) * (pressure[j, i] + pressure[m, n])
            flow = wind[j, i] * (field[j, i] + there) - wave[j, i] * (there - field[j, i])
            after[i] = np.float32(0.5) * opening[j, i] * (flow + push)
        if row >= 0:
            for i in range(columns):
                entered = before[i] if across else after[i - 1]
                field[j, i] -= DT * (after[i] - entered) / volume[j, i]
        before[:] = after


@compiled
def _force(density: Array, momentum_y: Array, energy: Array, gravity: Array, drag: Array, heating: Array) -> None:
    for j in range(density.shape[0]):
        for i in range(density.shape[1]):
            pull = DT * gravity[j, i]
            energy[j, i] += pull * momentum_y[j, i] + DT * heating[j, i]
            slowed = np.float32(1) + DT * drag[j, i]
            momentum_y[j, i] = (momentum_y[j, i] + pull * density[j, i]) / slowed


@compiled
def _totals(density: Array, energy: Array, volume: Array, pressure: Array, sensor: Array) -> tuple[float, float, float]:
    mass = 0.0
    total = 0.0
    watched = 0.0
    sensors = 0
    for j in range(density.shape[0]):
        for i in range(density.shape[1]):
            mass += density[j, i] * volume[j, i]
            total += energy[j, i] * volume[j, i]
            if sensor[j, i]:
                watched += pressure[j, i]
                sensors += 1
    return mass, total, watched / max(sensors, 1)


@compiled
def _compare(
    pressure: Array, density: Array, momentum_x: Array, momentum_y: Array, pressures: Array, states: Array
) -> float:
    apart = 0.0
    for j in range(density.shape[0]):
        for i in range(density.shape[1]):
            apart += (pressure[j, i] - pressures[j, i]) ** 2
            apart += (density[j, i] - states[0, j, i]) ** 2
            apart += (momentum_x[j, i] - states[1, j, i]) ** 2
            apart += (momentum_y[j, i] - states[2, j, i]) ** 2
    return float(np.sqrt(apart))
