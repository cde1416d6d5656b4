"""Tables into one open file: Parquet in row groups of a sensible size, CSV as it comes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from argosy.errors import DiskFull, SchemaMismatch, TypeMismatch, disk_is_full

ROW_GROUP_NBYTES = 64 << 20
ROW_GROUP_ROWS = 4 << 20


@contextmanager
def writing(path: str) -> Iterator[None]:
    """A disk that has no room for this path is a DiskFull."""
    try:
        yield
    except OSError as error:
        if disk_is_full(error):
            raise DiskFull(path, "writing") from error
        raise


class Writer(ABC):
    """Takes tables of one schema; a context that ends the file, or drops it when it is left by an error."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema

    def add(self, table: pa.Table) -> None:
        if table.schema.names != self.schema.names:
            raise SchemaMismatch(
                f"a table with the columns {', '.join(table.schema.names)} cannot be written into a file with "
                f"{', '.join(self.schema.names)}"
            )
        if table.num_rows:
            self.write(table if table.schema.equals(self.schema) else table.cast(self.schema))

    @abstractmethod
    def write(self, table: pa.Table) -> None: ...

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def drop(self) -> None: ...

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.drop()


class ParquetWriter(Writer):
    """Holds tables back until they make up a row group."""

    def __init__(
        self, sink: pa.NativeFile, schema: pa.Schema, *, compression: str = "zstd", row_group_nbytes: int | None = None
    ) -> None:
        super().__init__(schema)
        self._limit = row_group_nbytes or ROW_GROUP_NBYTES
        self._held: list[pa.Table] = []
        try:
            self._file = pq.ParquetWriter(sink, schema, compression=compression)
        except pa.ArrowNotImplementedError as error:
            raise TypeMismatch(f"a column has a type that Parquet cannot hold: {error}; cast it") from error

    def write(self, table: pa.Table) -> None:
        row_nbytes = max(1, table.nbytes // table.num_rows)
        length = max(1, min(self._limit // row_nbytes, ROW_GROUP_ROWS))
        for start in range(0, table.num_rows, length):
            self._held.append(table.slice(start, length))
            held_rows = sum(one.num_rows for one in self._held)
            if sum(one.nbytes for one in self._held) >= self._limit or held_rows >= ROW_GROUP_ROWS:
                self._flush()

    def _flush(self) -> None:
        if self._held:
            together = pa.concat_tables(self._held)
            self._held.clear()
            self._file.write_table(together, row_group_size=together.num_rows)

    def close(self) -> None:
        try:
            self._flush()
            self._file.close()
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        self._held.clear()
        self._file.is_open = False  # else it tries to write its footer when it is collected


class CsvWriter(Writer):
    """Null is an empty field, an empty text is `""`."""

    def __init__(self, sink: pa.NativeFile, schema: pa.Schema, *, delimiter: str = ",", header: bool = True) -> None:
        super().__init__(schema)
        for field in schema:
            if pa.types.is_nested(field.type):
                raise TypeMismatch(
                    f"column {field.name!r} is {field.type}, which CSV cannot hold; write Parquet, or drop the column"
                )
        options = csv.WriteOptions(include_header=header, delimiter=delimiter)
        self._file = csv.CSVWriter(sink, schema, write_options=options)

    def write(self, table: pa.Table) -> None:
        try:
            self._file.write_table(table)
        except (pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
            raise TypeMismatch(f"a column has a type that CSV cannot hold: {error}; cast it") from error

    def close(self) -> None:
        self._file.close()

    def drop(self) -> None:
        del self._file


_WRITERS: dict[str, type[ParquetWriter] | type[CsvWriter]] = {"parquet": ParquetWriter, "csv": CsvWriter}


def open_writer(kind: str, sink: pa.NativeFile, schema: pa.Schema, **options: Any) -> Writer:
    if kind not in _WRITERS:
        raise ValueError(f"there is no format {kind!r} to write; there are: {', '.join(_WRITERS)}")
    return _WRITERS[kind](sink, schema, **options)
