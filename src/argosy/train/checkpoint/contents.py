"""A state, apart from its bytes: its tree, and the form of each leaf."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

from argosy.train.checkpoint.leaves import Form, Room, checked, form_of, place_of
from argosy.train.checkpoint.tree import Encoder, decode


@dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    tree: Any
    forms: tuple[Form, ...]
    same: tuple[int, ...]
    """For each leaf the first one that is the same memory: tied parameters are written once, and come back tied."""

    @property
    def sizes(self) -> list[int]:
        """Bytes to write for each leaf."""
        return [form.nbytes if self.same[at] == at else 0 for at, form in enumerate(self.forms)]

    def rooms(self) -> list[Room]:
        """Memory for every leaf that was written."""
        made: list[Room] = []
        for at, form in enumerate(self.forms):
            made.append(Room(form) if self.same[at] == at else made[self.same[at]])
        return made

    def rebuilt(self, rooms: list[Room]) -> Any:
        """The state, once the rooms are filled."""
        values: list[Any] = []
        for at, room in enumerate(rooms):
            values.append(room.value if self.same[at] == at else values[self.same[at]])
        return decode(self.tree, values)


@dataclass(frozen=True, kw_only=True, slots=True)
class Packed:
    """Contents with the values of their leaves, ready to be written."""

    contents: Contents
    names: tuple[str, ...]
    leaves: tuple[Any, ...]

    def untied(self) -> Packed:
        """The same, but every leaf is written for itself."""
        return replace(self, contents=replace(self.contents, same=tuple(range(len(self.leaves)))))


def pack(state: dict[str, Any]) -> Packed:
    """Copies nothing. Raises BadCheckpoint for what a checkpoint cannot hold, by its name."""
    encoder = Encoder()
    tree = encoder.encode(state, "")
    forms = tuple(form_of(leaf, name) for leaf, name in zip(encoder.leaves, encoder.names, strict=True))
    first: dict[Hashable, int] = {}
    same = tuple(
        at if (place := place_of(leaf)) is None else first.setdefault(place, at)
        for at, leaf in enumerate(encoder.leaves)
    )
    return Packed(
        contents=Contents(tree=tree, forms=forms, same=same), names=tuple(encoder.names), leaves=tuple(encoder.leaves)
    )


def to_plain(contents: Contents) -> dict[str, Any]:
    """For JSON."""
    forms = [[form.kind, form.dtype, list(form.shape), form.nbytes] for form in contents.forms]
    return {"tree": contents.tree, "forms": forms, "same": list(contents.same)}


def from_plain(plain: dict[str, Any]) -> Contents:
    """Raises one of `WRONG` for what `to_plain` would never say."""
    forms = tuple(
        checked(Form(kind=kind, dtype=dtype, shape=tuple(shape), nbytes=nbytes))
        for kind, dtype, shape, nbytes in plain["forms"]
    )
    same = tuple(plain["same"])
    for at, (first, form) in enumerate(zip(same, forms, strict=True)):
        if type(first) is not int or not 0 <= first <= at or same[first] != first or forms[first] != form:
            raise ValueError(f"leaf {at} is said to be the same as leaf {first}")
    return Contents(tree=plain["tree"], forms=forms, same=same)


WRONG = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RuntimeError)
"""What comes of reading what no rank has written; also a nesting too deep, which is a RuntimeError."""
