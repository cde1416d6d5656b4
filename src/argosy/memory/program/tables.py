"""Traces from tables of sampled accesses: timestamp, address and, if there is one, phase."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from argosy import arguments
from argosy.errors import BadTrace
from argosy.memory.program.events import Objects
from argosy.memory.program.result import FIXED, ProgramTrace, windows_of
from argosy.memory.program.sampled import LINE_NBYTES, Samples, cut_by_phase, cut_by_time, trace_samples


def from_table(
    table_or_path: pa.Table | str | Path,
    objects: Mapping[str, tuple[int, int]] | None = None,
    windows: int = 50,
    *,
    seconds_per_tick: float = 1.0,
) -> ProgramTrace:
    """A trace from a table, a CSV file or a Parquet file with columns `timestamp`, `address` and perhaps `phase`.

    Upper and lower case of the names do not matter. Windows are stretches of one phase, or else equal slices of time.
    `objects` maps names to (address, nbytes); without it, pages that lie together are objects. Numbers in `timestamp`
    are in units of `seconds_per_tick`; Arrow's own timestamps and durations know theirs.
    """
    windows = windows_of(windows)
    seconds_per_tick = arguments.number("seconds_per_tick", seconds_per_tick, above=0)
    table, program = _read(table_or_path)
    columns = {name.lower(): name for name in table.column_names}
    for wanted in ("timestamp", "address"):
        if wanted not in columns:
            there = ", ".join(table.column_names) or "none"
            raise BadTrace(f"{program} has no column {wanted!r}; its columns are: {there}")
    if not table.num_rows:
        raise BadTrace(f"{program} is empty: it has columns, but no sample")
    seconds = _seconds(table[columns["timestamp"]], seconds_per_tick)
    addresses = _addresses(table[columns["address"]])
    kept = np.flatnonzero(addresses < 1 << 63)
    if not len(kept):
        raise BadTrace(f"every address in {program} is one of the kernel's; sample the program's own accesses")
    order = kept[np.argsort(seconds[kept], kind="stable")]
    notes = [f"each of the {len(order)} samples counts as a read of {LINE_NBYTES} bytes; only shares mean something"]
    if len(order) < len(addresses):
        notes.append(f"{len(addresses) - len(order)} samples at addresses of the kernel are left out")
    place = addresses[order].astype(np.int64)
    samples = Samples(seconds[order], place, np.zeros(len(order), bool))
    if "phase" in columns:
        phases = ["no phase" if each is None else str(each) for each in table[columns["phase"]].take(order).to_pylist()]
        cut = cut_by_phase(samples.seconds, phases)
    else:
        cut = cut_by_time(samples.seconds, windows)
    if objects is None:
        notes.append("nobody told of allocations: pages that lie together are one object")
        trace, heat = trace_samples(program, samples, cut)
    else:
        named = _named(objects)
        names = [each.name or "" for each in named.found]
        sizes = [each.peak_nbytes for each in named.found]
        trace, heat = trace_samples(program, samples, cut, named.locate(place), names, sizes)
    return ProgramTrace(trace=trace, heat=heat, source="table", notes=tuple(notes))


def _read(table_or_path: pa.Table | str | Path) -> tuple[pa.Table, str]:
    if isinstance(table_or_path, pa.Table):
        return table_or_path, "this table"
    path = Path(arguments.path("table_or_path", table_or_path))
    if not os.path.isfile(path):  # noqa: PTH113 - a name too long is no file
        raise BadTrace(f"there is no table {arguments.show(str(path), 300)}")
    try:
        table = pa.csv.read_csv(path) if path.suffix.lower() == ".csv" else pa.parquet.read_table(path)
    except pa.ArrowInvalid as error:
        raise BadTrace(
            f"{path} cannot be read as {'CSV' if path.suffix.lower() == '.csv' else 'Parquet'}: {error}"
        ) from None
    return table, path.name


def _seconds(column: pa.ChunkedArray, seconds_per_tick: float) -> NDArray[np.float64]:
    if column.null_count:
        raise BadTrace(f"{column.null_count} samples have no timestamp; drop these rows")
    if pa.types.is_timestamp(column.type) or pa.types.is_duration(column.type):
        ticks = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[column.type.unit]
        whole = column.cast(pa.int64()).to_numpy()
        return np.asarray((whole - whole.min()) * ticks, np.float64)  # exact before it becomes a fraction
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise BadTrace(f"timestamps are numbers or times, not {column.type}")
    seconds = np.asarray(column.to_numpy(), np.float64) * seconds_per_tick
    if not np.isfinite(seconds).all():
        raise BadTrace("some timestamps are not finite numbers; drop these rows")
    return seconds


def _addresses(column: pa.ChunkedArray) -> NDArray[np.uint64]:
    if column.null_count:
        raise BadTrace(f"{column.null_count} samples have no address; drop these rows")
    if pa.types.is_integer(column.type):
        return column.to_numpy().astype(np.uint64)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        raise BadTrace(f"addresses are whole numbers or hexadecimal text, not {column.type}")
    try:
        return np.array([int(text, 16) for text in pc.utf8_trim_whitespace(column).to_pylist()], np.uint64)
    except (ValueError, OverflowError) as error:
        raise BadTrace(f"not an address: {error}; write them as whole numbers or like 0x7f3a10") from None


def _span(name: str, given: tuple[int, int]) -> tuple[int, int]:
    wanted = "(address, nbytes)"
    parts = arguments.items(name, given, wanted)
    if len(parts) != 2:
        raise ValueError(f"{name} must be {wanted}, not {arguments.show(given)}")
    address, nbytes = (arguments.whole(name, one, least=0, most=2**63 - 1, wanted=wanted) for one in parts)
    return address, nbytes


def _named(given: Mapping[str, tuple[int, int]]) -> Objects:
    given = {
        arguments.text("a name in objects", name): _span(f"objects[{arguments.show(name)}]", span)
        for name, span in arguments.mapping("objects", given, "a dictionary from names to (address, nbytes)").items()
    }
    spans = sorted((address, address + nbytes, name) for name, (address, nbytes) in given.items())
    for (_, end, name), (begin, _, other) in pairwise(spans):
        if begin < end:
            raise BadTrace(f"the objects {name!r} and {other!r} overlap at {begin:#x}; give each byte to one object")
    objects = Objects()
    for name, (address, nbytes) in given.items():
        if name in FIXED:
            raise BadTrace(f"no object can be called {name!r}: that is what belongs to no object; choose another name")
        objects.add_named(name, address, nbytes)
    return objects
