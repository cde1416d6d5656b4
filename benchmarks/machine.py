"""The machine and the versions a figure was taken with.

    python benchmarks/machine.py [--json]

Every benchmark prints them first.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

from children import environment, mpiexec

PACKAGES = (
    *("argosy", "numpy", "pyarrow", "numba", "mpi4py", "openmpi", "pyzmq", "cloudpickle", "torch"),
    *("ray", "dask", "distributed", "parsl", "radical.pilot", "polars", "duckdb", "pandas", "jax"),
)
"""What figures may depend on. Those that are not installed are left out."""


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def describe() -> dict[str, object]:
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "load": round(os.getloadavg()[0], 2),
        "gpus": _gpus(),
        "mpi": _first_line([mpiexec(), "--version"]),
        "versions": versions(),
    }


def text() -> str:
    """One paragraph, for the head of a benchmark's output."""
    facts = describe()
    named = ", ".join(f"{name} {version}" for name, version in versions().items())
    gpus = ", ".join(_gpus()) or "no GPU"
    return (
        f"machine: {facts['processor']}, {facts['cores']} cores, {facts['memory_gib']} GiB, {gpus}, {facts['system']}; "
        f"load before the start {facts['load']}\n"
        f"with: {facts['mpi']}; {named}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _gpus() -> list[str]:
    if shutil.which("nvidia-smi") is None:
        return []
    return _output(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]).splitlines()


def _first_line(command: list[str]) -> str:
    return next(iter(_output(command).splitlines()), f"no {Path(command[0]).name}")


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, env=environment(), check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    print(json.dumps(describe(), indent=1) if parser.parse_args().json else text())
