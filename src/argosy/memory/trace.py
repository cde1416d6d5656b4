"""What a run touched: one Arrow schema for every source, from marked windows to a whole program under valgrind.

One row for each object that a window touched; a window that touched none has one row without an object. `step` counts
the windows in the order of time, `window` says what kind it was, `seconds` is the whole window's time in each of its
rows. The metadata of the schema say of which program the trace is, and how large each object was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
from numpy.typing import NDArray

from argosy import arguments
from argosy.errors import BadTrace

SCHEMA = pa.schema(
    [
        pa.field("step", pa.int64(), nullable=False),
        pa.field("window", pa.string(), nullable=False),
        pa.field("object", pa.string()),
        pa.field("bytes_read", pa.int64(), nullable=False),
        pa.field("bytes_written", pa.int64(), nullable=False),
        pa.field("seconds", pa.float64(), nullable=False),
        pa.field("tier", pa.string()),
    ]
)
_META = b"argosy.memory.trace"


@dataclass(frozen=True, kw_only=True, slots=True)
class Touch:
    """What one window did to one object."""

    object: str
    bytes_read: int = 0
    bytes_written: int = 0
    tier: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """One occurrence: what ran, for how long, and what it touched."""

    name: str
    seconds: float
    touches: tuple[Touch, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """The windows of one run, in the order of time."""

    program: str
    sizes: Mapping[str, int]
    """Bytes of each object, also of those that no window touched."""
    windows: tuple[Window, ...]

    @property
    def objects(self) -> tuple[str, ...]:
        return tuple(self.sizes)

    @property
    def seconds(self) -> float:
        """Of all windows together."""
        return sum(window.seconds for window in self.windows)

    def to_arrow(self) -> pa.Table:
        rows = [
            (step, window.name, touch.object, touch.bytes_read, touch.bytes_written, window.seconds, touch.tier)
            if touch is not None
            else (step, window.name, None, 0, 0, window.seconds, None)
            for step, window in enumerate(self.windows)
            for touch in (window.touches or (None,))
        ]
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(SCHEMA)
        meta = {_META: json.dumps({"program": self.program, "sizes": dict(self.sizes)}).encode()}
        schema = SCHEMA.with_metadata(meta)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
        return pa.Table.from_arrays(arrays, schema=schema)

    @staticmethod
    def from_arrow(table: pa.Table) -> Trace:
        """Raises `BadTrace` for a table that is not a trace, or has no rows."""
        arguments.instance("table", table, pa.Table, "a pyarrow.Table that is a trace")
        missing = [field.name for field in SCHEMA if field.name not in table.column_names]
        if missing:
            raise BadTrace(f"this table is not a trace: it has no column {', '.join(map(repr, missing))}")
        meta = json.loads((table.schema.metadata or {}).get(_META, b"{}"))
        sizes: dict[str, int] = dict(meta.get("sizes", {}))
        windows: list[Window] = []
        at: int | None = None
        for row in table.select(SCHEMA.names).to_pylist():
            if row["step"] != at:
                at = row["step"]
                windows.append(Window(name=row["window"], seconds=row["seconds"]))
            if row["object"] is not None:
                touch = Touch(
                    object=row["object"],
                    bytes_read=row["bytes_read"],
                    bytes_written=row["bytes_written"],
                    tier=row["tier"],
                )
                last = windows[-1]
                windows[-1] = Window(name=last.name, seconds=last.seconds, touches=(*last.touches, touch))
                sizes.setdefault(row["object"], row["bytes_read"] + row["bytes_written"])
        trace = Trace(program=meta.get("program", ""), sizes=sizes, windows=tuple(windows))
        trace.check()
        return trace

    def check(self) -> None:
        """Raises `BadTrace` for a trace from which nothing can be learnt."""
        if not self.windows:
            raise BadTrace("the trace is empty: no window was recorded; run the work inside `with store.window(...)`")
        if not any(window.touches for window in self.windows):
            raise BadTrace("no window of the trace touched an object; take objects from the store inside the window")

    def save(self, path: str | Path) -> None:
        """As an Arrow IPC file, compressed: about a byte a row and column."""
        target = Path(arguments.path("path", path))
        with pa.OSFile(str(target), "wb") as file:
            table = self.to_arrow()
            options = pa.ipc.IpcWriteOptions(compression="zstd")
            with pa.ipc.new_file(file, table.schema, options=options) as writer:
                writer.write_table(table)

    @staticmethod
    def load(path: str | Path) -> Trace:
        source = Path(arguments.path("path", path))
        try:
            with pa.OSFile(str(source), "rb") as file:
                table = pa.ipc.open_file(file).read_all()
        except OSError as error:
            why = "there is no trace" if isinstance(error, FileNotFoundError) else "this cannot be read as a trace:"
            raise BadTrace(f"{why} {arguments.show(str(source), 300)}") from None
        except pa.ArrowInvalid as error:
            raise BadTrace(f"{source} is not a trace: {error}") from None
        return Trace.from_arrow(table)


def touched(windows: Iterable[Window], kinds: Sequence[str], objects: Sequence[str]) -> NDArray[np.float64]:
    """Bytes that all occurrences of each kind of window moved of each object: [kinds, objects]."""
    row = {name: i for i, name in enumerate(kinds)}
    column = {name: i for i, name in enumerate(objects)}
    moved = np.zeros((len(kinds), len(objects)))
    for window in windows:
        for touch in window.touches:
            moved[row[window.name], column[touch.object]] += touch.bytes_read + touch.bytes_written
    return moved


def check_same_program(trace: Trace, other: Trace) -> None:
    """Raises `BadTrace` unless both ran the same program over the same objects."""
    if trace.program != other.program:
        raise BadTrace(
            f"a trace of {other.program!r} does not go with one of {trace.program!r}; trace the same program"
        )
    if dict(trace.sizes) != dict(other.sizes):
        names = sorted({name for name, _ in set(trace.sizes.items()) ^ set(other.sizes.items())})
        raise BadTrace(f"two traces of {trace.program!r} differ in their objects: {', '.join(names)}")
