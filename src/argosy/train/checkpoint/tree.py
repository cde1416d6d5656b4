"""Nested values as JSON. Tensors, arrays and bytes are leaves: they stand in the tree as a number.

What JSON has comes as itself; everything else is an object with one key, which says what it is. Nothing that is read
can run code. What is not known is refused by its name, so a tuple never comes back as a list, nor an int key as text.
"""

from __future__ import annotations

import math
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from argosy.errors import BadCheckpoint
from argosy.train.checkpoint.leaves import is_leaf, plain_dtype

_SAFE_INT = 1 << 63
_SCALAR_KINDS = "biufcmM"


class Encoder:
    """`encode` gives the tree, and collects `names` and `leaves` on its way."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.leaves: list[Any] = []

    def encode(self, value: Any, name: str) -> Any:
        if is_leaf(value):
            self.names.append(name)
            self.leaves.append(value)
            return {"leaf": len(self.leaves) - 1}
        if value is None or type(value) is bool:
            return value
        if isinstance(value, np.generic) and value.dtype.kind in _SCALAR_KINDS:
            return {"scalar": [value.dtype.str, value.tobytes().hex()]}
        if (known := _ENCODERS.get(type(value))) is not None:
            return known(self, value, name)
        raise BadCheckpoint(
            f"{name or 'the state'} cannot be saved: it is a {type(value).__module__}.{type(value).__qualname__}; "
            "a checkpoint holds tensors, arrays, numbers, text, and plain lists, tuples, sets and dicts of them"
        )

    def each(self, values: Any, name: str) -> list[Any]:
        return [self.encode(value, f"{name}[{at}]") for at, value in enumerate(values)]

    def keys(self, values: Any, name: str) -> list[Any]:
        before = len(self.leaves)
        encoded = [self.encode(value, name) for value in values]
        if len(self.leaves) != before:
            raise BadCheckpoint(f"{name or 'the state'} cannot be saved: tensors and bytes cannot be keys in it")
        return encoded

    def pairs(self, values: Mapping[Any, Any], name: str) -> list[Any]:
        encoded = [self.encode(value, f"{name}.{key}" if name else str(key)) for key, value in values.items()]
        return [list(pair) for pair in zip(self.keys(values, name), encoded, strict=True)]

    def text(self, value: str, _name: str) -> Any:
        # two surrogates in a row would come back as one character
        return (
            value if value.isascii() or _is_unicode(value) else {"text": value.encode("utf-8", "surrogatepass").hex()}
        )

    def integer(self, value: int, _name: str) -> Any:
        return value if -_SAFE_INT <= value < _SAFE_INT else {"int": hex(value)}

    def number(self, value: float, _name: str) -> Any:
        return value if math.isfinite(value) else {"float": struct.pack("<d", value).hex()}

    def mapping(self, value: dict[Any, Any], name: str) -> Any:
        if all(type(key) is str and _is_unicode(key) for key in value):
            return {"map": {key: self.encode(inner, f"{name}.{key}" if name else key) for key, inner in value.items()}}
        return {"dict": self.pairs(value, name)}

    def ordered(self, value: OrderedDict[Any, Any], name: str) -> Any:
        # a model's state carries the versions of its modules as an attribute
        return {
            "ordered": [self.pairs(value, name), self.encode(getattr(value, "_metadata", None), f"{name}._metadata")]
        }


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


_ENCODERS: dict[type, Callable[[Encoder, Any, str], Any]] = {
    str: Encoder.text,
    int: Encoder.integer,
    float: Encoder.number,
    complex: lambda _encoder, value, _name: {"complex": struct.pack("<dd", value.real, value.imag).hex()},
    list: Encoder.each,
    tuple: lambda encoder, value, name: {"tuple": encoder.each(value, name)},
    set: lambda encoder, value, name: {"set": encoder.keys(value, name)},
    frozenset: lambda encoder, value, name: {"frozenset": encoder.keys(value, name)},
    dict: Encoder.mapping,
    OrderedDict: Encoder.ordered,
    Counter: lambda encoder, value, name: {"counter": encoder.pairs(value, name)},
    torch.Size: lambda _encoder, value, _name: {"size": list(value)},
    torch.dtype: lambda _encoder, value, _name: {"dtype": str(value).removeprefix("torch.")},
    torch.device: lambda _encoder, value, _name: {"device": str(value)},
}


def decode(tree: Any, leaves: list[Any]) -> Any:
    """The value again; `leaves` as they were collected."""
    if isinstance(tree, list):
        return [decode(inner, leaves) for inner in tree]
    if not isinstance(tree, dict):
        return tree
    ((kind, inner),) = tree.items()
    return _PLAIN[kind](inner) if kind in _PLAIN else _NESTED[kind](inner, leaves)


def _pairs(inner: list[Any], leaves: list[Any]) -> list[tuple[Any, Any]]:
    return [(decode(key, leaves), decode(value, leaves)) for key, value in inner]


def _ordered(inner: list[Any], leaves: list[Any]) -> OrderedDict[Any, Any]:
    value = OrderedDict(_pairs(inner[0], leaves))
    if inner[1] is not None:
        value._metadata = decode(inner[1], leaves)  # type: ignore[attr-defined]
    return value


def _torch_dtypes() -> dict[str, torch.dtype]:
    """By name. Any other attribute of torch might be a function."""
    return {name: value for name, value in vars(torch).items() if isinstance(value, torch.dtype)}


_PLAIN: dict[str, Callable[[Any], Any]] = {
    "scalar": lambda inner: np.frombuffer(bytes.fromhex(inner[1]), plain_dtype(inner[0]))[0],
    "text": lambda inner: bytes.fromhex(inner).decode("utf-8", "surrogatepass"),
    "int": lambda inner: int(inner, 16),
    "float": lambda inner: struct.unpack("<d", bytes.fromhex(inner))[0],
    "complex": lambda inner: complex(*struct.unpack("<dd", bytes.fromhex(inner))),
    "size": torch.Size,
    "dtype": lambda inner: _torch_dtypes()[inner],
    "device": torch.device,
}
_NESTED: dict[str, Callable[[Any, list[Any]], Any]] = {
    "leaf": lambda inner, leaves: leaves[inner],
    "tuple": lambda inner, leaves: tuple(decode(inner, leaves)),
    "set": lambda inner, leaves: set(decode(inner, leaves)),
    "frozenset": lambda inner, leaves: frozenset(decode(inner, leaves)),
    "map": lambda inner, leaves: {key: decode(value, leaves) for key, value in inner.items()},
    "dict": lambda inner, leaves: dict(_pairs(inner, leaves)),
    "ordered": _ordered,
    "counter": lambda inner, leaves: Counter(dict(_pairs(inner, leaves))),
}
