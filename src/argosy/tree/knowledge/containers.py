"""What is known of the methods of lists, dicts, sets and tuples."""

from __future__ import annotations

from typing import Literal

from argosy.tree.knowledge.behaviour import ALIAS, ATOM, LIST, Behaviour

CHANGED = Behaviour(result="atom", writes=("self",))
CHANGED_FROM_ANY = Behaviour(result="atom", writes=("self",), iterates=True)
TAKEN_OUT = Behaviour(result="alias", writes=("self",))
WINDOW = Behaviour(result="list", lazy=True)
MADE_FROM_ANY = Behaviour(result="list", iterates=True)
ASKED_OF_ANY = Behaviour(result="atom", iterates=True)

_METHODS: dict[str, dict[str, Behaviour]] = {
    "list": {
        **dict.fromkeys(("append", "clear", "insert", "remove", "reverse"), CHANGED),
        **dict.fromkeys(("count", "index"), ATOM),
        "copy": LIST,
        "extend": CHANGED_FROM_ANY,
        "pop": TAKEN_OUT,
        "sort": Behaviour(result="atom", writes=("self",), calls=("key",)),
    },
    "dict": {
        "clear": CHANGED,
        "copy": LIST,
        "get": ALIAS,
        **dict.fromkeys(("items", "keys", "values"), WINDOW),
        **dict.fromkeys(("pop", "setdefault"), TAKEN_OUT),
        "update": CHANGED_FROM_ANY,
    },
    "set": {
        **dict.fromkeys(("add", "clear", "discard", "remove"), CHANGED),
        "copy": LIST,
        "pop": TAKEN_OUT,
        **dict.fromkeys(("difference", "intersection", "symmetric_difference", "union"), MADE_FROM_ANY),
        **dict.fromkeys(("difference_update", "intersection_update"), CHANGED_FROM_ANY),
        **dict.fromkeys(("symmetric_difference_update", "update"), CHANGED_FROM_ANY),
        **dict.fromkeys(("isdisjoint", "issubset", "issuperset"), ASKED_OF_ANY),
    },
    "tuple": {"count": ATOM, "index": ATOM},
}


def of_container_method(container: Literal["list", "dict", "set", "tuple"], name: str) -> Behaviour | None:
    """The method of this name of this exact type; None when it is not known."""
    return _METHODS[container].get(name)
