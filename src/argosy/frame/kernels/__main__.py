"""`python -m argosy.frame.kernels WORKERS INDEX`: compile every WORKERS-th kernel, a line for each one done."""

from __future__ import annotations

import sys

from argosy.frame.kernels import aggregate, group, hashing, join, partition, rows, sort, take
from argosy.frame.kernels.compile import compile_shape, shapes

ALL = (aggregate, group, hashing, join, partition, rows, sort, take)


def main() -> None:
    workers, index = int(sys.argv[1]), int(sys.argv[2])
    names = sorted({name for name, _ in shapes()})
    mine = [shape for shape in shapes() if names.index(shape[0]) % workers == index]
    print(len(mine), flush=True)
    for name, signature in mine:
        compile_shape(name, signature)
        print(name, flush=True)


if __name__ == "__main__":
    main()
