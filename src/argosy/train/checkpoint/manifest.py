"""What belongs to a checkpoint. Its first line holds the size and the checksum of the rest."""

from __future__ import annotations

import json
import os
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argosy.train.checkpoint.contents import WRONG, Contents, from_plain, to_plain
from argosy.train.checkpoint.fingerprint import Description
from argosy.train.checkpoint.layout import total
from argosy.train.checkpoint.part import Damaged, Part, Section
from argosy.train.checkpoint.rows import Divided, RowsPart
from argosy.train.checkpoint.rows import from_plain as rows_from_plain
from argosy.train.checkpoint.rows import to_plain as rows_to_plain

FILE = "manifest.json"
_VERSION = 1
_PART = re.compile(r"rank-\d{5,}\.bin")


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    step: int
    facts: dict[str, Any]
    shared: Contents
    parts: tuple[Part, ...]
    """One for each rank, in order."""
    model: Description | None
    """What the model's tensors were, where the shared state has a `model`."""
    divided: Divided | None = None
    """What is divided over ranks, where something is."""


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Writes it, and the folder's list of files, through to the disk."""
    body = json.dumps(_to_plain(manifest), separators=(",", ":")).encode()
    with (folder / FILE).open("xb") as file:
        file.write(_first_line(body) + body)
        file.flush()
        os.fsync(file.fileno())


def read_manifest(folder: Path) -> Manifest:
    """Raises Damaged where it is not, byte for byte, what was written."""
    path = folder / FILE
    if not path.is_file():
        raise Damaged(f"{FILE} is missing")
    line, end, body = path.read_bytes().partition(b"\n")
    if line + end != _first_line(body):
        raise Damaged(f"{FILE} is cut or changed, or of another version of the format than {_VERSION}")
    try:
        return _from_plain(json.loads(body))
    except WRONG as error:
        raise Damaged(f"{FILE} says what no checkpoint says: {type(error).__name__}: {error}") from error


def check_sizes(folder: Path, manifest: Manifest) -> None:
    """Raises Damaged if a rank's file is missing or has another size. Reads none of them."""
    parts: list[Part | RowsPart] = [*manifest.parts, *(manifest.divided.parts if manifest.divided else ())]
    for part in parts:
        path = folder / part.file
        if not path.is_file():
            raise Damaged(f"{part.file} is missing")
        if (nbytes := path.stat().st_size) != part.nbytes:
            raise Damaged(f"{part.file} has {nbytes} bytes where {part.nbytes} were written")


def _first_line(body: bytes) -> bytes:
    return b"argosy checkpoint %d %d %08x\n" % (_VERSION, len(body), zlib.crc32(body))


def _to_plain(manifest: Manifest) -> dict[str, Any]:
    return {
        "step": manifest.step,
        "facts": manifest.facts,
        "parts": [
            [part.file, *([section.nbytes, section.crc] for section in (part.shared, part.described, part.own))]
            for part in manifest.parts
        ],
        "model": manifest.model,
        "shared": to_plain(manifest.shared),
        **({} if manifest.divided is None else {"divided": rows_to_plain(manifest.divided)}),
    }


def _from_plain(plain: dict[str, Any]) -> Manifest:
    parts = []
    for file, *sections in plain["parts"]:
        shared, described, own = (Section(nbytes=nbytes, crc=crc) for nbytes, crc in sections)
        if any(type(one.nbytes) is not int or one.nbytes < 0 for one in (shared, described, own)):
            raise ValueError(f"{file} with sections of {sections}")
        if not _PART.fullmatch(file):
            raise ValueError(f"a part named {file!r}")
        parts.append(Part(file=file, shared=shared, described=described, own=own))
    model = plain["model"]
    named = model is None or (isinstance(model, dict) and all(isinstance(form, str) for form in model.values()))
    if type(plain["step"]) is not int or not isinstance(plain["facts"], dict) or not named:
        raise ValueError("a step, facts or a model that are none")
    contents = from_plain(plain["shared"])
    if sum(part.shared.nbytes for part in parts) != total(contents.sizes):
        raise ValueError(f"{total(contents.sizes)} bytes in parts that have another number of them")
    return Manifest(
        step=plain["step"],
        facts=plain["facts"],
        shared=contents,
        parts=tuple(parts),
        model=model,
        divided=rows_from_plain(plain["divided"]) if "divided" in plain else None,
    )
