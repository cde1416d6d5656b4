"""What the pilot's workers need of MPI itself."""

from __future__ import annotations

import re
import traceback

from mpi4py import MPI

from argosy.errors import causes

MPIError = MPI.Exception
Communicator = MPI.Intracomm
AnyCommunicator = MPI.Comm
_MAKING = re.compile(r"Commctx|Dup|dup|Create|Split|Merge|Spawn|Accept|Connect|Clone")
_PEER_ERRORS = (MPI.ERR_PROC_FAILED, MPI.ERR_PROC_FAILED_PENDING, MPI.ERR_REVOKED)


def library() -> str:
    """`Open MPI 5.0.11`, `MPICH 4.3.2`: name and version of the library that is loaded."""
    name, numbers = MPI.get_vendor()
    return f"{name} {'.'.join(str(number) for number in numbers)}"


def node_name() -> str:
    return MPI.Get_processor_name()


def own_communicator() -> MPI.Intracomm:
    """A communicator of this rank alone, its own each time."""
    comm = MPI.COMM_SELF.Dup()
    comm.Set_errhandler(MPI.ERRORS_RETURN)
    return comm


def duplicate(comm: MPI.Intracomm, survive: bool) -> MPI.Intracomm:
    """A copy for one task. All ranks must call it.

    With `survive`, mpi4py makes the second communicator that it needs for `allreduce` and its like now, and not when
    the task first calls one of them: should a peer die then, the process would be unfit (see `left_while_making`).
    """
    copy = comm.Dup()
    copy.Set_errhandler(MPI.ERRORS_RETURN)
    if survive:
        copy.allreduce(None, op=_first)
    return copy


def _first(one: None, _other: None) -> None:
    return one


def revoke(comm: MPI.Comm) -> None:
    """Make every pending and later call on this communicator fail, on all of its ranks. Needs ULFM. From any thread."""
    if comm != MPI.COMM_NULL:
        comm.Revoke()


def free(comm: MPI.Comm) -> None:
    """Unless its user has freed it, or it was revoked."""
    if comm != MPI.COMM_NULL and not is_revoked(comm):
        comm.Free()


def is_revoked(comm: MPI.Comm) -> bool:
    """Always False where the library knows nothing of revoking."""
    try:
        return comm.Is_revoked()
    except (NotImplementedError, MPI.Exception):
        return False


def lost_peers(error: BaseException | None, comm: MPI.Comm | None = None) -> bool:
    """Whether an error comes of a peer that died or left, so that somebody else is to blame.

    Open MPI does not always say so: when a peer dies a collective may end with `MPI_ERR_OTHER`, a wait with
    `MPI_ERR_IN_STATUS`, and an `allgather` with bytes that nobody sent, which then cannot be unpickled. So any error
    counts once the communicator has lost a rank or another one has revoked it.
    """
    if comm is not None and comm != MPI.COMM_NULL and (is_revoked(comm) or _has_lost(comm)):
        return True
    return any(isinstance(one, MPI.Exception) and one.Get_error_class() in _PEER_ERRORS for one in causes(error))


def _has_lost(comm: MPI.Comm) -> bool:
    """Whether this process knows of a rank of the communicator that died."""
    try:
        lost = comm.Get_failed()
    except (NotImplementedError, MPI.Exception):
        return False
    size = lost.size
    lost.Free()
    return size > 0


def left_while_making(error: BaseException) -> bool:
    """Whether it comes of a call that was making a communicator: one of the user's, or mpi4py's own inside `allreduce`.

    Open MPI never gives back the turn of a communicator that was left half made: the next one in this process hangs.
    """
    names = (frame.name for frame in traceback.extract_tb(error.__traceback__) if "mpi4py" in frame.name)
    return any(_MAKING.search(name) for name in names)


def world_rank() -> int:
    return MPI.COMM_WORLD.rank


def leave(clean: bool) -> None:
    """End MPI before the process ends. After a death (not `clean`) that could wait for the dead, so it is left out."""
    if clean:
        MPI.Finalize()
