"""The frame's operators in a program of your own, under mpiexec: each rank passes its own table and gets its own.

mpiexec -n 4 python examples/with_communicator.py
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from mpi4py import MPI

import argosy.frame
from argosy import col

comm = MPI.COMM_WORLD
draw = np.random.default_rng(comm.rank)
orders = pa.table({"customer": draw.integers(0, 100, 10_000), "amount": draw.integers(1, 50, 10_000)})
customers = pa.table({"customer": np.arange(comm.rank, 100, comm.size)})  # each rank knows some of them
customers = customers.append_column("country", pa.array([f"country {n.as_py() % 5}" for n in customers["customer"]]))

joined = argosy.frame.join(orders, customers, on="customer", comm=comm)
totals = argosy.frame.group_by(joined, "country", total=col("amount").sum(), orders=argosy.count(), comm=comm)
ordered = argosy.frame.sort(totals, "total", descending=True, comm=comm)  # rows of rank 0 come first

tables = comm.gather(ordered)
if tables is not None:
    for row in pa.concat_tables(tables).to_pylist():
        print(f"{row['country']}: {row['orders']} orders, {row['total']} in all")
