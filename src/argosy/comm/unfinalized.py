"""MPI that is not finalized when the interpreter ends: after a death that could wait for the dead."""

import mpi4py


def leave_unfinalized() -> None:
    """Call this before MPI is loaded. For the pilot's workers, which end MPI where that is safe (`mpi.leave`)."""
    mpi4py.rc.finalize = False
