"""The names on disk.

    step-00001234          a checkpoint
    .step-00001234.new     one that is being written
    .step-00001234.was     one that is being replaced; counts where there is no `step-00001234`
    .step-00001234.gone    one that is being removed

Each change that matters is one rename, so whoever is killed at any moment leaves a folder that can be read. One run
writes to a folder at a time, and of that run rank 0 alone calls what changes names.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from argosy.train.checkpoint.manifest import check_sizes, read_manifest
from argosy.train.checkpoint.part import Damaged

_WHOLE = re.compile(r"step-(\d{8,})")
_HIDDEN = re.compile(r"\.(step-(\d{8,}))\.(new|was|gone)")


def checkpoints_in(folder: Path) -> list[Path]:
    """The newest first. Whether they are whole has not been looked at."""
    return [path for _step, path in _with_steps(folder)]


def _with_steps(folder: Path) -> list[tuple[int, Path]]:
    if not folder.is_dir():
        return []
    found: dict[int, Path] = {}
    for path in folder.iterdir():
        if match := _WHOLE.fullmatch(path.name):
            found[int(match[1])] = path
        elif (match := _HIDDEN.fullmatch(path.name)) and match[3] == "was":
            found.setdefault(int(match[2]), path)
    return sorted(found.items(), reverse=True)


def begin(folder: Path, step: int) -> Path:
    """Removes what earlier attempts left, and makes the hidden folder that the ranks write into."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in list(folder.iterdir()):
        if match := _HIDDEN.fullmatch(path.name):
            whole = folder / match[1]
            if match[3] == "was" and not whole.exists():
                path.rename(whole)
            else:
                remove(path)
    hidden = folder / f".step-{step:08d}.new"
    hidden.mkdir()
    return hidden


def finish(hidden: Path, step: int) -> None:
    """Makes what was written the checkpoint of this step, in place of an earlier one of the same step."""
    folder = hidden.parent
    sync(hidden)
    target, was = folder / f"step-{step:08d}", folder / f".step-{step:08d}.was"
    if target.exists():
        target.rename(was)
    hidden.rename(target)
    sync(folder)
    remove(was)


def prune(folder: Path, step: int, keep: int) -> None:
    """Removes those before `step` that are beyond `keep` or that are seen not to be whole. Later ones are left alone:
    they are of a run that went further."""
    sound = 0
    for other, path in _with_steps(folder):
        if other > step:
            continue
        whole = _looks_whole(path)
        sound += whole
        if other < step and (sound > keep or not whole):
            remove(path.rename(folder / f".{path.name}.gone"))


def remove(hidden: Path) -> None:
    """What cannot be removed now is tried again with the next save."""
    shutil.rmtree(hidden, ignore_errors=True)


def _looks_whole(path: Path) -> bool:
    try:
        check_sizes(path, read_manifest(path))
    except (Damaged, OSError):
        return False
    return True


def sync(folder: Path) -> None:
    """The names in a folder, through to the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
