"""Maxwell's equations on a periodic box, by Yee's method: each field takes a step by the curl of the others.

    h -= curl e / permeability          e = decay e + curl h / permittivity

Six fields and four coefficients of a cell. A field is read twice where a curl needs it, a coefficient once a step,
the source in one window only. What a window makes on its way lies in the device's memory.
"""

from __future__ import annotations

import torch

from argosy.memory.gpuapps.filled import fill
from argosy.memory.store import Store
from argosy.memory.workload import Workload

NBYTES = 480 << 20
STEPS = 2
COEFFICIENTS = ("permeability", "permittivity", "decay", "source")
CURLS = {"x": ("z", 1, "y", 2), "y": ("x", 2, "z", 0), "z": ("y", 0, "x", 1)}
"""(curl f)x = d f.z / d axis 1 - d f.y / d axis 2, and so on."""


def make(nbytes: int) -> Workload:
    """Returns, from each run, the energy in the electric and in the magnetic field."""
    num_objects = 2 * len(CURLS) + len(COEFFICIENTS)
    edge = max(round((nbytes / 4 / num_objects) ** (1 / 3)), 4)
    shape = (edge, edge, max(round(nbytes / 4 / num_objects / edge**2), 4))
    return Workload(name="stencil", objects=lambda: _objects(shape), run=_run)


def _objects(shape: tuple[int, int, int]) -> dict[str, torch.Tensor]:
    objects = {name: torch.empty(shape) for name in COEFFICIENTS}
    for seed, tensor in enumerate(objects.values()):
        fill(tensor, 0.05, seed=seed)
    objects["permeability"] += 0.4
    objects["permittivity"] += 0.4
    objects["decay"] += 0.94
    return {**objects, **{f"{kind}{axis}": torch.zeros(shape) for kind in "eh" for axis in CURLS}}


def _run(store: Store) -> tuple[float, float]:
    for kind in "eh":
        for axis in CURLS:
            with store.window(f"start {kind}{axis}"):
                store.write(f"{kind}{axis}").zero_()
    for _ in range(STEPS):
        with store.window("source"):
            store.update("ez").add_(store["source"])
        for axis in CURLS:
            with store.window(f"magnetic {axis}"):
                change = _curl(store, "e", axis, shift=-1)
                change *= store["permeability"]
                store.update(f"h{axis}").sub_(change)
        for axis in CURLS:
            with store.window(f"electric {axis}"):
                change = _curl(store, "h", axis, shift=1)
                change *= store["permittivity"]
                store.update(f"e{axis}").mul_(store["decay"]).add_(change)
    with store.window("energy"):
        energies = [sum(float(store[f"{kind}{axis}"].square().sum()) for axis in CURLS) for kind in "eh"]
    return energies[0], energies[1]


def _curl(store: Store, kind: str, axis: str, *, shift: int) -> torch.Tensor:
    """With differences to the next cell (shift -1) or from the one before (shift 1)."""
    plus, along, minus, across = CURLS[axis]
    first, second = store[f"{kind}{plus}"], store[f"{kind}{minus}"]
    change = first.roll(shift, along).sub_(first)
    change -= second.roll(shift, across)
    change += second
    return change.mul_(-shift)
