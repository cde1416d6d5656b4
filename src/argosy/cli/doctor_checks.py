"""What `argosy doctor` looks at: each check returns one finding and raises nothing."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from argosy.pilot.folder import runs_folder
from argosy.pilot.launch.mpiexec import Mpiexec, find_mpiexec
from argosy.resources.discover.memory import available_nbytes, memory_nbytes
from argosy.units import format_nbytes

GIB = 1024**3
MPI_TIMEOUT_SECONDS = 30
TWO_RANKS = """
from mpi4py import MPI
size = MPI.COMM_WORLD.allreduce(1)
try:
    MPI.COMM_WORLD.Get_failed()
    faults = "ulfm"
except (MPI.Exception, NotImplementedError):
    faults = "plain"
print("size", size, faults, flush=True)
"""
GET_MPI = "pip install 'argosy[mpi]' (Open MPI 5 as a wheel), or load your site's MPI module"


class Mark(StrEnum):
    OK = "ok"
    WARN = "warn"
    """It works, with a limit."""
    MISSING = "missing"
    """No pilot starts without it."""


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    mark: Mark
    found: str
    todo: str = ""
    """What to do about it, where there is something to do."""


def examine() -> list[Finding]:
    """All findings, in the order in which a person would look. Starts two ranks under mpiexec: a second or two."""
    mpiexec = find_mpiexec()
    runs = runs_folder()
    return [
        check_python(sys.version_info[:3]),
        check_mpiexec(mpiexec),
        check_mpi4py(mpiexec),
        check_cores(),
        check_memory(),
        check_gpus(),
        check_scheduler(os.environ, shutil.which),
        check_runs_folder(runs),
        check_free_disk("disk of runs", runs),
        check_free_disk("temporary files", Path(tempfile.gettempdir())),
        check_shared_memory(Path("/dev/shm")),
    ]


def check_python(version: tuple[int, ...]) -> Finding:
    found = ".".join(map(str, version))
    if version < (3, 11):
        return Finding("Python", Mark.MISSING, found, "argosy needs Python 3.11 or newer")
    return Finding("Python", Mark.OK, f"{found} ({sys.executable})")


def check_mpiexec(mpiexec: Mpiexec | None) -> Finding:
    if mpiexec is None:
        return Finding("mpiexec", Mark.MISSING, "none beside this Python and none on PATH", GET_MPI)
    found = f"{mpiexec.flavour} {mpiexec.version} ({mpiexec.path})"
    if not mpiexec.ulfm:
        return Finding("mpiexec", Mark.WARN, f"{found}, no ULFM: a lost rank restarts all ranks", GET_MPI)
    return Finding("mpiexec", Mark.OK, f"{found}, ULFM: a lost rank costs one task")


def check_mpi4py(mpiexec: Mpiexec | None) -> Finding:
    """Really start two ranks: an mpi4py built for another MPI gives two worlds of one."""
    try:
        version = importlib.metadata.version("mpi4py")
    except importlib.metadata.PackageNotFoundError:
        return Finding("mpi4py", Mark.MISSING, "not installed", "pip install mpi4py")
    if mpiexec is None:
        return Finding("mpi4py", Mark.MISSING, f"{version}, but no mpiexec to start it with", GET_MPI)
    return judge_mpi4py(version, mpiexec.ulfm, *_two_ranks(mpiexec))


def judge_mpi4py(version: str, ulfm: bool, status: int | None, output: str) -> Finding:
    """What the two ranks said. No status: they did not come back in time. `ulfm`: mpiexec has it."""
    if status is None:
        todo = f"run it by hand: mpiexec -n 2 {sys.executable} -c 'from mpi4py import MPI'"
        return Finding("mpi4py", Mark.MISSING, f"{version}: two ranks hung for {MPI_TIMEOUT_SECONDS} s", todo)
    said = [line.split()[1:] for line in output.splitlines() if line.startswith("size ")]
    if status == 0 and ulfm and said == [["2", "plain"], ["2", "plain"]]:
        found = f"{version}, two ranks met, but its MPI library has no ULFM: a lost rank restarts all ranks"
        return Finding("mpi4py", Mark.WARN, found, GET_MPI)
    if status == 0 and [words[0] for words in said] == ["2", "2"]:
        return Finding("mpi4py", Mark.OK, f"{version}, two ranks met")
    if said and all(words[0] == "1" for words in said):
        todo = f"mpi4py is loading another MPI than this mpiexec; have one of the two only: {GET_MPI}"
        return Finding("mpi4py", Mark.MISSING, f"{version}: two ranks were started, each alone in its world", todo)
    last = next((line for line in reversed(output.splitlines()) if line.strip(" -*")), "nothing was printed")
    return Finding("mpi4py", Mark.MISSING, f"{version}: two ranks ended with status {status}: {last.strip()}", GET_MPI)


def _two_ranks(mpiexec: Mpiexec) -> tuple[int | None, str]:
    """Status and output of two ranks, started as a pilot starts its own."""
    command = mpiexec.command(2, [sys.executable, "-c", TWO_RANKS])
    env = mpiexec.environment(os.environ, one_machine=True)
    try:
        ranks = subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except OSError as error:
        return 127, str(error)
    with ranks:
        try:
            output, _ = ranks.communicate(timeout=MPI_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            ranks.terminate()  # not kill: mpiexec takes its ranks along
            return None, ""
    return ranks.returncode, output


def check_cores() -> Finding:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    total = os.cpu_count() or usable
    found = f"{usable}" if usable == total else f"{usable} of {total} usable by this process"
    return Finding("cores", Mark.OK, f"{found} ({platform.machine()})")


def check_memory() -> Finding:
    available = available_nbytes()
    found = f"{format_nbytes(memory_nbytes())}, {format_nbytes(available)} available"
    if available < GIB:
        return Finding("memory", Mark.WARN, found, "each rank is a Python process of its own; end something else")
    return Finding("memory", Mark.OK, found)


def check_gpus() -> Finding:
    program = shutil.which("nvidia-smi")
    if program is None:
        return Finding("GPUs", Mark.OK, "none (no nvidia-smi on PATH)")
    query = [program, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("GPUs", Mark.WARN, f"nvidia-smi does not answer: {error}", "check the driver")
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip().splitlines()
        return Finding("GPUs", Mark.WARN, f"nvidia-smi fails: {said[0] if said else 'no message'}", "check the driver")
    gpus = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    return Finding("GPUs", Mark.OK, f"{len(gpus)}: {'; '.join(dict.fromkeys(gpus))}" if gpus else "none")


def check_scheduler(env: Mapping[str, str], which: Callable[[str], str | None]) -> Finding:
    if job := env.get("SLURM_JOB_ID"):
        nodes = env.get("SLURM_JOB_NUM_NODES", "?")
        return Finding("scheduler", Mark.OK, f"inside Slurm job {job} on {nodes} node(s): a pilot uses the job")
    if sbatch := which("sbatch"):
        return Finding("scheduler", Mark.OK, f"Slurm ({sbatch}), not inside a job: a pilot uses this machine")
    return Finding("scheduler", Mark.OK, "none: a pilot uses this machine")


def check_runs_folder(runs: Path) -> Finding:
    """Write there, as a pilot will."""
    try:
        runs.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=runs, prefix=".doctor-") as file:
            file.write(b"1")
            file.flush()
    except OSError as error:
        todo = "set ARGOSY_RUNS to a folder that you can write to"
        return Finding("runs folder", Mark.MISSING, f"{runs}: {error.strerror or error}", todo)
    return Finding("runs folder", Mark.OK, f"{runs} can be written to")


def check_free_disk(what: str, folder: Path) -> Finding:
    there = next((parent for parent in (folder, *folder.parents) if parent.exists()), Path("/"))
    free = shutil.disk_usage(there).free
    found = f"{format_nbytes(free)} free ({folder})"
    if free < GIB:
        return Finding(what, Mark.WARN, found, "make room: less than 1 GiB is left")
    return Finding(what, Mark.OK, found)


def check_shared_memory(folder: Path) -> Finding:
    """MPI moves messages between the ranks of one machine through it."""
    if not folder.is_dir():
        return Finding("shared memory", Mark.WARN, f"no {folder}", "mount a tmpfs: local messages are slow without")
    total = shutil.disk_usage(folder).total
    found = f"{format_nbytes(total)} ({folder})"
    if total < GIB // 4:
        return Finding("shared memory", Mark.WARN, found, "in a container: start it with --shm-size=1g or more")
    return Finding("shared memory", Mark.OK, found)
