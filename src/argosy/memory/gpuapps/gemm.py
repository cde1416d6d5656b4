"""C = A B and D = C E, in blocks of different sizes.

A kernel keeps tiles of the product in registers and reads each operand again for every tile across, so an operand in
slow memory costs its bytes many times over, and which of the two operands it is matters.
"""

from __future__ import annotations

import torch

from argosy.memory.gpuapps.filled import fill
from argosy.memory.store import Store
from argosy.memory.workload import Workload

NBYTES = 160 << 20
OUTER = (2, 1)
"""Rows of A, in units of a block."""
INNER = (1, 2)
"""Columns of A and rows of B."""
ACROSS = (1, 2)
"""Columns of B."""
UNITS = sum(OUTER) * sum(INNER) + sum(INNER) * sum(ACROSS) + sum(OUTER) * sum(ACROSS) + sum(ACROSS) + sum(OUTER)


def make(nbytes: int) -> Workload:
    """Returns, from each run, the norms of the blocks of D."""
    unit = max(16 * round((nbytes / 4 / UNITS) ** 0.5 / 16), 16)
    return Workload(name="gemm", objects=lambda: _objects(unit), run=_run)


def _objects(unit: int) -> dict[str, torch.Tensor]:
    operands = {
        **{f"a{i}{k}": (rows, columns) for i, rows in enumerate(OUTER) for k, columns in enumerate(INNER)},
        **{f"b{k}{j}": (rows, columns) for k, rows in enumerate(INNER) for j, columns in enumerate(ACROSS)},
        **{f"e{j}": (rows, 1) for j, rows in enumerate(ACROSS)},
    }
    results = {
        **{f"c{i}{j}": (rows, columns) for i, rows in enumerate(OUTER) for j, columns in enumerate(ACROSS)},
        **{f"d{i}": (rows, 1) for i, rows in enumerate(OUTER)},
    }
    objects = {name: torch.empty(rows * unit, columns * unit) for name, (rows, columns) in operands.items()}
    for seed, (name, matrix) in enumerate(objects.items()):
        fill(matrix, 1.0, seed=seed + ord(name[0]))
    return {**objects, **{name: torch.zeros(rows * unit, columns * unit) for name, (rows, columns) in results.items()}}


def _run(store: Store) -> tuple[float, ...]:
    for i in range(len(OUTER)):
        for j in range(len(ACROSS)):
            for k in range(len(INNER)):
                with store.window(f"c{i}{j} a{i}{k} b{k}{j}"):
                    _multiply(store, f"a{i}{k}", f"b{k}{j}", f"c{i}{j}", first=k == 0)
    for i in range(len(OUTER)):
        for j in range(len(ACROSS)):
            with store.window(f"d{i} c{i}{j} e{j}"):
                _multiply(store, f"c{i}{j}", f"e{j}", f"d{i}", first=j == 0)
    norms = []
    for i in range(len(OUTER)):
        with store.window(f"norm {i}"):
            norms.append(float(store[f"d{i}"].norm()))
    return tuple(norms)


def _multiply(store: Store, left: str, right: str, result: str, *, first: bool) -> None:
    if first:
        torch.mm(store[left], store[right], out=store.write(result))
    else:
        store.update(result).addmm_(store[left], store[right])
