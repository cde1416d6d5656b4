"""Folders of files, written all or nothing.

    stage = open_stage("out")                        one process
    write_part(stage, "parquet", rank, tables, ...)  every rank; again after a lost rank, it replaces what was there
    commit(stage)                                    one process, when all parts are there; or abort(stage)

Until `commit` everything lies in a hidden folder beside the target, `.NAME.argosy-XXXXXX`, which no reader of a folder
looks into. A run that dies leaves that one behind and no target. On this machine's file systems `commit` is a rename;
to overwrite takes two, and a crash just between them leaves the old folder beside the target, with `-old` at the end of
the hidden name. Object stores cannot rename a folder: there `commit` moves file by file.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from pyarrow import fs

from argosy import arguments
from argosy.errors import BadFile
from argosy.frame.io.find import PathLike, locate
from argosy.frame.io.writers import open_writer, writing

Format = Literal["parquet", "csv"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """A folder in the making. It travels to the ranks by pickle."""

    target: str
    folder: str
    """Where the parts lie until `commit`."""
    overwrite: bool
    filesystem: fs.FileSystem = field(hash=False)

    @property
    def is_local(self) -> bool:
        return isinstance(self.filesystem, fs.LocalFileSystem)


def open_stage(path: PathLike, overwrite: bool = False, filesystem: Any = None) -> Stage:
    """Makes the hidden folder. Refuses a target that is a file or has anything in it, unless `overwrite`."""
    arguments.flag("overwrite", overwrite)
    system, target = locate(path, filesystem)
    if isinstance(system, fs.LocalFileSystem):
        target = Path(target).resolve().as_posix()
        if Path.cwd().is_relative_to(target):
            raise FileExistsError(f"{target} is the folder we are in or one above it; write into a folder of its own")
    _check_free(system, target, overwrite)
    parent, _, name = target.rpartition("/")
    folder = f"{parent}/.{name}.argosy-{secrets.token_hex(3)}" if parent else f".{name}.argosy-{secrets.token_hex(3)}"
    with writing(target):
        system.create_dir(folder, recursive=True)
    return Stage(target=target, folder=folder, overwrite=overwrite, filesystem=system)


def write_part(
    stage: Stage, kind: Format, index: int, tables: Iterator[pa.Table], schema: pa.Schema, **options: Any
) -> int:
    """Writes one part, all rows of `tables`, and returns how many that were. A part without rows still has the schema.

    Options for Parquet: `compression` ("zstd"), `row_group_nbytes` (64 MiB in memory). For CSV: `delimiter`, `header`.
    The part appears under its name when it is complete, and on the disk; if this fails nothing of it is left.
    """
    name = f"part-{index:05d}.{kind}"
    final = f"{stage.folder}/{name}"
    half = f"{stage.folder}/.{name}-{secrets.token_hex(3)}"
    if stage.filesystem.get_file_info(stage.folder).type == fs.FileType.NotFound and stage.is_local:
        raise BadFile(stage.folder, "the folder that the parts are written to is gone; was the write given up?")
    try:
        with writing(stage.target):
            num_rows = 0
            with (
                stage.filesystem.open_output_stream(half, compression=None) as sink,
                open_writer(kind, sink, schema, **options) as writer,
            ):
                for table in tables:
                    writer.add(table)
                    num_rows += table.num_rows
                    del table  # before the next one is made
            if stage.is_local:
                _sync(Path(half))
            stage.filesystem.move(half, final)
    except BaseException:
        with suppress(FileNotFoundError):
            stage.filesystem.delete_file(half)
        raise
    return num_rows


def commit(stage: Stage) -> None:
    """Puts the folder in its place. Only what `write_part` completed is in it."""
    for info in _content(stage.filesystem, stage.folder):
        if info.base_name.startswith("."):
            stage.filesystem.delete_file(info.path)
    _check_free(stage.filesystem, stage.target, stage.overwrite)
    with writing(stage.target):
        if stage.is_local:
            _rename(Path(stage.folder), Path(stage.target))
        else:
            _move_files(stage)


def abort(stage: Stage) -> None:
    """Removes the hidden folder; the target stays as it was. Without effect after `commit`, or a second time."""
    if stage.filesystem.get_file_info(stage.folder).type == fs.FileType.Directory:
        stage.filesystem.delete_dir(stage.folder)


def _check_free(system: fs.FileSystem, target: str, overwrite: bool) -> None:
    there = system.get_file_info(target).type
    if overwrite or there == fs.FileType.NotFound:
        return
    if there == fs.FileType.Directory and not _content(system, target):
        return
    what = "a folder with files in it" if there == fs.FileType.Directory else "a file"
    raise FileExistsError(f"{target} is {what}; name another folder, or say overwrite=True to replace it")


def _content(system: fs.FileSystem, folder: str) -> list[fs.FileInfo]:
    return list(system.get_file_info(fs.FileSelector(folder)))


def _rename(folder: Path, target: Path) -> None:
    """With its content on the disk first, so that a crash of the machine leaves the whole of it or none."""
    _sync(folder)
    old = folder.with_name(folder.name + "-old")
    if target.exists():
        target.rename(old)
    try:
        folder.rename(target)
    except BaseException:
        if old.exists():
            old.rename(target)
        raise
    _sync(target.parent)
    if old.is_dir():
        shutil.rmtree(old)
    else:
        old.unlink(missing_ok=True)


def _move_files(stage: Stage) -> None:
    system = stage.filesystem
    new = _content(system, stage.folder)
    there = system.get_file_info(stage.target)
    if there.type == fs.FileType.File:
        system.delete_file(stage.target)
    elif there.type == fs.FileType.Directory:
        system.delete_dir_contents(stage.target)
    system.create_dir(stage.target, recursive=True)
    for info in new:
        system.move(info.path, f"{stage.target}/{info.base_name}")
    system.delete_dir(stage.folder)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
