"""Tensors that are divided over ranks: each writes the rows that it has, and reads those that it needs.

A file of its own for each rank has its rows of every such tensor, one after another. No rank ever has more than one
rank's rows of one tensor in memory beyond its own, however many ranks read what however many have written.
"""

from __future__ import annotations

import os
import re
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import torch

from argosy.train.checkpoint.leaves import Form, Room, checked, chunks, form_of
from argosy.train.checkpoint.part import Damaged

_FILE = re.compile(r"rows-\d{5,}\.bin")
Place = tuple[Any, ...]
"""The keys that lead to it."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What this rank has of a tensor of so many rows. Where one stands in a state, it is the rank's own to write."""

    local: torch.Tensor
    first: int
    num_rows: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Stretch:
    """Rows of one tensor in the file of one rank."""

    first: int
    count: int
    at: int
    crc: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RowsPart:
    """The file of one rank."""

    file: str
    nbytes: int
    stretches: tuple[Stretch, ...]
    """One for each tensor."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Divided:
    """All tensors of a checkpoint that were divided."""

    places: tuple[Place, ...]
    forms: tuple[Form, ...]
    """Of each as a whole."""
    parts: tuple[RowsPart, ...]


class StoredRows:
    """A tensor in a checkpoint, of which whoever needs some rows reads these."""

    def __init__(self, folder: Path, divided: Divided, number: int) -> None:
        self._folder = folder
        self._form = divided.forms[number]
        self._stretches = [(part.file, part.stretches[number]) for part in divided.parts]
        self.shape = torch.Size(self._form.shape)

    def read(self, first: int, stop: int) -> torch.Tensor:
        room = Room(_rows_of(self._form, stop - first))
        row_nbytes = _row_nbytes(self._form)
        for file, stretch in self._stretches:
            low, high = max(first, stretch.first), min(stop, stretch.first + stretch.count)
            if low < high:
                held = _stretch(self._folder / file, self._form, stretch)
                start = (low - stretch.first) * row_nbytes
                into = (low - first) * row_nbytes
                room.view[into : into + (high - low) * row_nbytes] = held[start : start + (high - low) * row_nbytes]
        value: torch.Tensor = room.value
        return value

    def whole(self) -> torch.Tensor:
        return self.read(0, self.shape[0])


def taken_out(state: Mapping[Any, Any], place: Place = ()) -> tuple[dict[Any, Any], dict[Place, Rows]]:
    """The state without its rows, and these by their places."""
    rest: dict[Any, Any] = OrderedDict() if isinstance(state, OrderedDict) else {}
    found: dict[Place, Rows] = {}
    for key, value in state.items():
        if isinstance(value, Rows):
            found[(*place, key)] = value
        elif type(value) in (dict, OrderedDict):
            rest[key], inside = taken_out(value, (*place, key))
            found |= inside
        else:
            rest[key] = value
    if hasattr(state, "_metadata"):
        rest._metadata = state._metadata  # type: ignore[attr-defined]
    return rest, found


def put_back(state: dict[Any, Any], folder: Path, divided: Divided) -> None:
    for number, place in enumerate(divided.places):
        inner = state
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = StoredRows(folder, divided, number)


def made_whole(state: Any) -> Any:
    """The same with whole tensors, for whoever has all of them."""
    if isinstance(state, StoredRows):
        return state.whole()
    if type(state) in (dict, OrderedDict):
        for key, value in state.items():
            state[key] = made_whole(value)
    return state


def whole_form(rows: Rows, name: str) -> Form:
    form = form_of(rows.local, name)
    shape = (rows.num_rows, *form.shape[1:])
    return Form(kind="tensor", dtype=form.dtype, shape=shape, nbytes=rows.local.element_size() * prod(shape))


def write_rows(path: Path, found: Mapping[Place, Rows]) -> RowsPart:
    """Through to the disk. Extra memory: one chunk."""
    stretches = []
    at = 0
    with path.open("xb") as file:
        for rows in found.values():
            crc, nbytes = 0, rows.local.numel() * rows.local.element_size()
            for data in chunks(rows.local, 0, nbytes):
                crc = zlib.crc32(data, crc)
                file.write(data)
            count = rows.local.shape[0]
            stretches.append(Stretch(first=rows.first, count=count, at=at, crc=crc))
            at += nbytes
        file.flush()
        os.fsync(file.fileno())
    return RowsPart(file=path.name, nbytes=at, stretches=tuple(stretches))


def check_rows(folder: Path, divided: Divided, rank: int, num_ranks: int) -> None:
    """Reads this rank's share of the files. Raises Damaged where one is not what was written."""
    for part in divided.parts[rank::num_ranks]:
        for form, stretch in zip(divided.forms, part.stretches, strict=True):
            _stretch(folder / part.file, form, stretch)


def _stretch(path: Path, form: Form, stretch: Stretch) -> memoryview:
    nbytes = stretch.count * _row_nbytes(form)
    data = bytearray(nbytes)
    try:
        with path.open("rb") as file:
            file.seek(stretch.at)
            count = file.readinto(data)
    except FileNotFoundError as error:
        raise Damaged(f"{path.name} is missing") from error
    if count != nbytes or zlib.crc32(data) != stretch.crc:
        raise Damaged(f"{path.name} is not what was written: {nbytes} bytes from {stretch.at} on")
    return memoryview(data)


def _row_nbytes(form: Form) -> int:
    return form.nbytes // form.shape[0] if form.shape[0] else 0


def _rows_of(form: Form, count: int) -> Form:
    return Form(kind="tensor", dtype=form.dtype, shape=(count, *form.shape[1:]), nbytes=count * _row_nbytes(form))


def to_plain(divided: Divided) -> dict[str, Any]:
    """For JSON."""
    return {
        "places": [list(place) for place in divided.places],
        "forms": [[form.dtype, list(form.shape), form.nbytes] for form in divided.forms],
        "parts": [
            [part.file, part.nbytes, [[one.first, one.count, one.at, one.crc] for one in part.stretches]]
            for part in divided.parts
        ],
    }


def from_plain(plain: Mapping[str, Any]) -> Divided:
    """Raises ValueError, or what comes of reading it, where all rows of each tensor are not there exactly once."""
    forms = tuple(
        checked(Form(kind="tensor", dtype=dtype, shape=tuple(shape), nbytes=nbytes))
        for dtype, shape, nbytes in plain["forms"]
    )
    parts = []
    for file, nbytes, stretches in plain["parts"]:
        if not _FILE.fullmatch(file):
            raise ValueError(f"rows in a file named {file!r}")
        ours = tuple(Stretch(first=first, count=count, at=at, crc=crc) for first, count, at, crc in stretches)
        parts.append(RowsPart(file=file, nbytes=nbytes, stretches=ours))
    for number, form in enumerate(forms):
        end = 0
        for part in parts:
            one = part.stretches[number]
            if one.count and (one.first != end or one.count < 0):
                raise ValueError(f"rows {one.first} and on where those from {end} on should be")
            end += one.count
        if end != form.shape[0]:
            raise ValueError(f"{end} rows of a tensor of {form.shape[0]}")
    places = tuple(tuple(place) for place in plain["places"])
    if len(places) != len(forms):
        raise ValueError(f"{len(places)} places for {len(forms)} tensors")
    return Divided(places=places, forms=forms, parts=tuple(parts))
