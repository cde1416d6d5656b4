"""All ranks write one checkpoint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from argosy.comm.attempt import attempt
from argosy.comm.ranks import Ranks
from argosy.errors import BadCheckpoint, DiskFull, RanksDisagree, disk_is_full
from argosy.train.checkpoint.contents import Packed, pack
from argosy.train.checkpoint.fingerprint import describe, difference
from argosy.train.checkpoint.folder import begin, finish, prune, remove
from argosy.train.checkpoint.layout import share, total
from argosy.train.checkpoint.manifest import Manifest, write_manifest
from argosy.train.checkpoint.part import write_part

T = TypeVar("T")


def save(
    folder: Path,
    ranks: Ranks,
    step: int,
    *,
    shared: dict[str, Any],
    own: dict[str, Any],
    facts: dict[str, Any],
    keep: int,
) -> None:
    """Every rank writes its file into a hidden folder; then rank 0 writes the manifest, and renames the folder."""

    def on_rank_0(action: Callable[[], T]) -> Callable[[], T | None]:
        return lambda: _told(folder, action) if ranks.rank == 0 else None

    def complete() -> None:
        model = shared.get("model")
        manifest = Manifest(
            step=step,
            facts=facts,
            shared=packed.contents,
            parts=tuple(written.values),
            model=describe(model) if isinstance(model, Mapping) else None,
        )
        write_manifest(hidden, manifest)
        finish(hidden, step)
        prune(folder, step, keep)

    packed, packed_own = _packed(ranks, step, shared, own, facts)
    hidden: Path = attempt(ranks, on_rank_0(lambda: begin(folder, step))).settled()[0]
    stretch = share(total(packed.contents.sizes), ranks.rank, ranks.size)
    path = hidden / f"rank-{ranks.rank:05d}.bin"
    written = attempt(ranks, lambda: _told(folder, lambda: write_part(path, packed, stretch, packed_own)))
    completed = written if written.failed else attempt(ranks, on_rank_0(complete))
    if completed.failed:
        attempt(ranks, on_rank_0(lambda: remove(hidden)))
    completed.settled()


def _packed(
    ranks: Ranks, step: int, shared: dict[str, Any], own: dict[str, Any], facts: dict[str, Any]
) -> tuple[Packed, Packed | None]:
    """Both states, ready to be written, if the ranks agree on what there is to write."""
    states: list[Packed] = []

    def ready() -> tuple[int, str, tuple[int, ...]]:
        if step < 0:
            raise ValueError(f"a step is counted from 0, not {step}")
        json.dumps(facts)
        states.extend((pack(shared), pack(own)))
        return step, _digest(states[0]), states[0].contents.same

    said = attempt(ranks, ready).settled()
    if any(other[:2] != said[0][:2] for other in said):
        raise _disagreement(ranks, step, states[0])
    # ranks may tie different tensors; then none are
    tied = all(same == said[0][2] for _step, _digest, same in said)
    return states[0] if tied else states[0].untied(), states[1] if own else None


def _digest(packed: Packed) -> str:
    """Of the leaves in their order, which says where their bytes lie."""
    lines = [f"{name} {form}" for name, form in zip(packed.names, packed.contents.forms, strict=True)]
    return hashlib.sha256(json.dumps(lines).encode()).hexdigest()


def _forms(packed: Packed) -> dict[str, str]:
    return {name: str(form) for name, form in zip(packed.names, packed.contents.forms, strict=True)}


def _disagreement(ranks: Ranks, step: int, packed: Packed) -> RanksDisagree:
    """What rank 0 and the first rank that differs have, apart: a collective."""
    steps_and_forms = ranks.allgather((step, _forms(packed)))
    first_step, first = steps_and_forms[0]
    for rank, (other_step, forms) in enumerate(steps_and_forms):
        if other_step != first_step:
            return RanksDisagree(f"rank 0 saves step {first_step}, but rank {rank} saves step {other_step}")
        if forms != first:
            how = difference(first, forms)
            return RanksDisagree(
                f"what is saved as shared must be the same on all ranks; what rank 0 has, seen from rank {rank}: "
                f"{how}; put what differs into `own`"
            )
    return RanksDisagree("what is saved as shared must be the same on all ranks, in the same order")


def _told(folder: Path, action: Callable[[], T]) -> T:
    """A disk that is full is told as that, and any other trouble with the folder by its name."""
    try:
        return action()
    except OSError as error:
        if disk_is_full(error):
            raise DiskFull(str(folder), "a checkpoint was being saved") from error
        raise BadCheckpoint(f"a checkpoint cannot be saved in {folder}: {error}; name another folder") from error
