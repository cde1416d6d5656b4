"""Frames of files. Schemas and sizes are read at once, rows only when the frame runs."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import pyarrow.fs

from argosy.frame.dataframe import DataFrame
from argosy.frame.io.csv import csv_source
from argosy.frame.io.ipc import ipc_source
from argosy.frame.io.json import json_source
from argosy.frame.io.parquet import parquet_source
from argosy.frame.plan import Scan

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]
"""A file, a folder, a glob, a URI such as `s3://bucket/folder`, or several of them."""


def read_parquet(
    paths: Paths, columns: Sequence[str] | None = None, filesystem: pyarrow.fs.FileSystem | None = None
) -> DataFrame:
    """The rows of Parquet files. Folders named `key=value` add a column; only what the plan needs is ever read."""
    return DataFrame(Scan(source=parquet_source(paths, columns=columns, filesystem=filesystem)))


def read_csv(paths: Paths, **options: Any) -> DataFrame:
    """The rows of CSV files. Options: delimiter, header, column_types, null_values, filesystem."""
    return DataFrame(Scan(source=csv_source(paths, **options)))


def read_json(paths: Paths, **options: Any) -> DataFrame:
    """The rows of files with one JSON object a line."""
    return DataFrame(Scan(source=json_source(paths, **options)))


def read_ipc(paths: Paths, **options: Any) -> DataFrame:
    """The rows of Arrow IPC files and streams."""
    return DataFrame(Scan(source=ipc_source(paths, **options)))
