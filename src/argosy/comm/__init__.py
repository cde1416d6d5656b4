"""Ranks that move together. The only package that imports mpi4py.

MPI is not finalized when the interpreter ends: after a death that could wait for the dead (see `mpi.leave`).
"""

import mpi4py

mpi4py.rc.finalize = False
