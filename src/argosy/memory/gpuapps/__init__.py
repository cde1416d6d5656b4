"""Five programs for a GPU to try placements on: 10 to 18 objects each, over tensors of whichever device holds them.

gemv           the largest singular vector of a matrix in blocks of rows: each byte is read once or twice
gemm           a product of matrices in blocks: slow operands are read again for every tile
stencil        Maxwell's equations on a box: fields that read their neighbours
embedding      a recommender's tables and optimizer state: few rows of large objects
transformer    one training step by layers: weights, optimizer state, activations

`load(name).store(fast=Hbm(), slow=PinnedHost())` places them on a GPU; with `Ram()` and `Disk()` they run on the
processor. The same bits come out under every placement in the same two tiers. Single precision.
"""

from __future__ import annotations

from importlib import import_module

from argosy import arguments
from argosy.memory.workload import Workload
from argosy.units import parse_nbytes

APPS = ("gemv", "gemm", "stencil", "embedding", "transformer")


def load(name: str, nbytes: str | int | None = None) -> Workload:
    """The program of that name with about `nbytes` of objects, or as many as it takes to keep a large GPU busy."""
    if arguments.text("name", name) not in APPS:
        raise ValueError(f"there is no GPU mini-app {arguments.show(name)}; there are: {', '.join(APPS)}")
    try:
        module = import_module(f"argosy.memory.gpuapps.{name}")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ModuleNotFoundError(
            "the GPU mini-apps need torch, which is not installed; pip install 'argosy[train]'", name="torch"
        ) from error
    workload: Workload = module.make(module.NBYTES if nbytes is None else parse_nbytes(nbytes, "nbytes", least=1))
    return workload
