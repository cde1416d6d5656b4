"""All ranks read one checkpoint: the newest that is whole."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from argosy.comm.attempt import attempt
from argosy.comm.ranks import Ranks
from argosy.errors import BadCheckpoint
from argosy.train.checkpoint.contents import WRONG
from argosy.train.checkpoint.fingerprint import Description, difference, digest
from argosy.train.checkpoint.folder import checkpoints_in
from argosy.train.checkpoint.manifest import Manifest, check_sizes, read_manifest
from argosy.train.checkpoint.part import Damaged, read_part
from argosy.train.checkpoint.rows import check_rows, put_back

T = TypeVar("T")


class CheckpointSkipped(UserWarning):
    """A checkpoint is not whole, and an earlier one was taken."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """A checkpoint that was read. Its tensors are on the host, and are the caller's to change."""

    step: int
    shared: dict[str, Any]
    """With `StoredRows` where it had `Rows`."""
    own: dict[str, Any] | None
    """None where this rank saved none, or where another number of ranks saved."""
    facts: dict[str, Any]
    path: Path
    skipped: tuple[str, ...]
    """Newer ones that are not whole, and why."""


def load(folder: Path, ranks: Ranks, *, fingerprint: str | None, description: Description | None) -> Loaded | None:
    """Three small allgathers for each checkpoint that is looked at. Warns when all collectives are over."""
    found: list[Path] = attempt(ranks, lambda: checkpoints_in(folder) if ranks.rank == 0 else []).settled()[0]
    skipped: list[str] = []
    for path in found:
        taken = _take(path, ranks, fingerprint, description)
        if isinstance(taken, Loaded):
            if ranks.rank == 0:
                for why in skipped:
                    warnings.warn(f"{why}; {path.name} is taken instead", CheckpointSkipped, stacklevel=3)
            return replace(taken, skipped=tuple(skipped))
        skipped.append(f"the checkpoint {path} is not whole: {taken}")
    if skipped:
        raise BadCheckpoint(
            f"there is no whole checkpoint in {folder}; " + "; ".join(skipped) + "; start anew in another folder"
        )
    return None


def _take(path: Path, ranks: Ranks, fingerprint: str | None, description: Description | None) -> Loaded | str:
    """This checkpoint, or why it is not whole: the same verdict on all ranks."""
    manifest, why = _verdict(ranks, lambda: _opened(path, ranks))
    if manifest is None:
        return why
    attempt(ranks, lambda: _check_model(path, manifest, fingerprint, description)).settled()
    loaded, why = _verdict(ranks, lambda: _read(path, manifest, ranks))
    return why if loaded is None else loaded


def _verdict(ranks: Ranks, action: Callable[[], T]) -> tuple[T | None, str]:
    """What `action` returned if no rank found damage, else what the first that did found."""
    kept: list[T] = []

    def damage() -> str:
        try:
            kept.append(action())
        except (Damaged, OSError) as error:
            return str(error) or type(error).__name__
        return ""

    why: str = next(filter(None, attempt(ranks, damage).settled()), "")
    return (None, why) if why else (kept[0], "")


def _opened(path: Path, ranks: Ranks) -> Manifest:
    manifest = read_manifest(path)
    if ranks.rank == 0:
        check_sizes(path, manifest)
    return manifest


def _read(path: Path, manifest: Manifest, ranks: Ranks) -> Loaded:
    """The shared state from the files of all ranks; this rank's own from its file, if the ranks are as many as then."""
    mine = ranks.rank if len(manifest.parts) == ranks.size else None
    rooms, own, low = manifest.shared.rooms(), None, 0
    for rank, part in enumerate(manifest.parts):
        if part.shared.nbytes or rank == mine:
            theirs = read_part(path / part.file, part, manifest.shared, rooms, low, with_own=rank == mine)
            own = theirs if rank == mine else own
        low += part.shared.nbytes
    if manifest.divided is not None:
        check_rows(path, manifest.divided, ranks.rank, ranks.size)
    try:
        shared = manifest.shared.rebuilt(rooms)
        if manifest.divided is not None:
            put_back(shared, path, manifest.divided)
    except WRONG as error:
        raise Damaged(f"the tree says what no checkpoint says: {type(error).__name__}: {error}") from error
    return Loaded(
        step=manifest.step,
        shared=shared,
        own=own,
        facts=manifest.facts,
        path=path,
        skipped=(),
    )


def _check_model(path: Path, manifest: Manifest, fingerprint: str | None, description: Description | None) -> None:
    """Raises BadCheckpoint if it is of another model than the one that is asked for."""
    there = manifest.model or {}
    saved = manifest.facts.get("fingerprint", digest(there))
    asked = fingerprint if fingerprint is not None or description is None else digest(description)
    if asked is None or asked == saved:
        return
    how = difference(there, description) if description is not None else ""
    if not how:
        how = f"its fingerprint is {saved} ({len(there)} tensors), but {asked} is asked for"
    raise BadCheckpoint(
        f"{path} is a checkpoint of another model: {how}; build the model that was saved, or name another folder"
    )
