"""What reading and writing files loads."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
from argosy.frame.io import assign, csv, find, ipc, json, parquet, write
print(sorted({name.split(".")[0] for name in sys.modules} & {"mpi4py", "torch", "numba", "pandas", "polars", "duckdb"}))
"""


def test_reading_and_writing_files_loads_no_heavy_package() -> None:
    ran = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
