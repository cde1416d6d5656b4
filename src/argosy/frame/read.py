"""Frames of files. Schemas and sizes are read at once, rows only when the frame runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike

import pyarrow as pa
import pyarrow.fs

from argosy.calls import PURE, declared
from argosy.frame.dataframe import DataFrame
from argosy.frame.io.csv import csv_source
from argosy.frame.io.ipc import ipc_source
from argosy.frame.io.json import json_source
from argosy.frame.io.parquet import parquet_source
from argosy.frame.plan import Scan

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]
"""A file, a folder, a glob, a URI such as `s3://bucket/folder`, or several of them."""


@declared(PURE)
def read_parquet(
    paths: Paths, columns: Sequence[str] | None = None, filesystem: pyarrow.fs.FileSystem | None = None
) -> DataFrame:
    """The rows of Parquet files. Folders named `key=value` add a column; only what the plan needs is ever read."""
    return DataFrame(Scan(source=parquet_source(paths, columns=columns, filesystem=filesystem)))


@declared(PURE)
def read_csv(
    paths: Paths,
    *,
    delimiter: str = ",",
    header: bool = True,
    column_types: Mapping[str, pa.DataType | str] | None = None,
    null_values: Sequence[str] = ("",),
    newlines_in_values: bool = False,
    filesystem: pyarrow.fs.FileSystem | None = None,
) -> DataFrame:
    """The rows of CSV files. Types are inferred from the first MiB of every file; `column_types` overrides them.

    Without `header` the columns are f0, f1, and so on. Where quoted values span lines say `newlines_in_values`: such
    files are read in one piece.
    """
    source = csv_source(
        paths,
        delimiter=delimiter,
        header=header,
        column_types=column_types,
        null_values=null_values,
        newlines_in_values=newlines_in_values,
        filesystem=filesystem,
    )
    return DataFrame(Scan(source=source))


@declared(PURE)
def read_json(
    paths: Paths,
    *,
    column_types: Mapping[str, pa.DataType | str] | None = None,
    filesystem: pyarrow.fs.FileSystem | None = None,
) -> DataFrame:
    """The rows of files with one JSON object a line. A field that an object does not have is null."""
    return DataFrame(Scan(source=json_source(paths, column_types=column_types, filesystem=filesystem)))


@declared(PURE)
def read_ipc(paths: Paths, *, filesystem: pyarrow.fs.FileSystem | None = None) -> DataFrame:
    """The rows of Arrow IPC files and streams."""
    return DataFrame(Scan(source=ipc_source(paths, filesystem=filesystem)))
