"""Which files a path means: a file, a folder, a glob, a URI, or a list of them."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from pyarrow import fs

from argosy import arguments
from argosy.errors import BadFile

PathLike = str | os.PathLike[str]
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""How hive writes a key that is null."""

_URI = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A format, and how the names of its files end."""

    name: str
    endings: tuple[str, ...]

    def matches(self, name: str) -> bool:
        return name.lower().endswith(self.endings)


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundFile:
    path: str
    """As its file system names it."""
    nbytes: int
    keys: tuple[tuple[str, str | None], ...]
    """`key=value` folders between what was asked for and the file; their values are not yet typed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    files: tuple[FoundFile, ...]
    filesystem: fs.FileSystem


def find(paths: PathLike | Sequence[PathLike], kind: Kind, filesystem: Any = None) -> Found:
    """The files that `paths` means, at least one of them.

    A list keeps its order; the files of a folder or a glob are sorted. A folder stands for all files below it whose
    names end as those of `kind` do; what is hidden (a name that starts with `.` or `_`) is left out there and under
    wildcards. `filesystem` is one of `pyarrow.fs` or of fsspec; without it a URI says which, else it is this machine's.
    """
    wanted = f"a path, a glob, a URI or a list of them, to name {kind.name} files"
    asked = [paths] if isinstance(paths, str | os.PathLike) else arguments.items("paths", paths, wanted)
    judge = arguments.path if filesystem is None else _below_root
    asked = [judge("paths" if len(asked) == 1 else f"paths[{at}]", one) for at, one in enumerate(asked)]
    if not asked:
        raise BadFile("[]", f"the list of {kind.name} files to read is empty; name a file, a folder or a glob")
    there: fs.FileSystem | None = None
    files: list[FoundFile] = []
    for one in asked:
        system, path = locate(one, filesystem)
        if there is not None and not there.equals(system):
            raise BadFile(os.fspath(one), "lies on another file system than the paths before it; read each on its own")
        there = system
        files += _expand(system, path, kind)
    return Found(files=tuple(files), filesystem=there)


def locate(path: PathLike, filesystem: Any = None) -> tuple[fs.FileSystem, str]:
    """The file system of a path, and the path as that names it; a path of this machine becomes absolute."""
    given = arguments.path("path", path) if filesystem is None else _below_root("path", path)
    text = arguments.text("path", given, "a path")  # Arrow has no way to write others down
    if filesystem is not None:
        if not isinstance(filesystem, fs.FileSystem):
            if not (hasattr(filesystem, "protocol") and callable(getattr(filesystem, "open", None))):
                said = arguments.show(filesystem)
                raise TypeError(f"filesystem must be one of pyarrow.fs or of fsspec, not {said}")
            filesystem = fs.PyFileSystem(fs.FSSpecHandler(filesystem))
        if isinstance(filesystem, fs.LocalFileSystem):
            return filesystem, _absolute(text)
        return filesystem, text.rstrip("/")
    if not _URI.match(text):
        return fs.LocalFileSystem(), _absolute(text)
    address, question, options = text.partition("?")
    fixed, wild = _split_wildcards(address)
    try:
        system, start = fs.FileSystem.from_uri(fixed + question + options)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadFile(text, f"this address cannot be used: {error}") from error
    return system, (f"{start.rstrip('/')}/{wild}" if wild else start).rstrip("/")


def _below_root(name: str, path: Any) -> str:
    """Of another file system, whose root has no name."""
    return "" if isinstance(path, str) and not path else arguments.path(name, path)


def _absolute(text: str) -> str:
    return Path(text).expanduser().absolute().as_posix()


def _split_wildcards(path: str) -> tuple[str, str]:
    """The folders before the first part with a wildcard, and the parts from there on."""
    parts = path.split("/")
    fixed = next((place for place, part in enumerate(parts) if _is_wild(part)), len(parts))
    return "/".join(parts[:fixed]), "/".join(parts[fixed:])


def _is_wild(part: str) -> bool:
    return any(sign in part for sign in "*?[")


def _expand(system: fs.FileSystem, path: str, kind: Kind) -> list[FoundFile]:
    info = _info(system, path)
    if info.type == fs.FileType.File:
        return [FoundFile(path=path, nbytes=info.size or 0, keys=())]
    if info.type == fs.FileType.Directory:
        return _in_folder(system, path, kind)
    base, wild = _split_wildcards(path)
    if not wild or _info(system, base).type == fs.FileType.NotFound:
        raise BadFile(path, f"there is no such file or folder{_near(system, base)}")
    parts = wild.split("/")
    if parts[-1] == "**":
        parts.pop()
    if not parts:
        return _in_folder(system, base, kind)
    files: dict[str, FoundFile] = {}
    for match in _matches(system, base, parts):
        below = _below(system, match.path, base, kind) if match.type == fs.FileType.Directory else [_found(match, base)]
        files.update((file.path, file) for file in below)
    if not files:
        raise BadFile(path, f"no file matches this pattern; {base} has {_names(system, base)}")
    return [files[name] for name in sorted(files)]


def _info(system: fs.FileSystem, path: str) -> fs.FileInfo:
    try:
        return system.get_file_info(path)
    except OSError as error:
        raise BadFile(arguments.show(path, 200), f"cannot be looked at: {str(error)[-500:]}") from error


def _in_folder(system: fs.FileSystem, folder: str, kind: Kind) -> list[FoundFile]:
    files = _below(system, folder, folder, kind)
    if not files:
        endings = ", ".join(kind.endings[:4])
        raise BadFile(folder, f"no {kind.name} files ({endings}) in this folder; it has {_names(system, folder)}")
    return files


def _below(system: fs.FileSystem, folder: str, base: str, kind: Kind) -> list[FoundFile]:
    """The files of this kind in a folder and below it, sorted; the keys are those of the folders below `base`."""
    infos = _list(system, folder, recursive=True)
    seen = [info for info in infos if info.type == fs.FileType.File and kind.matches(info.base_name)]
    shown = [info for info in seen if not any(_is_hidden(part) for part in _parts_below(info.path, folder))]
    return [_found(info, base) for info in sorted(shown, key=lambda info: str(info.path))]


def _list(system: fs.FileSystem, folder: str, recursive: bool = False) -> list[fs.FileInfo]:
    try:
        return list(system.get_file_info(fs.FileSelector(folder, recursive=recursive)))
    except OSError as error:
        raise BadFile(folder, f"this folder cannot be listed: {error}") from error


def _parts_below(path: str, base: str) -> list[str]:
    return path.removeprefix(base).strip("/").split("/")


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _found(info: fs.FileInfo, base: str) -> FoundFile:
    folders = _parts_below(info.path, base)[:-1]
    return FoundFile(path=info.path, nbytes=info.size or 0, keys=tuple(_keys(folders)))


def _keys(folders: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    for folder in folders:
        key, sign, value = folder.partition("=")
        if sign and key:
            yield unquote(key), None if value == NO_VALUE else unquote(value)


def _matches(system: fs.FileSystem, base: str, wild: list[str]) -> Iterator[fs.FileInfo]:
    """What lies at `base` followed by these parts of a pattern; `**` stands for any number of folders."""
    part, rest = wild[0], wild[1:]
    if part == "**":
        yield from _matches(system, base, rest)
        for info in _list(system, base, recursive=True):
            shown = not any(_is_hidden(name) for name in _parts_below(info.path, base))
            if shown and info.type == fs.FileType.Directory:
                yield from _matches(system, info.path, rest)
        return
    for info in _list(system, base):
        name = info.base_name
        if not fnmatch.fnmatchcase(name, part) or (_is_hidden(name) and part[0] not in "._"):
            continue
        if not rest:
            yield info
        elif info.type == fs.FileType.Directory:
            yield from _matches(system, info.path, rest)


def _near(system: fs.FileSystem, path: str) -> str:
    """The nearest name that there is in the deepest folder of `path` that exists, as a question."""
    parent, _, name = path.rpartition("/")
    while parent and _info(system, parent).type == fs.FileType.NotFound:
        parent, _, name = parent.rpartition("/")
    if not parent or _info(system, parent).type != fs.FileType.Directory:
        return ""
    there = [info.base_name for info in _list(system, parent)]
    near = get_close_matches(name, there, n=1, cutoff=0.6)
    return f"; did you mean {parent}/{near[0]}?" if near else f"; {parent} has {_names(system, parent)}"


def _names(system: fs.FileSystem, folder: str) -> str:
    names = sorted(info.base_name for info in _list(system, folder))
    if not names:
        return "nothing in it"
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
