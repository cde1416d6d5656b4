"""Arrow IPC: files in pieces of one record batch, streams in one piece. Local files are mapped, not read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import fs

from argosy.errors import BadFile
from argosy.frame.io.faults import reading
from argosy.frame.io.files import FileSource
from argosy.frame.io.find import FoundFile, Kind, PathLike, find
from argosy.frame.io.schemas import check_same, plain, typed_keys, with_keys
from argosy.frame.io.source import KeyValue, Piece, Source

IPC = Kind(name="Arrow IPC", endings=(".arrow", ".arrows", ".ipc", ".feather"))
NUM_THREADS = 16
_WHAT = "an Arrow IPC file or stream"
_MAGIC = b"ARROW1"
_STREAM = -1
"""The `stop` of a piece that is a whole stream: how many batches it has shows at its end."""


def ipc_source(paths: PathLike | Sequence[PathLike], *, filesystem: Any = None) -> Source:
    """All record batches of these files and streams, as one table.

    Without compression and without a filter the tables of a local file lie in the mapped file: nothing is copied.
    """
    found = find(paths, IPC, filesystem)
    with ThreadPoolExecutor(NUM_THREADS) as pool:
        looks = list(pool.map(lambda file: _look(file, found.filesystem), found.files))
    first = looks[0].schema
    for file, look in zip(found.files, looks, strict=True):
        check_same((found.files[0].path, first), (file.path, look.schema))
    keys, values = typed_keys(found.files)
    looked = zip(found.files, looks, values, strict=True)
    pieces = tuple(piece for file, look, own_keys in looked for piece in _pieces(file, look, own_keys))
    rows = [piece.num_rows for piece in pieces]
    return IpcSource(
        schema=with_keys(first, keys),
        pieces=pieces,
        filesystem=found.filesystem,
        key_names=tuple(field.name for field in keys),
        first_path=found.files[0].path,
        num_files=len(found.files),
        num_rows=None if None in rows else sum(num_rows or 0 for num_rows in rows),
        mapped_paths=frozenset(file.path for file, look in zip(found.files, looks, strict=True) if look.mapped),
    )


@dataclass(frozen=True, kw_only=True)
class IpcSource(FileSource):
    kind = IPC
    mapped_paths: frozenset[str]
    """Files whose batches lie in the mapped file as they are. Of others only the asked columns are decoded."""

    def scan(self, piece: Piece, columns: list[str], batch_nbytes: int) -> Iterator[pa.Table]:
        del batch_nbytes  # a batch is decoded as a whole; the caller slices it
        with reading(piece.path, _WHAT):
            stream = _open(self.filesystem, piece.path)
            if piece.stop == _STREAM:
                for batch in pa.ipc.open_stream(stream):
                    yield _table(batch, columns)
                return
            reader = pa.ipc.open_file(stream)
            if piece.path not in self.mapped_paths:
                reader = _narrow(stream, [reader.schema.names.index(name) for name in columns] or [0])
            if piece.stop > reader.num_record_batches:
                raise BadFile(piece.path, "the file has changed since the frame was made; make the frame again")
            for place in range(piece.start, piece.stop):
                yield _table(reader.get_batch(place), columns)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Look:
    schema: pa.Schema
    batch_rows: tuple[int | None, ...] | None
    """None for a stream."""
    mapped: bool = False


def _look(file: FoundFile, filesystem: fs.FileSystem) -> _Look:
    if file.nbytes == 0:
        raise BadFile(file.path, "the file is empty: 0 bytes, not even an Arrow schema")
    with reading(file.path, _WHAT):
        stream = _open(filesystem, file.path)
        is_file = stream.read(len(_MAGIC)) == _MAGIC
        stream.seek(0)
        if not is_file:
            return _Look(schema=plain(pa.ipc.open_stream(stream).schema, file.path), batch_rows=None)
        reader = pa.ipc.open_file(stream)
        schema = plain(reader.schema, file.path)
        places = range(reader.num_record_batches)
        if not isinstance(stream, pa.MemoryMappedFile):
            return _Look(schema=schema, batch_rows=(None,) * len(places), mapped=not schema.names)
        mapped = len(places) > 0 and _is_within(stream, reader.get_batch(0))
        counted = reader if mapped else _narrow(stream, [0])
        batch_rows = tuple(counted.get_batch(place).num_rows for place in places)
        return _Look(schema=schema, batch_rows=batch_rows, mapped=mapped)


def _is_within(stream: pa.MemoryMappedFile, batch: pa.RecordBatch) -> bool:
    """Whether a batch lies in the mapped file, so that taking it costs nothing."""
    stream.seek(0)
    whole = stream.read_buffer()
    buffers = [buffer for column in batch.columns for buffer in column.buffers() if buffer is not None and buffer.size]
    return all(whole.address <= buffer.address < whole.address + whole.size for buffer in buffers)


def _narrow(stream: pa.NativeFile, columns: list[int]) -> pa.RecordBatchFileReader:
    return pa.ipc.open_file(stream, options=pa.ipc.IpcReadOptions(included_fields=columns))


def _pieces(file: FoundFile, look: _Look, keys: tuple[tuple[str, KeyValue], ...]) -> Iterator[Piece]:
    if look.batch_rows is None:
        yield Piece(path=file.path, start=0, stop=_STREAM, num_rows=None, nbytes=file.nbytes, keys=keys)
        return
    known = [num_rows or 0 for num_rows in look.batch_rows]
    fixed_nbytes = sum(_width_nbytes(field.type) for field in look.schema)
    for place, num_rows in enumerate(look.batch_rows):
        share = known[place] / sum(known) if any(known) else 1 / len(known)
        nbytes = max(int(file.nbytes * share), int(known[place] * fixed_nbytes))
        yield Piece(path=file.path, start=place, stop=place + 1, num_rows=num_rows, nbytes=nbytes, keys=keys)


def _width_nbytes(kind: pa.DataType) -> float:
    """Bytes a row of a fixed width takes, also when they are compressed in the file; 0 for any other."""
    try:
        return float(kind.bit_width / 8)
    except ValueError:
        return 0.0


def _open(filesystem: fs.FileSystem, path: str) -> pa.NativeFile:
    if isinstance(filesystem, fs.LocalFileSystem):
        return pa.memory_map(path)
    return filesystem.open_input_file(path)


def _table(batch: pa.RecordBatch, columns: list[str]) -> pa.Table:
    batch.validate()
    return pa.Table.from_batches([batch.select(columns)])
