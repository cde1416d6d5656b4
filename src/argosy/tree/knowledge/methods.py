"""What is known, by name alone, of what arrays, NumPy scalars, numbers, strings, ranges and slices have."""

from __future__ import annotations

from typing import Literal

from argosy.tree.knowledge.behaviour import ALIAS, ATOM, FRESH, Behaviour

SELF_WRITTEN = Behaviour(result="atom", writes=("self",))


def _with_out(position: int) -> Behaviour:
    return Behaviour(result="fresh", writes=(position, "out"))


_OF_ARRAYS: dict[str, Behaviour] = {
    **dict.fromkeys(
        ("argpartition", "argsort", "copy", "flatten", "nonzero", "repeat", "searchsorted", "tolist"), FRESH
    ),
    **dict.fromkeys(("conj", "conjugate", "diagonal", "getfield", "ravel", "reshape", "squeeze"), ALIAS),
    **dict.fromkeys(("swapaxes", "transpose", "view"), ALIAS),
    **dict.fromkeys(("item", "tobytes"), ATOM),
    **dict.fromkeys(("all", "any", "argmax", "argmin", "choose", "dot", "max", "min"), _with_out(1)),
    **dict.fromkeys(
        ("clip", "compress", "cumprod", "cumsum", "mean", "prod", "std", "sum", "take", "var"), _with_out(2)
    ),
    "trace": _with_out(4),
    "round": Behaviour(result="alias", writes=(1, "out")),
    **dict.fromkeys(("fill", "partition", "put", "setfield", "sort"), SELF_WRITTEN),
    "astype": Behaviour(result="alias", options=(4, "copy"), otherwise=FRESH),
    "byteswap": Behaviour(result="alias", writes=("self",), options=(0, "inplace"), otherwise=FRESH),
}

_OF_ATOMS: dict[str, Behaviour] = {
    **dict.fromkeys(("as_integer_ratio", "bit_count", "bit_length", "fromhex", "hex", "is_integer", "to_bytes"), ATOM),
    **dict.fromkeys(("count", "index", "indices"), ATOM),
    **dict.fromkeys(
        ("capitalize", "casefold", "center", "expandtabs", "ljust", "lower", "lstrip", "removeprefix"), ATOM
    ),
    **dict.fromkeys(("removesuffix", "replace", "rjust", "rstrip", "strip", "swapcase", "title", "translate"), ATOM),
    **dict.fromkeys(("decode", "encode", "upper", "zfill", "rpartition"), ATOM),
    **dict.fromkeys(("endswith", "find", "rfind", "rindex", "startswith"), ATOM),
    **dict.fromkeys(("isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier", "islower"), ATOM),
    **dict.fromkeys(("isnumeric", "isprintable", "isspace", "istitle", "isupper"), ATOM),
    **dict.fromkeys(("format", "format_map"), ATOM),
    **dict.fromkeys(("from_bytes", "join"), Behaviour(result="atom", iterates=True)),
    **dict.fromkeys(("rsplit", "split", "splitlines"), FRESH),
}

_METHODS = _OF_ATOMS | _OF_ARRAYS

_ATTRIBUTES: dict[str, Literal["atom", "alias"]] = {
    **dict.fromkeys(("device", "dtype", "itemsize", "nbytes", "ndim", "shape", "size", "strides"), "atom"),
    **dict.fromkeys(("denominator", "numerator"), "atom"),
    **dict.fromkeys(("T", "imag", "mT", "real"), "alias"),
    **dict.fromkeys(("start", "step", "stop"), "alias"),
}


def of_method(name: str) -> Behaviour | None:
    """The method of this name of any of these types; None when it is not known."""
    return _METHODS.get(name)


def of_attribute(name: str) -> Literal["atom", "alias"] | None:
    """What reading the attribute of this name of any of these types gives; None when it is not known."""
    return _ATTRIBUTES.get(name)
