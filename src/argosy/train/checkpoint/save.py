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
from argosy.train.checkpoint.fingerprint import Description, describe, difference
from argosy.train.checkpoint.folder import begin, finish, prune, remove
from argosy.train.checkpoint.layout import share, total
from argosy.train.checkpoint.manifest import Manifest, write_manifest
from argosy.train.checkpoint.part import Part, write_part
from argosy.train.checkpoint.rows import Divided, Place, Rows, RowsPart, taken_out, whole_form, write_rows

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

    shared, found = taken_out(shared)

    def complete() -> None:
        model = shared.get("model")
        divided = None
        if found:
            forms = tuple(whole_form(rows, _name(place)) for place, rows in found.items())
            divided = Divided(places=tuple(found), forms=forms, parts=tuple(rows for _, rows in written.values))
        manifest = Manifest(
            step=step,
            facts=facts,
            shared=packed.contents,
            parts=tuple(part for part, _ in written.values),
            model=_described(model, divided) if isinstance(model, Mapping) else None,
            divided=divided,
        )
        write_manifest(hidden, manifest)
        finish(hidden, step)
        prune(folder, step, keep)

    packed, packed_own = _packed(ranks, step, shared, own, facts, found)
    hidden: Path = attempt(ranks, on_rank_0(lambda: begin(folder, step))).settled()[0]
    stretch = share(total(packed.contents.sizes), ranks.rank, ranks.size)
    path = hidden / f"rank-{ranks.rank:05d}.bin"
    rows_path = hidden / f"rows-{ranks.rank:05d}.bin"

    def write() -> tuple[Part, RowsPart | None]:
        return write_part(path, packed, stretch, packed_own), write_rows(rows_path, found) if found else None

    written = attempt(ranks, lambda: _told(folder, write))
    completed = written if written.failed else attempt(ranks, on_rank_0(complete))
    if completed.failed:
        attempt(ranks, on_rank_0(lambda: remove(hidden)))
    completed.settled()


def _packed(
    ranks: Ranks,
    step: int,
    shared: dict[str, Any],
    own: dict[str, Any],
    facts: dict[str, Any],
    found: Mapping[Place, Rows],
) -> tuple[Packed, Packed | None]:
    """Both states, ready to be written, if the ranks agree on what there is to write."""
    states: list[Packed] = []

    def ready() -> tuple[int, str, tuple[int, ...]]:
        if step < 0:
            raise ValueError(f"a step is counted from 0, not {step}")
        json.dumps(facts)
        states.extend((pack(shared), pack(own)))
        divided = [f"{_name(place)} {whole_form(rows, _name(place))}" for place, rows in found.items()]
        return step, _digest(states[0], divided), states[0].contents.same

    said = attempt(ranks, ready).settled()
    if any(other[:2] != said[0][:2] for other in said):
        raise _disagreement(ranks, step, states[0])
    # ranks may tie different tensors; then none are
    tied = all(same == said[0][2] for _step, _digest, same in said)
    return states[0] if tied else states[0].untied(), states[1] if own else None


def _name(place: Place) -> str:
    return ".".join(map(str, place))


def _described(model: Mapping[str, Any], divided: Divided | None) -> Description:
    described = describe(model)
    for place, form in zip(divided.places, divided.forms, strict=True) if divided else ():
        if place[0] == "model":
            described[_name(place[1:])] = f"{form.dtype} {list(form.shape)}"
    return described


def _digest(packed: Packed, divided: list[str]) -> str:
    """Of the leaves in their order, which says where their bytes lie."""
    lines = [f"{name} {form}" for name, form in zip(packed.names, packed.contents.forms, strict=True)] + divided
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
