"""Starting ranks with mpiexec: which one, and how it is called."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_MPI_PREFIXES = ("OMPI_", "PMIX_", "PRTE_", "PMI_", "PMI2_", "HYDRA_", "HYDI_", "MPIR_")


@dataclass(frozen=True, kw_only=True, slots=True)
class Mpiexec:
    path: str
    flavour: str
    """`openmpi`, `mpich` or `other`."""
    version: str
    ulfm: bool
    """Whether the death of a rank can be survived: Open MPI from version 5 on."""

    def command(self, num_ranks: int, program: list[str], hosts: Mapping[str, int] | None = None) -> list[str]:
        """How this mpiexec starts a program on so many ranks, `hosts` naming how many go where."""
        return [*self.prefix(survive=True), *self._where(hosts), "-n", str(num_ranks), *program]

    def prefix(self, survive: bool) -> list[str]:
        """The call up to the number of ranks. `survive`: the others go on when a rank dies, where that is to be had."""
        words = [self.path]
        if self.flavour == "openmpi":
            words += ["--with-ft", "ulfm"] if survive and self.ulfm else []
            words += ["--oversubscribe"]
        return words

    def _where(self, hosts: Mapping[str, int] | None) -> list[str]:
        if hosts is None:
            return []
        return ["--host" if self.flavour == "openmpi" else "-hosts", ",".join(f"{h}:{n}" for h, n in hosts.items())]

    def environment(self, base: Mapping[str, str], one_machine: bool) -> dict[str, str]:
        """The variables it needs, over those of `base`, which always win where the user has set them."""
        added: dict[str, str] = {}
        if self.flavour == "openmpi":
            if os.geteuid() == 0:
                added |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            added["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe"
            # Tasks of one rank and idle ranks must not be tied to one core, nor two busy ranks to the same one.
            added["PRTE_MCA_hwloc_default_binding_policy"] = "none"
            # A rank that waits must let another run when there are more ranks than cores.
            added["OMPI_MCA_mpi_yield_when_idle"] = "1"
            if self.ulfm:
                # These choose their algorithm by where the ranks are, on which old and new ranks do not agree.
                added["OMPI_MCA_coll"] = "^han,sm"
            if one_machine:
                # The search for a fast network takes a second, and finds none inside one machine.
                shared_memory = "vader" if self.version.startswith("4.") else "sm"  # one thing, renamed
                added |= {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": f"self,{shared_memory},tcp"}
                added["OMPI_MCA_btl_tcp_if_include"] = "lo"
        return added | dict(base)

    def folders(self, files: Path, memory: Path) -> dict[str, str]:
        """The variables that make this MPI leave its sockets and shared memory in these folders, and nowhere else."""
        if self.flavour != "openmpi":
            return {}
        shared_memory = "vader" if self.version.startswith("4.") else "sm"
        return {
            "PRTE_MCA_prte_tmpdir_base": str(files),
            "OMPI_MCA_orte_tmpdir_base": str(files),  # the same, before version 5
            f"OMPI_MCA_btl_{shared_memory}_backing_directory": str(memory),
        }


def find_mpiexec() -> Mpiexec | None:
    """The mpiexec beside this interpreter, which belongs to the same environment, else the first on the PATH."""
    beside = Path(sys.executable).parent / "mpiexec"
    path = str(beside) if os.access(beside, os.X_OK) else shutil.which("mpiexec")
    return None if path is None else _inspect(path)


def strip(environment: Mapping[str, str], keep: Mapping[str, str]) -> dict[str, str]:
    """Without the variables that a launcher put there for its own ranks; another mpiexec must not see them."""
    return {name: value for name, value in environment.items() if not name.startswith(_MPI_PREFIXES)} | dict(keep)


def mpi_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables by which a user steers MPI."""
    return {name: value for name, value in environment.items() if name.startswith(_MPI_PREFIXES)}


@cache
def _inspect(path: str) -> Mpiexec | None:
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    return read_version(path, said)


def read_version(path: str, said: str) -> Mpiexec:
    """From what `mpiexec --version` prints."""
    number = re.search(r"\d+\.\d+(\.\d+)?", said)
    version = number[0] if number else "unknown"
    if "Open MPI" in said or "OpenRTE" in said or "PRRTE" in said:
        return Mpiexec(path=path, flavour="openmpi", version=version, ulfm=int(version.split(".")[0] or 0) >= 5)
    if "HYDRA" in said or "MPICH" in said:
        return Mpiexec(path=path, flavour="mpich", version=version, ulfm=False)
    return Mpiexec(path=path, flavour="other", version=version, ulfm=False)
