"""Compiles `interposer.c` for this machine, and reads what it tells while the program runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from argosy.memory.program.events import Event, parse_event


class CannotCompile(Exception):
    """Says why. The caller goes on without names."""


def compile_into(folder: Path) -> Path:
    """The interposer as a shared library in this folder; takes about a fifth of a second."""
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CC", "cc"), "cc", "gcc", "clang"))), None)
    if compiler is None:
        raise CannotCompile("there is no C compiler (cc)")
    source, library = folder / "interposer.c", folder / "interposer.so"
    source.write_bytes(files("argosy.memory.program").joinpath("interposer.c").read_bytes())
    command = [compiler, "-O1", "-fPIC", "-shared", "-o", str(library), str(source), "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotCompile(f"{compiler} could not compile the interposer: {done.stderr.strip().splitlines()[-1:]}")
    return library


def environment(library: Path, events: Path, program: str) -> dict[str, str]:
    """Of a process that shall tell of its allocations. `program` is the real path of what runs in the end."""
    before = os.environ.get("LD_PRELOAD")
    return os.environ | {
        "LD_PRELOAD": f"{library}:{before}" if before else str(library),
        "ARGOSY_EVENTS": str(events),
        "ARGOSY_PROGRAM": program,
    }


def read_events(path: Path) -> Iterator[Event | None]:
    """The events in a file that still grows; None where there is no whole line more for now."""
    with path.open(encoding="utf-8", errors="surrogateescape") as file:
        rest = ""
        while True:
            rest += file.readline()
            if rest.endswith("\n"):
                yield parse_event(rest)
                rest = ""
            else:
                yield None
