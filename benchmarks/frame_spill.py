"""A sort of far more than there is memory for, from files to files."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from figures import Figure, Options
from frame_peak import Peak

import argosy
from argosy.bench.digest import digest
from argosy.units import parse_nbytes

RANKS = 2
PROMISE = "1GiB"
_ROWS_PER_FILE = 6_250_000
_NBYTES_PER_ROW = 16
_WORD = 1 << 64


def spill(options: Options) -> list[Figure]:
    """A Parquet dataset of 4 GB sorted into another one by ranks that have 1 GiB together."""
    num_files = options.count(40, 12)
    with tempfile.TemporaryDirectory(prefix="argosy-spill-") as name:
        folder = Path(name)
        _require_disk(folder, 4 * num_files * _ROWS_PER_FILE * _NBYTES_PER_ROW)
        given = _make(folder / "in", num_files)
        begin = time.perf_counter()
        with argosy.Pilot(ranks=RANKS, memory=PROMISE, name="spill") as pilot, Peak(pilot) as peak:
            argosy.read_parquet(folder / "in").sort("k").write_parquet(folder / "out")
        seconds = time.perf_counter() - begin
        found, in_order = _examine(folder / "out")
        nbytes = sum(path.stat().st_size for path in (folder / "in").iterdir())
    what = f"sort of {nbytes / 1e9:.2g} GB of Parquet with {PROMISE}, {RANKS} ranks"
    promised = parse_nbytes(PROMISE)
    return [
        Figure(what=f"{what}, start to end", value=seconds, unit="s"),
        Figure(what="rows of the output / rows of the input", value=found[0] / given[0], at_least=1.0, at_most=1.0),
        Figure(what="the output has the same rows (1: yes)", value=float(found == given), at_least=1.0),
        Figure(what="the output is in order (1: yes)", value=float(in_order), at_least=1.0),
        Figure(what="peak of all ranks / promise", value=peak.high_water / promised, unit="x", at_most=1.3),
        Figure(what="peak of all ranks / promise, sampled", value=peak.sampled / promised, unit="x"),
    ]


def _make(folder: Path, num_files: int) -> tuple[int, int]:
    """Files of keys and values that do not compress; their rows and digest."""
    folder.mkdir()
    num_rows = total = 0
    for number in range(num_files):
        rng = np.random.default_rng(number)
        keys, values = (rng.integers(-(2**62), 2**62, _ROWS_PER_FILE) for _ in range(2))
        table = pa.table({"k": keys, "v": values})
        pq.write_table(table, folder / f"{number:03d}.parquet", compression="none", use_dictionary=False)
        rows, part = digest(table)
        num_rows, total = num_rows + rows, (total + part) % _WORD
    return num_rows, total


def _examine(folder: Path) -> tuple[tuple[int, int], bool]:
    """Rows and digest of all files, and whether they are in order from the first to the last."""
    num_rows = total = 0
    last, in_order = -(2**63), True
    for path in sorted(folder.glob("*.parquet")):
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches():
                table = pa.Table.from_batches([batch])
                rows, part = digest(table)
                num_rows, total = num_rows + rows, (total + part) % _WORD
                keys = batch.column(0).to_numpy()
                if len(keys):
                    in_order &= bool(keys[0] >= last and (keys[1:] >= keys[:-1]).all())
                    last = int(keys[-1])
    return (num_rows, total), in_order


def _require_disk(folder: Path, nbytes: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < nbytes:
        raise argosy.errors.DiskFull(
            f"input, spill and output need {nbytes / 1e9:.0f} GB below {folder}, which has {free / 1e9:.0f} GB free; "
            "point TMPDIR and ARGOSY_SPILL to a larger disk"
        )
