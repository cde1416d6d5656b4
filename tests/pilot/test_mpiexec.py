"""What an mpiexec is told, by its kind."""

from __future__ import annotations

import pytest

from argosy.pilot.launch.mpiexec import read_version


@pytest.mark.parametrize(
    ("said", "transport"),
    [("mpiexec (OpenRTE) 4.1.6", "self,vader,tcp"), ("mpiexec (Open MPI) 5.0.11", "self,sm,tcp")],
)
def test_shared_memory_has_another_name_in_open_mpi_4(said: str, transport: str) -> None:
    """With a name that it does not know, Open MPI finds no transport at all and no rank comes up."""
    assert read_version("mpiexec", said).environment({}, one_machine=True)["OMPI_MCA_btl"] == transport


def test_what_the_user_has_set_stays() -> None:
    mpiexec = read_version("mpiexec", "mpiexec (Open MPI) 5.0.11")
    assert mpiexec.environment({"OMPI_MCA_btl": "self,ofi"}, one_machine=True)["OMPI_MCA_btl"] == "self,ofi"
