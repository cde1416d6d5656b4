"""Programs as tasks: `pilot.submit(argosy.Executable(["./solver", "in.dat"]), ranks=4)`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from argosy import arguments
from argosy.errors import ExecutableFailed
from argosy.pilot import private
from argosy.pilot.launch import placed
from argosy.pilot.launch.mpiexec import strip
from argosy.pilot.processes import die_with_parent
from argosy.pilot.settings import Settings
from argosy.pilot.start import StartMessage
from argosy.pilot.worker.bound import processors
from argosy.pilot.worker.context import Context, current
from argosy.resources.discover.gpus import VARIABLE as VISIBLE_GPUS

_TAIL_NBYTES = 2000
_WORDS = "a list of words, like ['./solver', 'in.dat']"


@dataclass(frozen=True, slots=True)
class Executable:
    """A program and its arguments. No shell sees them."""

    command: Sequence[str | os.PathLike[str]]
    mpi: bool | None = None
    """Whether one mpiexec starts it on all ranks of the task. Unless told, that is so when there are several. With
    `mpi=False` each rank runs a copy of its own, with ARGOSY_RANK and ARGOSY_NUM_RANKS in its environment."""
    folder: str | os.PathLike[str] | None = None
    """Where it runs; unless told, where the pilot was started."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to the pilot's own."""
    check: bool = True
    """A status other than 0 raises `ExecutableFailed`."""

    def __post_init__(self) -> None:
        if not isinstance(self.command, Sequence):
            raise TypeError(f"command must be {_WORDS}, not {arguments.show(self.command)}")
        if not self.command or isinstance(self.command, str | bytes):
            raise ValueError(f"command must be {_WORDS}, not {arguments.show(self.command)}")
        for at, word in enumerate(self.command):
            _check_text(f"command[{at}]", word, "a path or a word")
        if not os.fspath(self.command[0]):
            raise ValueError("command[0] must be the name of a program, not ''")
        if self.mpi is not None:
            arguments.flag("mpi", self.mpi)
        if self.folder is not None:
            arguments.path("folder", self.folder)
        if not isinstance(self.environment, Mapping):
            raise TypeError(f"environment must be a dictionary of strings, not {arguments.show(self.environment)}")
        for name, value in self.environment.items():
            _check_text(f"a name in environment ({arguments.show(name)})", name, "a string")
            if not name or "=" in name:
                raise ValueError(f"environment: {arguments.show(name)} is no name of a variable")
            _check_text(f"environment[{arguments.show(name)}]", value, "a string")
        arguments.flag("check", self.check)

    def __str__(self) -> str:
        return Path(self.command[0]).name


def _check_text(name: str, value: object, wanted: str) -> None:
    """What a program can be given: characters, and no null among them."""
    given = os.fspath(value) if isinstance(value, os.PathLike) and "path" in wanted else value
    if not isinstance(given, str):
        raise TypeError(f"{name} must be {wanted}, not {arguments.show(value)}")
    if "\0" in given:
        raise ValueError(f"{name} must be {wanted} without a null character, not {arguments.show(value)}")


@dataclass(frozen=True, slots=True)
class Completed:
    """A program that has ended. What it printed is kept in files of the run's folder."""

    command: tuple[str, ...]
    returncode: int
    stdout_path: Path
    stderr_path: Path

    @property
    def stdout(self) -> str:
        return self.stdout_path.read_text(errors="replace")

    @property
    def stderr(self) -> str:
        return self.stderr_path.read_text(errors="replace")


def run_executable(executable: Executable) -> Completed | None:
    """Runs as the task's function on each of its ranks. Where one mpiexec serves all, the first rank starts it."""
    start = current().start
    settings = Settings.load(current().folder)
    program = [os.fspath(word) for word in executable.command]
    under_mpiexec = executable.mpi if executable.mpi is not None else len(start.ranks) > 1
    environment = strip(os.environ, settings.environment) | dict(executable.environment)
    if under_mpiexec:
        if start.position > 0:
            return None
        if start.nbytes and (allowance := current().allowance) is not None:
            allowance.widen(len(start.ranks))
        program = [
            *settings.mpiexec,
            *_where(start),
            "-n",
            str(len(start.ranks)),
            *_placed(start, executable),
            *program,
        ]
        environment |= settings.mpiexec_environment
    else:
        environment |= {"ARGOSY_RANK": str(start.position), "ARGOSY_NUM_RANKS": str(len(start.ranks))}
    _check_found(executable, environment)
    return _run(program, executable, environment, current())


def _where(start: StartMessage) -> list[str]:
    counts = {host: start.hosts.count(host) for host in start.hosts}
    return ["--host", ",".join(f"{host}:{count}" for host, count in counts.items())] if len(counts) > 1 else []


def _placed(start: StartMessage, executable: Executable) -> list[str]:
    """What goes before the program, so that each of its ranks has its own GPUs and cores, and not the first rank's."""
    asked_gpus = bool(start.gpus) and VISIBLE_GPUS not in executable.environment
    if not asked_gpus and not start.cores:
        return []
    ranks = range(len(start.ranks))
    gpus = [",".join(start.gpus[rank]) if asked_gpus else None for rank in ranks]
    cpus = [processors(start.cores[rank]) if start.cores else [] for rank in ranks]
    return [sys.executable, "-I", "-S", placed.__file__, json.dumps(list(zip(gpus, cpus, strict=True)))]


def _check_found(executable: Executable, environment: Mapping[str, str]) -> None:
    name = os.fspath(executable.command[0])
    folder = Path(executable.folder or ".")
    found = (folder / name).exists() if "/" in name else shutil.which(name, path=environment.get("PATH")) is not None
    if not found:
        raise FileNotFoundError(
            f"there is no program {name!r} {'in ' + str(folder.resolve()) if '/' in name else 'on the PATH'}"
        )


def _run(program: list[str], executable: Executable, environment: Mapping[str, str], context: Context) -> Completed:
    start = context.start
    stem = context.folder / "programs" / f"task-{start.task}-{start.attempt}"
    if start.position > 0:
        stem = stem.with_name(f"{stem.name}-{start.position}")
    stdout, stderr = stem.with_name(f"{stem.name}.out"), stem.with_name(f"{stem.name}.err")
    with open(stdout, "wb", opener=private.opener) as out, open(stderr, "wb", opener=private.opener) as err:
        process = subprocess.Popen(
            program,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=executable.folder,
            env=environment,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
        try:
            returncode = process.wait()
        except BaseException:
            _end_group(process)
            raise
    if returncode != 0 and executable.check:
        raise ExecutableFailed([os.fspath(word) for word in executable.command], returncode, _tail(stderr), str(stderr))
    return Completed(tuple(os.fspath(word) for word in executable.command), returncode, stdout, stderr)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """The program and what it started in its session; mpiexec passes SIGTERM on to its ranks."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=1)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_NBYTES))
        return file.read().decode(errors="replace").strip()
